"""The server's log as JSON lines."""

import json
import logging
import sys
from typing import Any

import pytest

from components.shell.server import logs


def _line(record: logging.LogRecord) -> dict[str, Any]:
    text = logs.JsonLines().format(record)
    assert "\n" not in text
    return dict(json.loads(text))


def _record(message: str, *, exc_info: Any = None) -> logging.LogRecord:
    return logging.LogRecord("store.jobs", logging.ERROR, "runner.py", 1, message, (), exc_info)


def test_a_message_is_one_object_with_the_number_of_its_request() -> None:
    number = logs.begin_request()
    line = _line(_record("two\nlines"))
    assert line["message"] == "two\nlines"
    assert (line["level"], line["logger"], line["request"]) == ("error", "store.jobs", number)
    assert line["time"].endswith("+00:00")


def test_an_error_has_its_traceback_in_the_same_line() -> None:
    try:
        raise ValueError("a cause")
    except ValueError:
        line = _line(_record("it failed", exc_info=sys.exc_info()))
    assert line["error"].splitlines()[-1] == "ValueError: a cause"


def test_a_request_is_logged_without_its_question(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="components.shell.server.logs")
    logs.request("GET", "/search", 200, 0.0123)
    line = _line(caplog.records[0])
    expected = {"message": "request", "method": "GET", "path": "/search", "status": 200, "ms": 12.3}
    assert expected.items() <= line.items()
