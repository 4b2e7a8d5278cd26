"""Tags are added and removed, and the dialog knows those there are."""

from components.grid import tags as grid_tags
from components.shell.server.messages import Sender
from store.library import Library
from store.search.tag_suggestions import LEAST
from tests.browser.coins import FROG, PENDING
from tests.components.grid.decisions import decide, entry


def test_tags_are_added_and_removed_by_decisions_of_a_grid(library: Library) -> None:
    before, coin = library.get(PENDING.address).tags, {"addresses": [PENDING.address]}
    decide(library, {**entry("tag", add=["moon"]), **coin})
    assert library.get(PENDING.address).tags == [*before, "moon"]
    decide(library, {**entry("tag", remove=["moon"]), **coin})
    assert library.get(PENDING.address).tags == before
    assert [decision.verb for decision in library.decisions(limit=2)] == ["tag", "tag"]


def test_the_tag_dialog_knows_all_tags_and_those_of_the_selected_coins(library: Library) -> None:
    library.edit_tags([PENDING.address], add=["moon"])
    question = grid_tags.TagQuestion([PENDING.address, FROG.address])
    tag_answer = grid_tags.answer(library, question, Sender(""))
    assert tag_answer["has"] == {"moon": 1, "frog": 1}
    known = {tag: (category, coins) for tag, category, coins in tag_answer["known"]}
    assert known["moon"] == (library.taxonomy.category("moon"), 1)
    assert known.keys() >= {"dog", "cat", *library.taxonomy.tags}


def test_the_tag_dialog_suggests_what_similar_coins_have_for_the_coins_that_lack_it(library: Library) -> None:
    def suggested(*addresses: str) -> dict[str, tuple[float, list[str]]]:
        question = grid_tags.TagQuestion(list(addresses), suggest=True)
        answer = grid_tags.answer(library, question, Sender(""))
        return {tag: (confidence, coins) for tag, confidence, coins in answer["suggested"]}

    others = [address for address in library.snapshot().addresses if address != FROG.address]
    library.edit_tags(others, add=["coin"])
    confidence, coins = suggested(FROG.address, *others)["coin"]
    assert coins == [FROG.address]
    assert LEAST <= confidence <= 1
    library.edit_tags([FROG.address], add=["coin"])
    assert "coin" not in suggested(FROG.address, *others)
