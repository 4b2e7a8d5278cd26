"""An answer that nobody waits for any more is left at its source."""

import json
import socket
from collections.abc import Iterator
from threading import Event, Thread

import pytest

from store.llm.client import answer_pieces, until_stopped

PATIENCE = 60  # seconds
_CHUNK = {
    "id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m",
    "choices": [{"index": 0, "delta": {"role": "assistant", "content": "first "}}],
}  # fmt: skip


@pytest.fixture
def endless() -> Iterator[tuple[str, Event]]:
    """A model that says one word and goes on until its client leaves; its address, and whether that came."""
    is_left = Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            client, _ = server.accept()
            with client:
                client.settimeout(PATIENCE)
                client.recv(1 << 16)
                head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
                client.sendall(f"{head}data: {json.dumps(_CHUNK)}\n\n".encode())
                while client.recv(1 << 16):
                    pass
                is_left.set()

        thread = Thread(target=answer)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1", is_left
        thread.join(PATIENCE)


def test_a_provider_is_left_when_its_answer_is_given_up(
    endless: tuple[str, Event], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    address, is_left = endless
    pieces = answer_pieces(
        [{"role": "user", "content": "?"}], model="openai/m", api_base=address, timeout=PATIENCE
    )
    assert next(pieces) == "first "
    pieces.close()  # type: ignore[attr-defined]
    assert is_left.wait(PATIENCE)


def test_the_source_of_a_stopped_answer_is_closed() -> None:
    is_closed = Event()

    def pieces() -> Iterator[str]:
        try:
            while True:
                yield "word "
        finally:
            is_closed.set()

    source = pieces()  # somebody still has it, so it is not closed by being dropped
    reading = until_stopped(source, lambda: False)
    assert next(reading) == "word "
    reading.close()  # type: ignore[attr-defined]
    assert is_closed.wait(PATIENCE)
