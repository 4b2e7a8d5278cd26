"""Tables keep times as times, and their CSV contains no formulas."""

import csv
import io
import json
from datetime import UTC, datetime

from streamlit.testing.v1 import AppTest

from components.shell.page import tables


def test_a_cell_that_looks_like_a_formula_is_text_in_the_csv() -> None:
    rows = [
        {"coin": "=1+1", "reason": 'two\nlines, and "quotes"', "when": tables.moment(1_700_000_000.7)},
        {"coin": "Frog", "reason": "", "when": None},
    ]
    found = list(csv.DictReader(io.StringIO(tables.as_csv(rows).decode(), newline="")))
    assert found[0]["coin"] == "'=1+1"
    assert found[0]["reason"] == 'two\nlines, and "quotes"'
    assert found[0]["when"] == "2023-11-14 22:13:20+00:00"
    assert found[1] == {"coin": "Frog", "reason": "", "when": ""}


def test_stored_fields_are_shown_as_json_also_with_half_a_character() -> None:
    def app() -> None:
        from components.shell.page import tables

        tables.fields({"name": "Frosch 🐸", "ticker": "\ud83d", "tags": ["pond"], "created_at": None})

    (code,) = AppTest.from_function(app).run().code
    shown = json.loads(code.value)
    assert shown == {"name": "Frosch 🐸", "ticker": "?", "tags": ["pond"], "created_at": None}
    assert "🐸" in code.value


def test_zero_means_no_time() -> None:
    assert tables.moment(0) is None
    assert tables.moment(1.5) == datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)
