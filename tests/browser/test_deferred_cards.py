"""Cards that a slider brings up load their picture and name while it is still moving."""

import shutil
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.conftest import Serve

_DRAG = """() => {
    const hosts = [...document.querySelectorAll("[data-testid=stBidiComponentIsolated]")];
    const root = hosts.map((each) => each.shadowRoot).find((each) => each?.querySelector(".sliders"));
    const [, entity, , , emotions] = root.querySelectorAll("input[type=range]");
    entity.value = "0";
    const move = () => {
        emotions.value = emotions.value === "9" ? "8.9" : "9";
        emotions.dispatchEvent(new Event("input"));
    };
    move();
    window.hand = setInterval(move, 100); // never at rest, so that the page is not rerun
    return root.querySelectorAll(".card.blank").length;
}"""


def test_cards_load_while_the_slider_is_still_moving(
    page: Page, serve: Serve, seed: Path, tmp_path: Path
) -> None:
    root = shutil.copytree(seed, tmp_path / "res")
    server = serve(
        root, app="bench/sliders_app.py", PYTHONPATH=str(Path.cwd()), BENCH_SIZE="2000", BENCH_SHOWN="60"
    )
    page.goto(server.url)
    cards = page.locator(".card")
    expect(cards).to_have_count(60)
    expect(page.locator(".card.loaded").first).to_be_visible()
    assert page.evaluate(_DRAG) > 0, "all were at hand: nothing is tested"
    expect(page.locator(".card.blank")).to_have_count(0)
    expect(cards).to_have_count(60)
