"""Tables of the command line: complete in a pipe, folded to the width of a terminal."""

from collections.abc import Sequence
from typing import TextIO

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.table import Table

_GAP = 2  # cells between two columns
_SHORT = 12  # cells below which a column is never folded
_WIDEST = 44  # cells of a column on a terminal, if others follow
_FOLDED = 2_000  # rows that are folded; rich takes a millisecond for each

Rows = Sequence[Sequence[str]]


def print_table(head: Sequence[str], rows: Rows, stream: TextIO) -> None:
    """Print the table without truncation; on a terminal the head is bold and long texts are folded."""
    widths = [max(map(cell_len, column)) for column in zip(head, *rows, strict=True)]
    if not (stream.isatty() and len(rows) <= _FOLDED and _is_folded(head, rows, widths, stream)):
        stream.write(_aligned([head, *rows], widths))


def _aligned(lines: Rows, widths: Sequence[int]) -> str:
    gap = " " * _GAP
    return "".join(
        gap.join([*map(set_cell_size, cells, widths), last]).rstrip() + "\n" for *cells, last in lines
    )


def _is_folded(head: Sequence[str], rows: Rows, widths: Sequence[int], stream: TextIO) -> bool:
    """Whether it was printed at the terminal's width; too narrow a terminal wraps whole lines itself."""
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
