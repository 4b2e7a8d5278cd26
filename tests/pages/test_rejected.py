"""Rejected: reasons are counted and filtered, coins are restored, and old ones deleted for good."""

import pytest
from streamlit.testing.v1 import AppTest

from store.errors import InvalidRecord
from store.library import Library
from tests.browser.coins import DOG, FROG, PENDING, UNCAPTIONED
from tests.pages.conftest import is_locked, opened, rerun, send, sendable, words
from tests.pages.test_browse import cards, shown


@pytest.fixture
def rejected(library: Library) -> Library:
    """Four rejected coins: two copies, one without a reason, one deleted from the library."""
    library.send_back([UNCAPTIONED.address])
    library.reject([PENDING.address], reason="copycat")
    library.reject([UNCAPTIONED.address], reason="scam")
    library.delete([FROG.address])
    return library


def marks(app: AppTest) -> dict[str, str]:
    """The corner of each card, by address."""
    return {card["address"]: (card["mark"] or {"label": ""})["label"] for card in cards(app)}


def test_each_card_names_its_reason_and_a_click_filters_by_it(rejected: Library) -> None:
    app = opened("library", tab="Rejected")
    app.session_state["trash-filters"] = True
    rerun(app)
    assert set(shown(app)) == {PENDING.address, UNCAPTIONED.address, FROG.address}
    assert set(app.pills(key="trash-by-reason").options) == {"copycat · 1", "scam · 1", "no reason · 1"}
    assert marks(app) == {PENDING.address: "copycat", UNCAPTIONED.address: "scam", FROG.address: ""}
    app.pills(key="trash-by-reason").set_value("scam")
    rerun(app)
    assert app.query_params["trash_words"] == "reason:scam"
    assert shown(app) == [UNCAPTIONED.address]
    assert shown(opened("library", tab="Rejected", trash_words="reason:none")) == [FROG.address]
    assert set(app.pills(key="trash-by-reason").options) == {"copycat · 1", "scam · 1", "no reason · 1"}


def test_old_coins_are_deleted_for_good_only_after_their_number_was_agreed_to(rejected: Library) -> None:
    app = opened("library", tab="Rejected")
    assert "No coin was rejected more than 30 days ago." in words(app)
    assert "trash-empty" not in sendable()
    app.number_input(key="trash-days").set_value(0)
    message = words(rerun(app))
    assert "3 coins with 6 files (" in message
    assert "cannot be undone" in message
    assert is_locked("trash-empty")
    app.checkbox(key="trash-agreed-3-0").set_value(True)
    rerun(app)
    (message,) = send(app, "trash-empty").toast
    assert message.value.startswith("3 coins deleted, ")
    assert rejected.counts()["trash"] == 0
    assert rejected.get(DOG.address).tier == "library"


def test_more_coins_than_were_agreed_to_are_not_deleted(rejected: Library) -> None:
    app = opened("library", tab="Rejected")
    app.number_input(key="trash-days").set_value(0)
    rerun(app)
    app.checkbox(key="trash-agreed-3-0").set_value(True)
    rerun(app)
    rejected.delete([DOG.address])
    with pytest.raises(InvalidRecord, match="4 rejected coins by now, not 3"):
        send(app, "trash-empty")
    assert rejected.counts()["trash"] == 4


def test_a_viewer_deletes_nothing(rejected: Library) -> None:
    app = opened("library", tab="Rejected", reading_only=True)
    assert sendable() == []
    assert not app.number_input


def test_without_rejected_coins_the_page_leads_to_review(library: Library) -> None:
    app = opened("library", tab="Rejected")
    assert "No coin is rejected." in words(app)
    assert "Review" in [link.label for link in app.main.page_link]
