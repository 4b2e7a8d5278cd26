"""Review: a wave of copies is one line with one button, and one undo takes it back."""

import pytest

from components.review import waves
from store.library import Library
from tests.pages.conftest import finish_jobs, opened, press, words
from tests.store.conftest import address, coin
from tests.store.rules.conftest import ORIGINAL, copied


def test_a_wave_is_rejected_by_one_button_and_comes_back(library: Library) -> None:
    library.add([coin(1, token_name="Dogecoin", ticker="DOGE")])
    library.approve([ORIGINAL])
    library.add([copied(number, of=1, ticker=f"T{number}") for number in range(2, 14)])
    library.duplicates.examine()
    app = opened("review")
    assert "12 coins like Dogecoin" in words(app)
    assert "Look, with exceptions" in [link.label for link in app.main.page_link]
    app = press(app, "Reject 12")
    finish_jobs()
    assert {library.get(address(number)).tier for number in range(2, 14)} == {"trash"}
    assert "coins like" not in words(opened("review"))
    library.undo(actor="tester")
    assert "12 coins like Dogecoin" in words(opened("review"))
    assert "coins like" not in words(opened("review", pending_words="fish")), (
        "a filtered page is another question"
    )


def test_the_next_wave_is_shown_as_soon_as_the_largest_are_settled(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waves, "_SHOWN", 1)
    library.add([copied(number, of=number % 2, ticker=f"T{number}") for number in range(1, 24)])
    library.duplicates.examine()
    press(opened("review"), "Reject 11")
    finish_jobs()
    assert "10 coins like" in words(opened("review"))
