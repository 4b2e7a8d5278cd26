"""The progress bar on a terminal."""

from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars
from rich.progress import TimeRemainingColumn as Remaining

from store.progress import Progress


class ProgressBar:
    """One line that disappears when the work ends; drawn on request, never by a thread of its own."""

    def __init__(self, stream: TextIO) -> None:
        self._console = Console(file=stream, force_terminal=True, markup=False, emoji=False, highlight=False)
        columns = (
            BarColumn(),
            TaskProgressColumn(show_speed=True),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
        )
        self._bars = Bars(
            TextColumn("{task.description}", markup=False), *columns, Remaining(), console=self._console,
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
