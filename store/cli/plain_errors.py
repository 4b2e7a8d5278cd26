"""Errors in threads or in Chroma's process during a command: one sentence instead of a traceback."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from store.cli.terminal import Terminal

_OURS = "store"  # the loggers of the program; Python prints their tracebacks where nobody handles them

NO_MEMORY = "there was not enough memory; what is done is kept"
_SHORT = ("allocate memory", "out of memory", "bad allocation", "std::bad_alloc", "start new thread")


@contextmanager
def print_plainly(terminal: Terminal) -> Iterator[None]:
    """Print warnings, and errors that end a thread, in one sentence each until the block ends."""
    handler, log, before = _Plain(terminal), logging.getLogger(_OURS), threading.excepthook
    log.addHandler(handler)
    threading.excepthook = lambda ended: terminal.say(
        f"{ended.thread.name if ended.thread else 'a thread'} stopped: {_named(ended.exc_value)}"
    )
    try:
        yield
    finally:
        threading.excepthook = before
        log.removeHandler(handler)


class _Plain(logging.Handler):
    def __init__(self, terminal: Terminal) -> None:
        super().__init__(logging.WARNING)
        self._terminal = terminal

    def emit(self, record: logging.LogRecord) -> None:
        cause = record.exc_info[1] if record.exc_info else None
        sentence = record.getMessage().partition("\n")[0]  # what follows is for a server's log
        is_said = cause is None or _named(cause) in sentence
        self._terminal.say(sentence if is_said else f"{sentence}: {_named(cause)}")


def is_short_of_memory(error: BaseException | None) -> bool:
    """Whether the error means that memory or threads ran out, in Python or in a library."""
    return isinstance(error, MemoryError) or any(words in str(error) for words in _SHORT)


def _named(error: BaseException | None) -> str:
    if is_short_of_memory(error):
        return NO_MEMORY
    message = " ".join(str(error).split())
    return message or type(error).__name__
