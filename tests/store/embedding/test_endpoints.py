"""A model behind an address embeds texts and pictures; every fault of the server gives a readable error."""

import base64
import hashlib
import io
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest
from PIL import Image

from store.embedding import endpoints, open_embedder
from store.embedding.protocol import Embedder
from store.errors import ModelUnavailable
from store.jobs import circuit_breaker
from store.settings import settings

KEY = "secret-key-of-the-server"
Reply = Callable[[dict[str, Any]], tuple[int, Any, dict[str, str]]]


class GpuServer(ThreadingHTTPServer):
    """Answers as infinity does; `replies` come first, one for each request."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.replies: list[Reply] = []
        self.requests: list[tuple[str, dict[str, Any], str]] = []  # path, body, authorization
        self.drip = 0.0  # seconds between two bytes of an answer
        self.ended = threading.Event()

    def handle_error(self, *_: Any) -> None:
        """Ignore clients that hang up."""


class _Handler(BaseHTTPRequestHandler):
    server: GpuServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((self.path, body, self.headers.get("Authorization", "")))
        reply = self.server.replies.pop(0) if self.server.replies else embedded
        self._send(*reply(body))

    def do_GET(self) -> None:
        self.server.requests.append((self.path, {}, self.headers.get("Authorization", "")))
        self._send(200, {"status": "succeeded", "output": {"embedding": vector("polled")}}, {})

    def _send(self, status: int, answer: Any, headers: dict[str, str]) -> None:
        content = json.dumps(answer).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        for piece in [content] if not self.server.drip else [bytes([one]) for one in content]:
            self.wfile.write(piece)
            if self.server.drip and self.server.ended.wait(self.server.drip):
                return

    def log_message(self, *_: Any) -> None:
        pass


def vector(text: str) -> list[float]:
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")
    return [float(number) for number in np.random.default_rng(seed).normal(size=8) * 3]


def embedded(body: dict[str, Any]) -> tuple[int, Any, dict[str, str]]:
    rows = [{"index": at, "embedding": vector(one)} for at, one in enumerate(body["input"])]
    return 200, {"data": rows[::-1]}, {}  # in any order


def fails(status: int, **headers: str) -> Reply:
    return lambda _: (
        status,
        {"error": KEY},
        {name.replace("_", "-"): value for name, value in headers.items()},
    )


def answers(*rows: Any) -> Reply:
    return lambda _: (200, {"data": [{"index": at, "embedding": row} for at, row in enumerate(rows)]}, {})


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[GpuServer]:
    monkeypatch.setattr(circuit_breaker, "_FIRST", 0.01)
    monkeypatch.setattr(endpoints, "_LOOK", 0.01)
    monkeypatch.setattr(endpoints, "_breakers", {})
    server = GpuServer()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    monkeypatch.setenv("MEMEDEX_EMBEDDING_SERVER", f"http://127.0.0.1:{server.server_port}/v1")
    monkeypatch.setenv("MEMEDEX_EMBEDDING_TOKEN", KEY)
    settings.cache_clear()
    yield server
    settings.cache_clear()
    server.ended.set()
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def model(server: GpuServer) -> Embedder:
    return open_embedder("remote:openai/clip")


def test_texts_and_pictures_are_sent_in_batches_with_their_modality(
    server: GpuServer, model: Embedder
) -> None:
    texts = model.embed_texts(["a dog", "a cat"])
    assert texts == pytest.approx(np.array([vector("a dog"), vector("a cat")]) / np.linalg.norm(
        [vector("a dog"), vector("a cat")], axis=1, keepdims=True), abs=1e-6)  # fmt: skip
    pictures = model.embed_images([Image.new("RGB", (900, 9), (number, 0, 0)) for number in range(20)])
    assert (pictures.shape, pictures.dtype, model.dimensions) == ((20, 8), np.float32, 8)
    assert np.linalg.norm(pictures, axis=1) == pytest.approx(1)
    path, body, key = server.requests[-1]
    assert (path, body["model"], body["modality"], key) == (
        "/v1/embeddings", "openai/clip", "image", f"Bearer {KEY}",
    )  # fmt: skip
    assert len(body["input"]) == 4, "the last of two batches"
    sent = Image.open(io.BytesIO(base64.b64decode(body["input"][0].partition(",")[2])))
    assert max(sent.size) == 512
    assert KEY not in model.name + model.fingerprint + model.status


@pytest.mark.parametrize(
    "rows",
    [
        [[1.0, 2.0], [1.0]], [[1.0, 2.0]], [[1.0, float("nan")], [1.0, 2.0]], [[0.0, 0.0], [1.0, 2.0]],
        [None, [1.0, 2.0]], [["x", "y"], [1.0, 2.0]], [[], []],
    ],
    ids=["two lengths", "one missing", "NaN", "zeros", "null", "words", "empty"],
)  # fmt: skip
def test_unusable_vectors_are_refused(server: GpuServer, model: Embedder, rows: list[Any]) -> None:
    server.replies = [answers(*rows)]
    with pytest.raises(ModelUnavailable, match=r"remote:openai/clip answered something else than 2 vectors"):
        model.embed_texts(["a dog", "a cat"])


def test_another_length_than_before_is_refused(server: GpuServer, model: Embedder) -> None:
    assert model.dimensions == 8
    server.replies = [answers([1.0, 2.0])]
    with pytest.raises(ModelUnavailable, match="1 vectors of 8 finite numbers"):
        model.embed_texts(["a dog"])


def test_a_busy_server_is_asked_again_after_the_pause_it_names(server: GpuServer, model: Embedder) -> None:
    server.replies = [fails(503), fails(429, Retry_After="0"), fails(500)]
    assert model.embed_texts(["a dog"]).shape == (1, 8)
    assert len(server.requests) == 4


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("600", "(600|599)"), ("99999", "3,(600|599)"), ("Wed, 21 Oct 2099 07:28:00 GMT", "3,(600|599)")],
)
def test_a_long_pause_is_reported_instead_of_waited_for_and_holds_for_everybody(
    server: GpuServer, model: Embedder, header: str, seconds: str
) -> None:
    server.replies = [fails(429, Retry_After=header)]
    with pytest.raises(ModelUnavailable, match=f"is away: the server answers 429; ask again in {seconds} s"):
        model.embed_texts(["a dog"])
    with pytest.raises(ModelUnavailable, match="is away"):
        open_embedder("remote:another").embed_texts(["a dog"])
    assert len(server.requests) == 1, "the pause holds for every model of this server"


def test_a_slow_or_absent_server_is_reported_and_asked_again_when_it_is_back(
    server: GpuServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoints, "_SERVER_TIMEOUT", 0.2)
    monkeypatch.setattr(endpoints, "_PATIENCE", 0.5)
    slow, gate = open_embedder("remote:slow"), threading.Event()
    server.replies = [lambda body: (gate.wait(30), embedded(body))[1]] * 20
    with pytest.raises(ModelUnavailable, match=r"remote:slow is away: .*ask again in"):
        slow.embed_texts(["a dog"])
    gate.set()
    server.replies = []
    monkeypatch.setattr(endpoints, "_PATIENCE", 60.0)
    assert slow.embed_texts(["a dog"]).shape == (1, 8)


def test_an_answer_that_comes_byte_by_byte_is_not_waited_for(
    server: GpuServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoints, "_SERVER_TIMEOUT", 0.3)
    monkeypatch.setattr(endpoints, "_PATIENCE", 0.5)
    server.drip = 0.1
    with pytest.raises(ModelUnavailable, match=r"is away: its answer is too slow"):
        open_embedder("remote:slow").embed_texts(["a dog"])


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (fails(401), "did not accept the key in MEMEDEX_EMBEDDING_TOKEN"),
        (fails(404), "answers 404; check MEMEDEX_EMBEDDING_SERVER"),
        (fails(302, Location="http://169.254.169.254/"), "answers 302"),
        (lambda _: (200, ["no", "object"], {}), "something else than JSON embeddings"),
    ],
)
def test_refusals_are_readable_without_the_key_and_never_followed(
    server: GpuServer, model: Embedder, reply: Reply, message: str
) -> None:
    server.replies = [reply]
    with pytest.raises(ModelUnavailable, match=message) as caught:
        model.embed_texts(["a dog"])
    assert KEY not in str(caught.value)
    assert len(server.requests) == 1


def test_replicate_is_asked_one_input_at_a_time_and_polled_by_number(
    server: GpuServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"http://127.0.0.1:{server.server_port}/v1/predictions"
    monkeypatch.setenv("MEMEDEX_EMBEDDING_SERVER", address)
    settings.cache_clear()
    model = open_embedder("remote:1a2b3c")
    done = {"status": "succeeded", "output": {"embedding": vector("x")}}
    late = {"id": "p1", "status": "processing", "urls": {"get": "http://evil/"}}
    server.replies = [lambda _, answer=answer: (201, answer, {}) for answer in (done, done, late)]
    assert model.embed_texts(["a dog"]).shape == (1, 8)
    assert model.embed_images([Image.new("RGB", (8, 8))]).shape == (1, 8)
    assert server.requests[0][1] == {"version": "1a2b3c", "input": {"text": "a dog"}}
    assert server.requests[-1][0] == "/v1/predictions/p1"


def test_without_an_address_the_setting_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEMEDEX_EMBEDDING_SERVER", raising=False)
    settings.cache_clear()
    with pytest.raises(ModelUnavailable, match="MEMEDEX_EMBEDDING_SERVER"):
        open_embedder("remote:openai/clip")
