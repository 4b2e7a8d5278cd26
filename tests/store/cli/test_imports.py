"""Logos and the watched folder on the command line."""

import json
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from store.catalog.filters import Filter
from store.cli import imports
from store.reading.reader import Reader
from tests.store.cli.program import Run, run_in_process
from tests.store.conftest import address, picture

pytestmark = pytest.mark.usefixtures("root")


def test_the_inbox_command_imports_each_file_once(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "EVERY", 0.0)
    (tmp_path / "inbox").mkdir()
    (tmp_path / "inbox" / "doge.png").write_bytes(picture(77))
    (tmp_path / "inbox" / "notes.txt").write_bytes(b"words")
    done = run_in_process("inbox", folder=tmp_path, MEMEDEX_INBOX=str(tmp_path / "inbox"))
    assert done.returncode == 1
    assert "added 1, already there 0, refused 1" in done.stderr
    assert run("inbox", "--folder", tmp_path / "inbox").stderr.startswith(
        "added 0, already there 0, refused 0"
    )
    assert run("inbox").returncode == 2


class _Pictures(SimpleHTTPRequestHandler):
    def do_GET(self) -> None:
        content = picture(int(self.path.strip("/").removesuffix(".png")))
        self.send_response(200 if self.path != "/51.png" else 404)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


def test_fetch_logos_imports_logos_and_reports_failures(run: Run, tmp_path: Path) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Pictures)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    tokens = [
        {
            "chainId": 1,
            "address": address(number),
            "name": f"Coin {number}",
            "symbol": "C",
            "logoURI": f"http://127.0.0.1:{server.server_port}/{number}.png",
        }
        for number in (50, 51)
    ]
    path = tmp_path / "list.json"
    path.write_text(json.dumps({"name": "list", "tokens": tokens}))
    try:
        assert "lies on the network" not in run("fetch-logos", path).stderr
        done = run_in_process("fetch-logos", "--json", folder=tmp_path, MEMEDEX_FETCH_PRIVATE="1")
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    assert done.returncode == 1
    assert json.loads(done.stdout)["fetched"] == 1
    assert "404" in done.stderr
    with Reader(tmp_path / "res") as reader:
        assert address(50) in reader.addresses(Filter(tier="pending"))
