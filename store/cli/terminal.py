"""Output of the command line: answers on standard output, all else on standard error."""

import contextlib
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

from store.progress import Progress

if TYPE_CHECKING:
    from store.cli.progress_bar import ProgressBar

_T = TypeVar("_T")
_LOOK = 0.1  # seconds between two looks at the progress
_QUIET = 0.5  # seconds before a bar appears: what is done by then needs none
_JOINER = "\N{ZERO WIDTH JOINER}"  # part of many an emoji, and harmless


class Terminal:
    """The two streams of this process, both UTF-8 in every locale."""

    def __init__(self) -> None:
        self._answers = _in_utf8(sys.stdout, errors="replace")
        self._messages = _in_utf8(sys.stderr, errors="backslashreplace")
        sys.stdout = self._messages  # a library that prints must not spoil an answer
        self.was_interrupted = False
        self._drawn: ProgressBar | None = None

    def answer(self, text: str) -> None:
        """Print an answer on standard output; silent once nobody reads it."""
        with self._unless_closed():
            self._answers.write(f"{text}\n")

    def answer_json(self, value: Any) -> None:
        """Print a value as JSON on standard output."""
        self.answer(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False))

    def answer_table(self, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Print rows below their head on standard output; control characters in them have no effect."""
        from store.cli.table import print_table

        with self._unless_closed():
            print_table(head, [[*map(plain, row)] for row in rows], self._answers)

    def say(self, text: str) -> None:
        """Print a message on standard error; control characters in it have no effect."""
        with contextlib.suppress(BrokenPipeError):
            if (bar := self._drawn) is not None:
                bar.say(plain(text))
            else:
                self._messages.write(f"{plain(text)}\n")
            self._messages.flush()

    def watch(self, work: Callable[[Progress], _T]) -> _T:
        """Run the work in a thread with a progress bar; Ctrl-C stops it and keeps what is done."""
        progress, result = Progress(), Future[_T]()

        def run() -> None:
            try:
                result.set_result(work(progress))
            except BaseException as error:  # noqa: BLE001  it is raised again below
                result.set_exception(error)

        # A daemon: the store survives being stopped at any step, and a second Ctrl-C asks for that.
        thread = threading.Thread(target=run, name="memedex-verb", daemon=True)
        thread.start()
        with self._bar(progress) as draw:
            while thread.is_alive():
                try:
                    thread.join(_LOOK)
                    draw()
                except KeyboardInterrupt:
                    if self.was_interrupted:
                        raise
                    self.was_interrupted = True
                    progress.cancel()
                    self.say("stopping; what is done is kept (Ctrl-C again leaves at once)")
        return result.result()

    @contextmanager
    def _unless_closed(self) -> Iterator[None]:
        try:
            yield
            self._answers.flush()
        except BrokenPipeError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._answers.fileno())  # the interpreter flushes once more at its end

    @contextmanager
    def _bar(self, progress: Progress) -> Iterator[Callable[[], None]]:
        if not self._messages.isatty():
            yield lambda: None
            return
        looks = 0

        def draw() -> None:
            nonlocal looks
            looks += 1
            if self._drawn is None and looks * _LOOK >= _QUIET:
                from store.cli.progress_bar import ProgressBar

                self._drawn = ProgressBar(self._messages)
            if self._drawn is not None:
                self._drawn.draw(progress, plain(progress.what))

        try:
            yield draw
        finally:
            if self._drawn is not None:
                self._drawn.close()
                self._drawn = None


def plain(text: str) -> str:
    """An untrusted text as one line of printable characters: no escape sequences, no change of direction."""
    line = " ".join(text.split())
    if line.isprintable():
        return line
    return "".join(
        sign if sign.isprintable() or sign == _JOINER else "\N{REPLACEMENT CHARACTER}" for sign in line
    )


def _in_utf8(stream: TextIO | None, *, errors: str) -> TextIO:
    if stream is None:  # started without this stream, as some schedulers do
        return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123  lives as long as the process
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(encoding="utf-8", errors=errors)
    return stream
