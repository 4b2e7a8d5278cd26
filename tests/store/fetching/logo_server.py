"""A server of logos in this process, and what it can respond with."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from store.fetching.download import Downloads
from store.fetching.guard import Guard, any_address

Answer = Callable[[BaseHTTPRequestHandler], None]


class Server(ThreadingHTTPServer):
    """Sends the configured answer for each path; `requests` counts the requests."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers: dict[str, Answer] = {}
        self.requests: Counter[str] = Counter()
        self.at_once = self.most_at_once = 0
        self.lock = threading.Lock()
        self.ended = threading.Event()

    def url(self, path: str, *, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.server_port}{path}"

    def handle_error(self, *_: Any) -> None:
        """Ignore clients that hang up, as in some of these tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        with self.server.lock:
            self.server.requests[self.path] += 1
            self.server.at_once += 1
            self.server.most_at_once = max(self.server.most_at_once, self.server.at_once)
        try:
            self.server.answers.get(self.path, respond_with(b"", status=404))(self)
        finally:
            with self.server.lock:
                self.server.at_once -= 1

    def log_message(self, *_: Any) -> None:
        pass


def respond_with(content: bytes, *, status: int = 200, kind: str = "image/png", **headers: str) -> Answer:
    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        request.send_header("Content-Type", kind)
        request.send_header("Content-Length", str(len(content)))
        for name, value in headers.items():
            request.send_header(name.replace("_", "-"), value)
        request.end_headers()
        request.wfile.write(content)

    return answer


def redirect_to(to: str) -> Answer:
    return respond_with(b"", status=302, Location=to)


def send_endlessly(request: BaseHTTPRequestHandler) -> None:
    request.send_response(200)
    request.send_header("Content-Type", "image/png")
    request.send_header("Connection", "close")
    request.end_headers()
    while True:
        request.wfile.write(b"x" * 65_536)


def send_slowly(request: BaseHTTPRequestHandler) -> None:
    """Send a byte every 50 ms and never finish."""
    request.send_response(200)
    request.send_header("Content-Type", "image/png")
    request.send_header("Content-Length", "1000000")
    request.end_headers()
    ended: threading.Event = request.server.ended  # type: ignore[attr-defined]
    while not ended.wait(0.05):
        request.wfile.write(b"x")
        request.wfile.flush()


def respond_in_turn(*answers: Answer) -> Answer:
    left = list(answers)
    return lambda request: (left.pop(0) if len(left) > 1 else left[0])(request)


_made: list[Downloads] = []


@contextmanager
def serving() -> Iterator[Server]:
    """A server until the end of the block, when the downloads of this test are closed as well."""
    server = Server()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.ended.set()
        server.shutdown()
        server.server_close()
        thread.join()
        while _made:
            _made.pop().close()


def downloads(guard: Guard | None = None, **limits: Any) -> Downloads:
    _made.append(Downloads(guard or Guard(allowed=any_address), gateway="", **limits))
    return _made[-1]
