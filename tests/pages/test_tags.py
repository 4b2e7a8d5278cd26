"""Tags are added and removed through the log of decisions."""

import json
from typing import Any

from components.grid import tags as grid_tags
from components.grid.decision_log import BOOT, AppliedDecisions
from components.grid.logged_decision import LoggedDecision
from store.library import Library
from store.search.tag_suggestions import LEAST
from tests.browser.coins import FROG, PENDING


def entry(verb: str, *addresses: str, n: int = 1, **more: Any) -> LoggedDecision:
    return LoggedDecision(n=n, verb=verb, addresses=list(addresses), seen={}, reason="", boot=BOOT, **more)


def test_tags_are_added_and_removed_through_the_decision_log(library: Library) -> None:
    before = library.get(PENDING.address).tags
    AppliedDecisions().apply(library, "page", [entry("tag", PENDING.address, add=["moon"])], handlers={})
    assert library.get(PENDING.address).tags == [*before, "moon"]
    AppliedDecisions().apply(
        library, "page", [entry("tag", PENDING.address, n=2, remove=["moon"])], handlers={}
    )
    assert library.get(PENDING.address).tags == before
    assert [decision.verb for decision in library.decisions(limit=2)] == ["tag", "tag"]


def test_the_tag_dialog_knows_all_tags_and_those_of_the_selected_coins(library: Library) -> None:
    library.edit_tags([PENDING.address], add=["moon"])
    tag_answer = json.loads(
        bytes(grid_tags.answer(library, {"addresses": [PENDING.address, FROG.address]}).body)
    )
    assert tag_answer["has"] == {"moon": 1, "frog": 1}
    known = {tag: (category, coins) for tag, category, coins in tag_answer["known"]}
    assert known["moon"] == (library.taxonomy.category("moon"), 1)
    assert known.keys() >= {"dog", "cat", *library.taxonomy.tags}


def test_the_tag_dialog_suggests_what_similar_coins_have_for_the_coins_that_lack_it(library: Library) -> None:
    def suggested(*addresses: str) -> dict[str, tuple[float, list[str]]]:
        message = {"addresses": list(addresses), "suggest": True}
        answer = json.loads(bytes(grid_tags.answer(library, message).body))
        return {tag: (confidence, coins) for tag, confidence, coins in answer["suggested"]}

    others = [address for address in library.snapshot().addresses if address != FROG.address]
    library.edit_tags(others, add=["coin"])
    confidence, coins = suggested(FROG.address, *others)["coin"]
    assert coins == [FROG.address]
    assert LEAST <= confidence <= 1
    library.edit_tags([FROG.address], add=["coin"])
    assert "coin" not in suggested(FROG.address, *others)
