"""What the command line shows: answers on standard output, everything else on standard error."""

import contextlib
import json
import os
import sys
import threading
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, TextIO, TypeVar

from store.progress import Progress

_T = TypeVar("_T")
_LOOK = 0.1  # seconds between two looks at the progress
_QUIET = 0.5  # seconds before a bar appears: what is done by then needs none
_JOINER = "\N{ZERO WIDTH JOINER}"  # part of many an emoji, and harmless


class Terminal:
    """The two streams of this process, both UTF-8 whatever the locale says."""

    def __init__(self) -> None:
        self._answers = _in_utf8(sys.stdout, errors="replace")
        self._messages = _in_utf8(sys.stderr, errors="backslashreplace")
        sys.stdout = self._messages  # a library that prints must not spoil an answer
        self.was_interrupted = False

    def answer(self, text: str) -> None:
        """What was asked for, on standard output; quiet when nobody reads it any more."""
        try:
            self._answers.write(f"{text}\n")
            self._answers.flush()
        except BrokenPipeError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._answers.fileno())  # the interpreter flushes once more at its end

    def answer_json(self, value: Any) -> None:
        self.answer(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False))

    def say(self, text: str) -> None:
        """A message, on standard error; nothing in it can steer the terminal."""
        with contextlib.suppress(BrokenPipeError):
            self._messages.write(f"{plain(text)}\n")
            self._messages.flush()

    def watch(self, work: Callable[[Progress], _T]) -> _T:
        """Do the work in a thread, a bar showing how far it is; Ctrl-C ends it and keeps what is done."""
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
    def _bar(self, progress: Progress) -> Iterator[Callable[[], None]]:
        if not self._messages.isatty():
            yield lambda: None
            return
        bar: Any = None
        looks = 0

        def draw() -> None:
            nonlocal bar, looks
            looks += 1
            if bar is None and looks * _LOOK >= _QUIET:
                from tqdm import tqdm

                tqdm.monitor_interval = 0  # no second thread that draws
                bar = tqdm(file=self._messages, leave=False, dynamic_ncols=True, unit="")
            if bar is not None:
                bar.total, bar.n = progress.total or None, progress.done
                bar.set_description_str(plain(progress.what), refresh=False)
                bar.refresh()

        try:
            yield draw
        finally:
            if bar is not None:
                bar.close()


def plain(text: str) -> str:
    """A stranger's text as one line of printable signs: no escape sequence, no change of direction."""
    line = " ".join(text.split())
    return "".join(
        sign if sign.isprintable() or sign == _JOINER else "\N{REPLACEMENT CHARACTER}" for sign in line
    )


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, widest: int = 44) -> str:
    """Columns side by side; all but the last are cut at `widest` cells of the terminal."""
    lines = [[*(_cut(plain(cell), widest) for cell in row[:-1]), plain(row[-1])] for row in (head, *rows)]
    widths = [max(_width(line[column]) for line in lines) for column in range(len(head))]
    return "\n".join(
        "  ".join(
            cell + " " * (width - _width(cell)) for cell, width in zip(line, widths, strict=True)
        ).rstrip()
        for line in lines
    )


def _cut(text: str, width: int) -> str:
    if _width(text) <= width:
        return text
    while text and _width(text) > width - 1:
        text = text[:-1]
    return f"{text}…"


def _width(text: str) -> int:
    """How many cells of a terminal the text takes."""
    return sum(
        0
        if unicodedata.category(sign) in ("Mn", "Me", "Cf")
        else 2
        if unicodedata.east_asian_width(sign) in "WF"
        else 1
        for sign in text
    )


def _in_utf8(stream: TextIO | None, *, errors: str) -> TextIO:
    if stream is None:  # started without this stream, as some schedulers do
        return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123  lives as long as the process
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(encoding="utf-8", errors=errors)
    return stream
