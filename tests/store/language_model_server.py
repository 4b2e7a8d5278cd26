"""A language model API on loopback: gives the answers that a test prepares, in OpenAI's format, over real
sockets."""

import base64
import json
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Barrier, Event, Lock, Thread
from typing import Any

ADA = "text-embedding-ada-002"
GOOD = {
    "entity": "A shiba dog in a space suit on the moon",
    "context": "Doge and the saying 'to the moon'",
    "visual": "Pixel art in neon colours",
    "emotions": "Playful and ironic",
    "tags": ["dog", "space"],
}


@dataclass
class Answer:
    """One reply: a status and a body, or a failure."""

    status: int = 200
    body: dict[str, Any] = field(default_factory=dict)
    raw: bytes = b""  # instead of the body, such as a page of HTML
    cut: bool = False  # close the connection in the middle
    silent: bool = False  # never answer
    streamed: bool = False  # as server-sent events, asked for or not
    headers: dict[str, str] = field(default_factory=dict)
    after: float = 0.0  # seconds


def says(content: str | None, **message: Any) -> Answer:
    """A chat completion with this text."""
    finish = message.pop("finish_reason", "stop")
    choice = {
        "index": 0,
        "finish_reason": finish,
        "message": {"role": "assistant", "content": content, **message},
    }
    usage = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}
    return Answer(
        body={
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [choice],
            "usage": usage,
        }
    )


def draws(picture: bytes, *, address: str = "") -> Answer:
    """A picture as base64, or the address where it lies."""
    made = {"url": address} if address else {"b64_json": base64.b64encode(picture).decode()}
    return Answer(body={"created": 1, "data": [made]})


def fails(status: int, message: str, **headers: str) -> Answer:
    body = {"error": {"message": message, "type": "error", "code": str(status)}}
    return Answer(status, body, headers={name.replace("_", "-"): value for name, value in headers.items()})


class LanguageModelServer:
    """`address` is the `api_base`; `answers` are given in turn, the last one repeatedly; `asked` holds the
    requests. `answer_to` may choose the answer to a request instead."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.answer_to: Callable[[dict[str, Any]], Answer] | None = None
        self.under_way = self.most_at_once = 0
        self.together: Barrier | None = None  # so many wait for each other before any of them is answered
        self.lock = Lock()
        self.requests: list[dict[str, Any]] = []
        self.ending = Event()
        handler = type("Handler", (_Handler,), {"owner": self})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}/v1"

    def next_answer(self, request: dict[str, Any]) -> Answer:
        with self.lock:
            if self.answer_to:
                return self.answer_to(request)
            return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    @contextmanager
    def answering(self) -> Iterator[None]:
        with self.lock:
            self.under_way += 1
            self.most_at_once = max(self.most_at_once, self.under_way)
        try:
            yield
        finally:
            with self.lock:
                self.under_way -= 1


class _Handler(BaseHTTPRequestHandler):
    owner: LanguageModelServer

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.owner.requests.append({"path": self.path, **request})
        if self.path.endswith("/embeddings"):
            self._send(200, _embeddings(request["input"], numbers=1536 if request["model"] == ADA else 4))
            return
        with self.owner.answering():
            if self.owner.together:
                self.owner.together.wait(60)
            self._reply(self.owner.next_answer(request))

    def _reply(self, answer: Answer) -> None:
        self.owner.ending.wait(answer.after)
        if answer.streamed:
            self._stream(answer.body["choices"][0]["message"]["content"])
        elif answer.silent:
            self.owner.ending.wait()
            self.close_connection = True
        elif answer.cut:
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b'{"id": "1", "choi')
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
        else:
            self._send(answer.status, answer.raw or answer.body, **answer.headers)

    def _stream(self, content: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for start in range(0, len(content), 20):
            delta = {"index": 0, "delta": {"role": "assistant", "content": content[start : start + 20]}}
            chunk = {
                "id": "1",
                "object": "chat.completion.chunk",
                "created": 1,
                "model": "m",
                "choices": [delta],
            }
            self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True

    def _send(self, status: int, body: dict[str, Any] | bytes, **headers: str) -> None:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args: object) -> None:
        """Log nothing."""


def _embeddings(texts: list[str], *, numbers: int) -> dict[str, Any]:
    """Vectors of this many numbers, not of unit length, in reverse order, as the format allows."""
    rows = [
        {
            "object": "embedding",
            "index": index,
            "embedding": [float(len(text)), 3.0, 0.0, 1.0, *[0.0] * (numbers - 4)],
        }
        for index, text in enumerate(texts)
    ]
    return {
        "object": "list",
        "model": "m",
        "data": rows[::-1],
        "usage": {"prompt_tokens": 1, "total_tokens": 1},
    }


@contextmanager
def running() -> Iterator[LanguageModelServer]:
    owner = LanguageModelServer()
    thread = Thread(target=owner.server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield owner
    finally:
        owner.ending.set()
        owner.server.shutdown()
        owner.server.server_close()
        thread.join()
