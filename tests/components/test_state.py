"""What is said between runs of a page."""

from types import SimpleNamespace

import pytest

from components import state


def test_what_an_overtaken_run_had_to_say_the_next_one_says(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []

    def toast(message: str, *, icon: str | None) -> None:
        if message == "second" and not overtaken:
            overtaken.append(True)
            raise InterruptedError  # as Streamlit does with a run that a newer one overtakes
        shown.append(message)

    overtaken: list[bool] = []
    monkeypatch.setattr(state, "st", SimpleNamespace(session_state={}, toast=toast))
    for message in ("first", "second", "third"):
        state.say(message)
    with pytest.raises(InterruptedError):
        state.show_what_was_said()
    state.show_what_was_said()
    state.show_what_was_said()
    assert shown == ["first", "second", "third"]
