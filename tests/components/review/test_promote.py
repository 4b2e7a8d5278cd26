"""Promotion tells what became of each coin until somebody has read it."""

from components.review import promote
from store.library import Library
from tests.browser.coins import COINS
from tests.components.grid.decisions import decide, entry
from tests.pages.conftest import finish_jobs, opened, rerun, send, words


def test_promotion_summaries_stay_visible(library: Library) -> None:
    library.degrade([COINS[0].address, COINS[1].address])
    app = send(opened("approved"), "promote-all")
    finish_jobs()
    assert "**2 promoted** · tester" in words(rerun(app))
    assert "**2 promoted** · tester" in words(opened("approved"))


def test_a_copy_is_promoted_only_if_that_is_wanted_all_the_same(library: Library) -> None:
    copy, original, other = (coin.address for coin in COINS[:3])
    library.degrade([copy, other])
    library.duplicates.judge(copy, "copy of", [original])
    send(opened("approved"), "promote-all")
    finish_jobs()
    assert (library.get(copy).tier, library.get(other).tier) == ("approved", "library")
    asks = {**entry("promote"), "addresses": [copy]}
    [asked] = decide(library, asks)
    assert asked["refused"] == [{"item": copy, "reason": f"judged a copy of {COINS[1].name}"}]
    assert asked["again"] == {copy: library.get(copy).revision}
    assert (
        promote.marks(library, [library.get(copy)])(library.get(copy))["label"]
        == f"a copy of {COINS[1].name}"
    )
    decide(library, {**entry("promote", is_sure=True), "addresses": [copy]})
    finish_jobs()
    assert library.get(copy).tier == "library"
