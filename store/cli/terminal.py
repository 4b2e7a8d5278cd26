"""Output of the command line: answers on standard output, all else on standard error.

A table is complete in a pipe and folded to the width of a terminal. rich, which takes long to import, is
imported by what draws with it.
"""

import contextlib
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, TextIO, TypeVar

from store.progress import Progress

_T = TypeVar("_T")
_LOOK = 0.1  # seconds between two looks at the progress
_QUIET = 0.5  # seconds before a bar appears: what is done by then needs none
_GAP = 2  # cells between two columns
_SHORT = 12  # cells below which a column is never folded
_WIDEST = 44  # cells of a column on a terminal, if others follow
_FOLDED = 2_000  # rows that are folded; rich takes a millisecond for each
_JOINER = "\N{ZERO WIDTH JOINER}"  # part of many an emoji, and harmless
Rows = Sequence[Sequence[str]]


class Terminal:
    """The two streams of this process, both UTF-8 in every locale."""

    def __init__(self) -> None:
        self._answers = _in_utf8(sys.stdout, errors="replace")
        self._messages = _in_utf8(sys.stderr, errors="backslashreplace")
        sys.stdout = self._messages  # a library that prints must not spoil an answer
        self.was_interrupted = False
        self._drawn: ProgressBar | None = None

    def answer(self, text: str) -> None:
        """Print an answer on standard output; silent once its reader is gone."""
        with self._unless_closed():
            self._answers.write(f"{text}\n")

    def answer_json(self, value: Any) -> None:
        """Print a value as JSON on standard output."""
        self.answer(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False))

    def answer_table(self, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Print rows below their head on standard output; control characters in them have no effect."""
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
            os.dup2(nowhere, self._answers.fileno())  # the interpreter flushes again at its end

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
                self._drawn = ProgressBar(self._messages)
            if self._drawn is not None:
                self._drawn.draw(progress, plain(progress.what))

        try:
            yield draw
        finally:
            if self._drawn is not None:
                self._drawn.close()
                self._drawn = None


class ProgressBar:
    """One line that disappears when the work ends; drawn on request, never by a thread of its own."""

    def __init__(self, stream: TextIO) -> None:
        from rich import progress as bars
        from rich.console import Console

        self._console = Console(file=stream, force_terminal=True, markup=False, emoji=False, highlight=False)
        self._bars = bars.Progress(
            bars.TextColumn("{task.description}", markup=False), bars.BarColumn(),
            bars.TaskProgressColumn(show_speed=True), bars.MofNCompleteColumn(), bars.TimeElapsedColumn(),
            bars.TimeRemainingColumn(), console=self._console,
            transient=True, auto_refresh=False, redirect_stdout=False, redirect_stderr=False,
        )  # fmt: skip
        self._task = self._bars.add_task("", total=None)
        self._bars.start()

    def draw(self, progress: Progress, what: str) -> None:
        """Show these figures; `what` is one plain line."""
        self._bars.update(
            self._task, description=what, total=progress.total or None, completed=progress.done, refresh=True
        )

    def say(self, line: str) -> None:
        """Print a plain line above the bar."""
        self._console.print(line, soft_wrap=True)

    def close(self) -> None:
        """Remove the bar."""
        self._bars.stop()


def print_table(head: Sequence[str], rows: Rows, stream: TextIO) -> None:
    """Print the table without truncation; on a terminal the head is bold and long texts are folded."""
    from rich.cells import cell_len

    widths = [max(map(cell_len, column)) for column in zip(head, *rows, strict=True)]
    if not (stream.isatty() and len(rows) <= _FOLDED and _is_folded(head, rows, widths, stream)):
        stream.write(_aligned([head, *rows], widths))


def _aligned(lines: Rows, widths: Sequence[int]) -> str:
    from rich.cells import set_cell_size

    gap = " " * _GAP
    return "".join(
        gap.join([*map(set_cell_size, cells, widths), last]).rstrip() + "\n" for *cells, last in lines
    )


def _is_folded(head: Sequence[str], rows: Rows, widths: Sequence[int], stream: TextIO) -> bool:
    """Whether it was printed at the terminal's width; too narrow a terminal wraps whole lines itself."""
    from rich.console import Console
    from rich.table import Table

    console = Console(file=stream, force_terminal=True, markup=False, emoji=False, highlight=False)
    # An address stays in one piece, to be copied.
    least = [
        width if title == "ADDRESS" else min(width, _SHORT) for title, width in zip(head, widths, strict=True)
    ]
    if sum(least) + _GAP * (len(head) - 1) > console.width:
        return False
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0))
    for title, width in zip(head, least, strict=True):
        most = max(width, _WIDEST) if title != head[-1] else None
        table.add_column(title, overflow="fold", min_width=width, max_width=most, no_wrap=title == "ADDRESS")
    for row in rows:
        table.add_row(*row)
    console.print(table)
    return True


def local_time(seconds: float) -> str:
    """A moment (UNIX time) to the minute, in this machine's time zone."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


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
