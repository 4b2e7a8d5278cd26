"""The number of a page: what the browser sent before it heard of a turned page does not turn it back."""

from types import SimpleNamespace

import pytest

from components.grid import page_number


class Session:
    """A session of Streamlit over ten pages, and the browser in front of it."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.state: dict[str, int] = {}
        self.fragments: list[str] = []
        patch.setattr(page_number.st, "session_state", self.state)
        patch.setattr(page_number.st, "pagination", lambda pages, key, **_: self.state.setdefault(key, 1))
        patch.setattr(
            page_number, "get_script_run_ctx", lambda: SimpleNamespace(fragment_ids_this_run=self.fragments)
        )

    def send(self, page: int, *, fragment: bool = False) -> None:
        """What the browser asks for, with the number that it shows."""
        self.fragments = ["follow"] if fragment else []
        if self.state.get("pending_page", 1) != page:
            self.state["pending_page"] = page
            page_number._changed("pending")

    def turn(self, verb: str, *, shown: int) -> None:
        self.send(shown)
        page_number.keep("pending")
        page_number.turning("pending")[verb]([])

    def run(self) -> int:
        return page_number.draw("pending", 10)


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Session:
    session = Session(monkeypatch)
    assert session.run() == 1
    return session


def test_a_click_on_a_number_leads_to_that_page(session: Session) -> None:
    session.send(7)
    assert session.run() == 7
    session.send(1)
    assert session.run() == 1


def test_two_keys_turn_two_pages_also_before_the_browser_has_heard_of_the_first(session: Session) -> None:
    session.turn("next", shown=1)
    session.turn("next", shown=1)
    assert session.run() == 3
    session.turn("previous", shown=3)
    assert session.run() == 2


def test_cards_that_send_again_do_not_turn_the_page_back(session: Session) -> None:
    session.turn("next", shown=1)
    assert session.run() == 2
    session.send(1)
    page_number.keep("pending")
    assert session.run() == 2


def test_a_timer_does_not_turn_the_page_back(session: Session) -> None:
    session.turn("next", shown=1)
    assert session.run() == 2
    session.send(1, fragment=True)
    assert session.run() == 2
    session.send(1)
    assert session.run() == 1, "somebody clicked"


def test_another_question_begins_at_the_first_page_also_where_it_is_asked_in_between(
    session: Session,
) -> None:
    session.send(5)
    session.run()
    page_number.turn_to("pending", 1)
    session.send(5, fragment=True)
    page_number.keep("pending")
    assert session.run() == 1


def test_pages_that_were_decided_away_lead_to_the_last(session: Session) -> None:
    session.send(10)
    session.run()
    assert page_number.draw("pending", 4) == 4
    assert page_number.draw("pending", 1) == 1
