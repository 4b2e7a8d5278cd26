"""Frames a second while a map of many points is dragged, by its real scripts: python -m bench.map_frames.

Headless Chromium draws without a GPU, so this is the least that a laptop reaches. Points are made up,
pictures are noise.
"""

import base64
import io
import json
import threading
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright

from bench.chromium import chromium

COMPONENTS = Path(__file__).resolve().parent.parent / "components"
POINTS = 100_000
_KINDS = 60  # dense places
_PAGE = """<style>{css} body {{margin: 0; --st-text-color: #eee; --st-background-color: #111;
--st-primary-color: #77f}}</style>
<div id=map><div class="memedex-atlas" style="height: 800px"></div></div><script type=module>
import show from "/map/js/main.js";
const colours = ["#56b4e9", "#e69f00", "#009e73", "#f0e442", "#cc79a7", "#d55e00", "#0072b2", "#a78bfa"];
show({{data: {{url: "/points", sprites: "/sprites", token: "", sheet: "s", version: 1, colouring: "c",
  chosen: "", title: "Map",
  legend: colours.map((colour) => ({{label: colour, colour}})), range: [], places: []}},
  parentElement: document.getElementById("map"), setStateValue() {{}}}});
</script>"""
_DRAG = """async () => {
  const canvas = document.querySelector("canvas"), root = document.querySelector(".memedex-atlas");
  const send = (kind, x) => canvas.dispatchEvent(
    new PointerEvent(kind, { pointerId: 1, clientX: x, clientY: 400, bubbles: true }));
  canvas.setPointerCapture = () => {};
  send("pointerdown", 700);
  const gaps = [];
  let last = performance.now();
  for (let frame = 0; frame < 180; frame += 1) {
    send("pointermove", 700 + 60 * Math.sin(frame / 10));
    await new Promise((drawn) => requestAnimationFrame(drawn));
    gaps.push(performance.now() - last);
    last = performance.now();
  }
  send("pointercancel", 700);
  gaps.sort((one, other) => one - other);
  return { frames: 180000 / gaps.reduce((sum, gap) => sum + gap), median: gaps[90], late: gaps[171],
    said: document.querySelector(".told").textContent, pictures: root.dataset.pictures };
}"""


class Answers(BaseHTTPRequestHandler):
    """The page, its scripts, and what they ask for."""

    def __init__(self, points: bytes, sprites: bytes, *args: Any) -> None:
        self.points, self.sprites = points, sprites
        super().__init__(*args)

    def log_message(self, *_: Any) -> None:
        """Nothing is logged."""

    def do_GET(self) -> None:
        if self.path == "/":
            css = (COMPONENTS / "map" / "canvas.css").read_text()
            return self.answer(_PAGE.format(css=css).encode(), "text/html")
        file = COMPONENTS / self.path[1:]
        return self.answer(file.read_bytes() if file.is_file() else b"", "text/javascript")

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        is_points = self.path == "/points"
        self.answer(
            self.points if is_points else self.sprites, "application/json" if is_points else "image/webp"
        )

    def answer(self, content: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def made_up() -> tuple[bytes, bytes]:
    """The points' answer and a sheet of pictures."""
    random = np.random.default_rng(0)
    places = random.uniform(-0.9, 0.9, (_KINDS, 2))
    points = places[random.integers(0, _KINDS, POINTS)] + random.standard_normal((POINTS, 2)) * 0.05

    def text(values: Any, kind: str) -> str:
        return base64.b64encode(np.asarray(values).astype(kind).tobytes()).decode()

    answer = {
        "cards": {}, "version": 1, "colouring": "c", "rows": text(np.arange(POINTS), "<u4"),
        "points": text(points, "<f4"), "times": text(random.integers(1, 2**30, POINTS), "<u4"),
        "colours": text(random.integers(0, 8, POINTS), "u1"),
    }  # fmt: skip
    sheet = io.BytesIO()
    Image.fromarray(random.integers(0, 255, (512, 512, 4), dtype=np.uint8)).save(sheet, "WEBP")
    return json.dumps(answer).encode(), sheet.getvalue()


def main() -> None:
    """Drag the whole map, then a part of it."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Answers, *made_up()))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(f"http://127.0.0.1:{server.server_port}/")
        page.wait_for_timeout(6000)
        print("whole:", page.evaluate(_DRAG))
        for _ in range(3):
            page.mouse.move(700, 400)
            page.mouse.wheel(0, -300)
            page.wait_for_timeout(300)
        page.wait_for_timeout(3000)
        print("part:", page.evaluate(_DRAG))
        browser.close()
    server.shutdown()


if __name__ == "__main__":
    main()
