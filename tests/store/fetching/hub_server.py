"""A hub in this process that answers as huggingface.co does: facts by HEAD, content by ranges."""

import hashlib
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

COMMIT = "c0ffee" + "0" * 34


class HubServer(ThreadingHTTPServer):
    """Files by "repository/name"; `cuts` are the positions at which one answer each breaks off."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files: dict[str, bytes] = {}
        self.digests: dict[str, str] = {}  # wrong ones
        self.cuts: list[int] = []
        self.gate: threading.Event | None = None  # what is waited for at each cut instead of breaking off
        self.reached = threading.Event()
        self.has_ranges = True
        self.gets: list[tuple[str, str]] = []  # path and range of each GET

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, *_: Any) -> None:
        """Ignore clients that hang up."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: HubServer

    def do_HEAD(self) -> None:
        self._answer(head=True)

    def do_GET(self) -> None:
        self._answer(head=False)

    def _answer(self, *, head: bool) -> None:
        hub = self.server
        found = re.fullmatch(r"/(.+)/resolve/(.+?)/(.+)", self.path)
        key = f"{found[1]}/{found[3]}" if found else ""
        if key not in hub.files or not found or found[2] not in ("main", COMMIT):
            self._send(404, {"Content-Length": "0"})
            return
        content = hub.files[key]
        facts = {
            "X-Repo-Commit": COMMIT,
            "X-Linked-Etag": f'"{hub.digests.get(key, hashlib.sha256(content).hexdigest())}"',
            "X-Linked-Size": str(len(content)),
        }
        if head:
            self._send(302, {**facts, "Location": f"{hub.address}/cdn", "Content-Length": "0"})
            return
        asked = self.headers.get("Range", "")
        hub.gets.append((self.path, asked))
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and hub.has_ranges else 0
        more = {"Content-Range": f"bytes {start}-{len(content) - 1}/{len(content)}"} if start else {}
        self._send(206 if start else 200, {"Content-Length": str(len(content) - start), **more})
        if hub.cuts and hub.cuts[0] > start:
            cut = hub.cuts.pop(0)
            self.wfile.write(content[start:cut])
            self.wfile.flush()
            hub.reached.set()
            if hub.gate is None:
                self.close_connection = True
                return
            hub.gate.wait(60)
            start = cut
        self.wfile.write(content[start:])

    def _send(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def hub_serving() -> Iterator[HubServer]:
    """A hub until the end of the block."""
    server = HubServer()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        if server.gate:
            server.gate.set()
        server.shutdown()
        server.server_close()
        thread.join()
