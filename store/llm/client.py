"""litellm with safe defaults: imported late, its errors in plain English, prices, and answers in pieces."""

import json
import math
import os
import re
import threading
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from queue import Empty, Queue
from threading import Event, Thread
from typing import Any

from store.errors import CaptioningFailed, ProviderBusy, ProviderRefuses
from store.fetching.retry_after import seconds_to_wait

_BROKEN = {
    "ConnectError",
    "ReadError",
    "WriteError",
    "RemoteProtocolError",
    "ConnectionError",
    "APIConnectionError",
}
_UNREADABLE = "UnreadableAnswer"  # no class of litellm's, which calls this a server's or a network's fault
_REASONS = (
    # litellm's classes by name, the narrower before the wider; what happened, and what to do about it.
    (
        "ContentPolicyViolationError",
        "refused the content",
        "write the caption by hand, or choose another model",
    ),
    (
        "ContextWindowExceededError",
        "cannot read that much text",
        "shorten the description, or choose another model",
    ),
    ("AuthenticationError", "did not accept the key", "check the provider's key in the environment ({key})"),
    ("PermissionDeniedError", "did not allow it", "check what the key in the environment may use ({key})"),
    ("NotFoundError", "is not known there", "check the model's name and address"),
    ("RateLimitError", "asks to slow down (rate limit)", "wait a minute and try again"),
    (
        _UNREADABLE,
        "answered something that is no completion",
        "check its address: another service, or a login page, may answer there",
    ),
    ("Timeout", "did not answer in time", "try again, or allow it more time"),
    ("ServiceUnavailableError", "is not available at the moment", "try again later"),
    ("BadGatewayError", "is not available at the moment", "try again later"),
    ("InternalServerError", "failed on its own side", "try again later"),
    ("APIConnectionError", "cannot be reached, or the connection broke", "check the network and the address"),
    ("UnsupportedParamsError", "does not support this request", "choose another model"),
    (
        "BadRequestError",
        "did not accept the request",
        "check the model's name; it must be able to see pictures",
    ),
)


# What another try may mend, and what no other picture will mend.
_BUSY = {
    _UNREADABLE,
    "RateLimitError",
    "Timeout",
    "APIConnectionError",
    "ServiceUnavailableError",
    "BadGatewayError",
    "InternalServerError",
}
_REFUSES = {"AuthenticationError", "PermissionDeniedError", "NotFoundError", "UnsupportedParamsError"}
_tried = threading.Event()  # litellm was imported, or cannot be
_warming = threading.Lock()
MAX_ANSWER = 200_000  # characters; protects from an endpoint that never ends
_BRACES = 1_000  # that are tried as the beginning of an object; an answer of braces alone would take long
_LONGEST = 240  # characters of what a provider says
_LOOK = 0.2  # seconds between two looks whether the user stopped it


@dataclass(frozen=True, slots=True)
class Usage:
    """The cost of answers: `cost` is in US dollars, None if the price list does not have the model."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = 0.0

    def __add__(self, other: "Usage") -> "Usage":
        cost = None if self.cost is None or other.cost is None else self.cost + other.cost
        return Usage(
            self.prompt_tokens + other.prompt_tokens, self.completion_tokens + other.completion_tokens, cost
        )


def import_litellm() -> Any:
    """litellm, without downloads of its price list and without output; takes three seconds the first time."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # must be set before the import
    # Pydantic's remark on litellm's own types would be all that a terminal shows.
    warnings.filterwarnings("ignore", message=r"Items? '.*' on TypedDict class", category=UserWarning)
    import litellm

    litellm.suppress_debug_info = True
    litellm.disable_hf_tokenizer_download = True  # to count tokens, it would fetch some models' tokenizers
    _tried.set()
    return litellm


def is_loaded() -> bool:
    """Whether litellm is imported."""
    return _tried.is_set()


def is_warm() -> bool:
    """Whether litellm is imported; if not, it is imported in the background."""
    if not _tried.is_set() and _warming.acquire(blocking=False):
        threading.Thread(target=_warm, name="memedex-litellm", daemon=True).start()
    return _tried.is_set()


def _warm() -> None:
    try:
        import_litellm()
    finally:  # what is broken is said where it is used
        _tried.set()


