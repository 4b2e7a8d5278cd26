"""Captions as a list: one line each with its picture, the reason, and a link to its editor."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from components.shell import javascript
from components.shell.server import pictures
from components.shell.session import safe_mode, session
from store import Library, Record

_component = javascript.mounted(
    "caption-rows", '<ol class="memedex-rows"></ol>\n', script="editor/js/rows.js", style="editor/rows.css"
)


@dataclass(frozen=True, slots=True)
class EditorRow:
    """One line: a text as it is, or before and after."""

    key: str
    record: Record
    label: str
    reason: str = ""
    text: str = ""
    after: str | None = None
    other: Record | None = None  # the record it is about as well


def show_rows(
    key: str, library: Library, rows: Sequence[EditorRow], *, go: Callable[[str], None], choose: bool
) -> set[str]:
    """Show the list; `go` opens a coin's editor.

    Returns the keys that were deselected if one may `choose`.
    """

    def follow() -> None:
        target = session.sent(key).get("go")
        if isinstance(target, str) and target in {row.record.address for row in rows}:
            go(target)

    _component(
        key=key,
        data={"rows": [_line(library, row) for row in rows], "choose": choose},
        on_go_change=follow,
        on_left_change=_nothing,
    )
    return left_out(key)


def left_out(key: str) -> set[str]:
    """The keys of the lines that were deselected so far."""
    left = session.sent(key).get("left")
    return {each for each in left if isinstance(each, str)} if isinstance(left, list) else set()


def _line(library: Library, row: EditorRow) -> dict[str, Any]:
    return {
        **_coin(library, row.record),
        "key": row.key,
        "label": row.label,
        "why": row.reason,
        "text": row.text,
        "after": row.after,
        "other": _coin(library, row.other) if row.other else None,
    }


def _coin(library: Library, record: Record) -> dict[str, str]:
    record = safe_mode.shown(library, record)
    return {
        "address": record.address,
        "name": record.name,
        "ticker": record.ticker,
        "picture": pictures.address(library, record.image_hash),
    }


def _nothing() -> None:
    """Rerun the page with what is deselected."""
