"""Protect CSV cells that a spreadsheet would run as formulas, and undo the protection when reading.

Source: OWASP, "CSV Injection".
"""

import re

# A cell that a spreadsheet would run as a formula; exports put an apostrophe before.
FORMULA = re.compile(r"'*[=+\-@\t\r＝＋－＠]")


def inert(cell: str) -> str:
    """Put an apostrophe before a cell that a spreadsheet would run as a formula."""
    return f"'{cell}" if FORMULA.match(cell) else cell


def as_typed(cell: str) -> str:
    """Remove the apostrophe that `inert` added."""
    return cell[1:] if cell.startswith("'") and FORMULA.match(cell) else cell
