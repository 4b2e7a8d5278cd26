"""A language model's answer piece by piece, until it ends or somebody stops it."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from queue import Empty, Queue
from threading import Event, Thread
from typing import Any

from store.errors import CaptioningFailed
from store.llm.client import import_litellm, readable

MAX_ANSWER = 200_000  # characters; protects from an endpoint that never ends
_LOOK = 0.2  # seconds until it is looked whether somebody stopped it


def answer_pieces(
    messages: Sequence[Mapping[str, Any]], *, model: str, api_base: str | None = None, timeout: float = 60.0
) -> Iterator[str]:
    """The model's answer piece by piece. Raises CaptioningFailed with the cause and the remedy."""
    litellm = import_litellm()
    size, stream = 0, None
    try:
        stream = litellm.completion(
            model=model, messages=[*messages], api_base=api_base, timeout=timeout, stream=True,
            max_retries=0, num_retries=0,
        )  # fmt: skip
        for chunk in stream:
            piece = (chunk.choices[0].delta.content or "") if chunk.choices else ""
            size += len(piece)
            if size > MAX_ANSWER:
                return
            yield piece
    except Exception as error:  # providers raise errors of any type; they become one readable error
        raise CaptioningFailed(readable(error, model=model)) from error
    finally:
        _close(stream)


def _close(stream: Any) -> None:
    """Leave the provider, who would go on writing, and be paid for it; litellm closes only async streams."""
    if close := getattr(getattr(stream, "completion_stream", None), "close", None):
        close()


def until_stopped(pieces: Iterator[str], is_stopping: Callable[[], bool]) -> Iterator[str]:
    """The pieces as they arrive, until the end or until somebody stops it, even if the model is silent.

    Raises what reading the next piece raised.
    """
    came: Queue[str | Exception | None] = Queue()
    left = Event()

    def read() -> None:
        try:
            for piece in pieces:
                came.put(piece)
                if left.is_set():
                    return
            came.put(None)
        except Exception as error:  # noqa: BLE001  it is raised where the pieces are wanted
            came.put(error)
        finally:
            if isinstance(pieces, Generator):
                pieces.close()

    Thread(target=read, name="memedex-answer", daemon=True).start()
    try:
        while True:
            is_over = is_stopping()  # what has come by then is still given
            try:
                piece = came.get(timeout=0 if is_over else _LOOK)
            except Empty:
                if is_over:
                    return
                continue
            if isinstance(piece, Exception):
                raise piece
            if piece is None:
                return
            yield piece
    finally:
        left.set()
