"""Messages carried from one run of a page to the next."""

from types import SimpleNamespace

import pytest

from components.shell.session import session


def test_messages_of_an_interrupted_run_are_shown_by_the_next_run(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []

    def toast(message: str, *, icon: str | None) -> None:
        if message == "second" and not overtaken:
            overtaken.append(True)
            raise InterruptedError  # as Streamlit does with a run that a newer one overtakes
        shown.append(message)

    overtaken: list[bool] = []
    monkeypatch.setattr(session, "st", SimpleNamespace(session_state={}, toast=toast))
    for message in ("first", "second", "third"):
        session.queue_message(message)
    with pytest.raises(InterruptedError):
        session.show_messages()
    session.show_messages()
    session.show_messages()
    assert shown == ["first", "second", "third"]
