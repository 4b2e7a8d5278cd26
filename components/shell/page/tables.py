"""Tables and lists of a page: pandas frames with typed columns, the same as CSV, and numbers of pages."""

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import streamlit as st

from components.shell.page import local_time
from store.disk import csv

if TYPE_CHECKING:
    import pandas as pd

_WHEN = 135  # px, room for day and time


def show(
    rows: "pd.DataFrame | Iterable[Mapping[str, Any]]",
    *,
    alt: str,
    columns: Mapping[str, Any] | None = None,
    **more: Any,
) -> Any:
    """A table without row numbers; `columns` are Streamlit's column configurations by name.

    Returns what `st.dataframe` returns: with `on_select`, the selected rows.
    """
    import pandas as pd

    frame = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(rows)
    return st.dataframe(frame, hide_index=True, alt=alt, column_config=columns, **more)


def page_number(total: int, per_page: int, *, key: str, **more: Any) -> int:
    """The page of a list that is shown, from 1, by `st.pagination` with `more` if it has several."""
    pages = max(1, -(-total // per_page))
    if st.session_state.get(key, 1) > pages:  # deleted away, or an old link
        st.session_state[key] = pages
    return st.pagination(pages, key=key, **more) if pages > 1 else 1


def moment(at: float) -> datetime | None:
    """A time (UNIX seconds) as a cell of a `when` column; None for 0, which means never."""
    return datetime.fromtimestamp(int(at), UTC) if at else None


def when() -> Any:
    """A column of times, shown in the reader's time zone."""
    return st.column_config.DatetimeColumn(
        format="YYYY-MM-DD HH:mm", timezone=local_time.zone_name(), width=_WHEN
    )


def as_csv(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """The rows as CSV, protected against formulas in spreadsheets."""
    import pandas as pd

    cells = pd.DataFrame(rows).map(lambda cell: "" if pd.isna(cell) else csv.inert(str(cell)))
    text: str = cells.to_csv(index=False, lineterminator="\r\n")
    return text.encode()


def fields(value: Mapping[str, Any]) -> None:
    """Stored fields as JSON, to be read and copied: the colours of `st.json` are too pale in the light."""
    text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
    st.code(text.encode(errors="replace").decode(), language=None, wrap_lines=True)
