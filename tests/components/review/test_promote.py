"""Promotion tells what became of each coin until somebody has read it."""

from store.library import Library
from tests.browser.coins import COINS
from tests.pages.conftest import finish_jobs, opened, rerun, send, words


def test_promotion_summaries_stay_visible(library: Library) -> None:
    library.degrade([COINS[0].address, COINS[1].address])
    app = send(opened("approved"), "promote-all")
    finish_jobs()
    assert "**2 promoted** · tester" in words(rerun(app))
    assert "**2 promoted** · tester" in words(opened("approved"))