def usage_of(litellm: Any, completion: Any, *, model: str) -> Usage:
    """The tokens of an answer as the provider counts them, and their cost."""
    counted = getattr(completion, "usage", None)
    prompt, answer = (int(getattr(counted, name, 0) or 0) for name in ("prompt_tokens", "completion_tokens"))
    return Usage(prompt, answer, price(litellm, model, prompt_tokens=prompt, completion_tokens=answer))


def price(litellm: Any, model: str, *, prompt_tokens: int, completion_tokens: int) -> float | None:
    """The cost in US dollars by litellm's price list; None if it does not have the model."""
    try:
        return float(
            sum(
                litellm.cost_per_token(
                    model=model, prompt_tokens=prompt_tokens, completion_tokens=completion_tokens
                )
            )
        )
    except Exception:  # noqa: BLE001  litellm raises a plain Exception for a model it does not know
        return None


def failure(error: Exception, *, model: str, about: str) -> CaptioningFailed:
    """The error as one of ours, which says whether later, never, or another picture may help."""
    reason = readable(error, model=model)
    message = f"no caption for {about!r}: {reason}"
    classes = _classes(error)
    if classes & _REFUSES or "insufficient_quota" in str(error):
        return ProviderRefuses(message)
    if classes & _BUSY and "ContextWindowExceededError" not in classes:
        busy = ProviderBusy(message)
        busy.short_reason = reason.partition(";")[0]
        busy.retry_after = _retry_after(error)
        busy.may_change = _UNREADABLE not in classes
        return busy
    return CaptioningFailed(message)


def _retry_after(error: Exception) -> float | None:
    headers: Mapping[str, str] = getattr(error, "litellm_response_headers", None) or {}
    return seconds_to_wait(headers.get("retry-after"))


def readable(error: Exception, *, model: str) -> str:
    """One sentence on what went wrong with a language model, and the remedy."""
    classes = _classes(error)
    detail = _one_line(str(error))
    key = (
        f"{model.partition('/')[0].upper()}_API_KEY"
        if "/" in model
        else "OPENAI_API_KEY, ANTHROPIC_API_KEY …"
    )
    wait = _retry_after(error)
    for name, what, remedy in _REASONS:
        if name in classes:
            if name == "RateLimitError" and wait:
                remedy = f"try again in {math.ceil(wait):,} s"
            return f"{model} {what}; {remedy.format(key=key)} [{detail}]"
    return f"{model} gave no answer; try again [{type(error).__name__}: {detail}]"


def _classes(error: Exception) -> set[str]:
    """litellm's class names for the error; _UNREADABLE for an answer of status 200 that it cannot read."""
    classes, causes = {cls.__name__ for cls in type(error).__mro__}, _causes(error)
    if "Timeout" not in classes and _BROKEN & causes:  # litellm calls these a server's fault
        return {"APIConnectionError"}
    # httpx has an HTTPError for every status from 400 on, and for every connection that fails.
    if {"InternalServerError", "APIConnectionError"} & classes and not {"HTTPError", "Timeout"} & (
        classes | causes
    ):
        return {_UNREADABLE}
    return classes


def _causes(error: BaseException) -> set[str]:
    """The class names of an error and of its causes."""
    names: set[str] = set()
    chain: BaseException | None = error
    for _ in range(20):  # a chain may bite its own tail
        if chain is None:
            break
        names |= {cls.__name__ for cls in type(chain).__mro__}
        chain = chain.__cause__ or chain.__context__
    return names


def _one_line(text: str) -> str:
    line = re.sub(r"\s+", " ", text).strip()
    # Providers quote the key back.
    line = re.sub(r"\b(sk|key|Bearer)[-_ ][A-Za-z0-9_\-*.]{8,}", r"\1-…", line)
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"


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


def objects_in(answer: str) -> Iterator[dict[str, Any]]:
    """The JSON objects in a model's answer, those inside others too, in the order in which they begin."""
    decoder = json.JSONDecoder(strict=False)  # models put line breaks into strings
    for start in islice((match.start() for match in re.finditer(r"\{", answer)), _BRACES):
        with suppress(ValueError, RecursionError):  # half an object, or one nested a thousand deep
            yield decoder.raw_decode(answer, start)[0]


def until_stopped(pieces: Iterator[str], is_stopping: Callable[[], bool]) -> Iterator[str]:
    """The pieces as they arrive, until the end or until the user stops it, even if the model is silent.

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
