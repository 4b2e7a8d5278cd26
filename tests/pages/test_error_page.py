"""Errors on a page are explained in words; only the log and local browsers get the traceback."""

import re
import sqlite3

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from components.shell.server import error_page
from components.shell.session import login
from store.errors import NotWritten


def page() -> None:
    from components.shell.server import error_page

    error_page.show_error(OSError(28, "No space left on device"))


def test_a_refusal_explains_how_to_fix_it() -> None:
    test = AppTest.from_function(page, default_timeout=60).run()
    assert [error.value for error in test.error] == ["This could not be done. What went wrong:"]
    assert test.text[0].value.endswith("is full; make room and try again")
    assert [button.label for button in test.button] == ["Reload page"]


def page_with_two_errors() -> None:
    from components.shell.server import error_page

    for _ in range(2):
        error_page.show_error(OSError(28, "No space left on device"))


def test_two_failing_parts_of_a_page_are_both_reported() -> None:
    test = AppTest.from_function(page_with_two_errors, default_timeout=60).run()
    assert not test.exception
    assert len(test.error) == 2


@pytest.mark.parametrize("error", [NotWritten("nothing was changed"), sqlite3.OperationalError("locked")])
def test_expected_errors_are_explained(error: Exception) -> None:
    assert error_page.show_error(error)


def page_with_a_bug() -> None:
    from components.shell.server import error_page

    try:
        {}["a secret of the server"]
    except KeyError as error:
        error_page.show_error(error)


def test_a_local_browser_sees_the_whole_traceback() -> None:
    test = AppTest.from_function(page_with_a_bug, default_timeout=60).run()
    assert "a secret of the server" in test.exception[0].message
    assert test.exception[0].stack_trace


def test_a_remote_browser_sees_an_error_number_that_is_also_in_the_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(login, "is_local", lambda: False)
    test = AppTest.from_function(page_with_a_bug, default_timeout=60).run()
    assert not test.exception
    shown = "\n".join(str(one.value) for kind in (test.error, test.text, test.caption) for one in kind)
    assert "secret" not in shown
    (number,) = re.findall(r"Error ([0-9a-f]{8})\.", shown)
    (logged,) = [one for one in caplog.records if number in one.getMessage()]
    assert logged.exc_info
    assert isinstance(logged.exc_info[1], KeyError)


def test_a_remote_browser_does_not_see_file_paths(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(login, "is_local", lambda: False)
    test = AppTest.from_function(page, default_timeout=60).run()
    assert "disk" in test.text[0].value
    assert "/" not in test.text[0].value
    assert "No space left" in caplog.text


def test_streamlit_itself_shows_no_traceback() -> None:
    assert st.get_option("client.showErrorDetails") == "none"
