"""What the disk refuses in the middle of a page is said in words; a mistake of the program is shown whole."""

import sqlite3

import pytest
from streamlit.testing.v1 import AppTest

from components import mishaps
from store.errors import NotWritten


def page() -> None:
    from components import mishaps

    mishaps.tell(OSError(28, "No space left on device"))


def test_a_refusal_is_told_with_the_way_out() -> None:
    test = AppTest.from_function(page).run()
    assert [error.value for error in test.error] == ["This could not be done. What went wrong:"]
    assert test.text[0].value.endswith("is full; make room and try again")
    assert [button.label for button in test.button] == ["Show the page again"]


@pytest.mark.parametrize(
    ("error", "is_told"),
    [
        (NotWritten("nothing was changed"), True),
        (sqlite3.OperationalError("database is locked"), True),
        (sqlite3.ProgrammingError("Cannot operate on a closed database."), False),
        (KeyError("a mistake"), False),
    ],
)
def test_only_what_was_refused_is_told(error: Exception, is_told: bool) -> None:
    assert mishaps.tell(error) is is_told
