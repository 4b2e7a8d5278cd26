"""The approved queue: what is ready, what is not and why, and that what failed keeps its reason."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from components.grid import tags as grid_tags
from components.grid.decision_log import BOOT, Ledger
from components.grid.logged_decision import LoggedDecision
from components.grid.matching import offered
from components.review.promote import handler, marks
from store.catalog.filters import Filter
from store.duplicates.duplicates import Duplicates
from store.errors import ModelUnavailable
from store.library import Library
from store.reading.reader import Reader
from store.runtime import open_library
from store.tasks import tags as tags_task
from tests.browser.coins import COINS, DOG, FROG, PENDING, UNCAPTIONED
from tests.pages.conftest import finish_jobs, opened, press, ran, words
from tests.store.conftest import address, coin
from tests.store.hashed import Hashed


def entry(verb: str, *addresses: str, n: int = 1, **more: Any) -> LoggedDecision:
    return LoggedDecision(n=n, verb=verb, addresses=list(addresses), seen={}, reason="", boot=BOOT, **more)


@pytest.fixture
def troubled(library: Library, monkeypatch: pytest.MonkeyPatch) -> Library:
    """A captioned coin that the model could not embed, so that it was not promoted."""

    def fail(*_: object) -> None:
        raise ModelUnavailable("the model has no memory left")

    library.degrade([DOG.address])
    library.caption(DOG.address, caption={"entity": "quite another dog"})
    with monkeypatch.context() as for_a_while:
        for_a_while.setattr(Hashed, "embed_texts", fail)
        assert library.promote([DOG.address]).refused
    return library


def test_what_was_refused_needs_attention_and_says_why_also_after_a_restart(troubled: Library) -> None:
    reason = troubled.blockers([DOG.address])[DOG.address]
    with Reader(troubled.layout.root) as again:
        assert again.blockers([DOG.address]) == {DOG.address: reason}
    assert troubled.addresses(Filter(tier="approved", troubled=True)) == [DOG.address]
    mark = marks(troubled, [troubled.get(DOG.address)])(troubled.get(DOG.address))
    assert mark == {"label": reason, "tone": "bad"}
    app = opened("approved")
    assert "0 ready · 1 needs a caption · 1 needs attention" in words(app)


def test_a_reason_stands_until_the_coin_is_changed_or_goes_on(troubled: Library) -> None:
    troubled.edit_tags([DOG.address], add=["moon"])
    assert troubled.blockers([DOG.address]) == {}
    assert troubled.addresses(Filter(tier="approved", captioned=True, troubled=False)) == [DOG.address]
    assert troubled.promote([DOG.address]).done == [DOG.address]


def test_each_part_of_the_queue_has_its_own_link(troubled: Library) -> None:
    for part, count in {"Ready": 0, "Needs caption": 1, "Needs attention": 1, "All": 2}.items():
        app = opened("approved", approved_show=part)
        assert ("No matches." in words(app)) is (count == 0), part


def test_what_a_coin_needs_is_on_its_card(library: Library) -> None:
    library.caption(UNCAPTIONED.address, caption={"entity": "a frog"})
    record = library.get(UNCAPTIONED.address)
    assert marks(library, [record])(record) == {"label": "needs context", "tone": "warn"}
    outcome = handler(library)(entry("promote", record.address))
    assert outcome is not None
    assert "write context (e)" in outcome.refused[0].reason


def test_the_summaries_of_promotions_are_there_afterwards(library: Library) -> None:
    library.degrade([COINS[0].address, COINS[1].address])
    app = press(opened("approved"), "Promote all 2 that are ready")
    finish_jobs()
    assert "**2 promoted** · tester" in words(ran(app))
    assert "**2 promoted** · tester" in words(opened("approved"))


# -- all that match ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hundreds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library of more pending coins than one operation holds; to be copied, not used."""
    with open_library(tmp_path_factory.mktemp("hundreds"), embedder=Hashed()) as library:
        assert len(library.add(coin(number) for number in range(300)).done) == 300
    return library.layout.root


@pytest.fixture
def copied(hundreds: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(hundreds, tmp_path, dirs_exist_ok=True))


@pytest.fixture
def many(copied: Path, empty: Library) -> Library:
    """The same, opened as the pages will have it."""
    assert empty.layout.root == copied
    assert empty.counts()["pending"] == 300
    return empty


def everything(library: Library) -> dict[str, Any]:
    filter = Filter(tier="pending")
    return dict(offered(library, filter, total=library.count(filter)))


def test_deciding_on_all_that_match_does_not_hold_up_the_page_and_is_one_decision(many: Library) -> None:
    many.approve([address(299)])
    ledger = Ledger()
    ledger.apply(many, "page", [entry("approve", matching=everything(many))], handlers={})
    assert ledger.confirmed(["page"])["page"]["results"][0]["refused"] == []
    (job,) = many.jobs.all()
    assert (job.name, job.total) == ("Approve 299 coins", 299)
    assert many.jobs.wait(job.id, timeout=60)
    assert many.counts()["approved"] == 300
    many.undo()
    assert many.counts() == {"pending": 299, "approved": 1, "library": 0, "trash": 0}


def test_stopping_keeps_what_is_done_and_undo_takes_back_just_that(many: Library) -> None:
    before = len(many.decisions(limit=100))
    seen: list[int] = []

    def stop(verb: str, addresses: Any, **rest: Any) -> Any:
        seen.append(len(list(addresses)))
        many.jobs.cancel(many.jobs.all()[0].id)
        return moved(verb, addresses, **rest)

    moved: Callable[..., Any] = many.move
    many.move = stop  # type: ignore[method-assign]
    Ledger().apply(many, "page", [entry("reject", matching=everything(many))], handlers={})
    job = many.jobs.all()[0]
    assert many.jobs.wait(job.id, timeout=60)
    assert seen == [256]
    assert many.counts()["trash"] == 256
    assert len(many.decisions(limit=100)) == before + 1
    many.undo()
    assert many.counts()["pending"] == 300


def test_undo_of_what_still_waits_stops_it_and_nothing_older_is_taken_back(many: Library) -> None:
    many.approve([address(0)])
    many.jobs._runner._is_closing = True  # type: ignore[union-attr]  # nothing begins
    Ledger().apply(many, "page", [entry("approve", matching=everything(many))], handlers={})
    assert many.undo().done == []
    assert many.jobs.all()[0].state == "cancelled"
    assert many.get(address(0)).tier == "approved"
    assert many.undo().done == [address(0)]


# -- tags --------------------------------------------------------------------------------------------------


def test_tags_are_given_and_taken_by_the_numbered_log(library: Library) -> None:
    before = library.get(PENDING.address).tags
    Ledger().apply(library, "page", [entry("tag", PENDING.address, add=["moon"])], handlers={})
    assert library.get(PENDING.address).tags == [*before, "moon"]
    Ledger().apply(library, "page", [entry("tag", PENDING.address, n=2, remove=["moon"])], handlers={})
    assert library.get(PENDING.address).tags == before
    assert [decision.verb for decision in library.decisions(limit=2)] == ["tag", "tag"]


def test_the_dialog_for_tags_knows_all_tags_and_those_of_the_chosen_coins(library: Library) -> None:
    library.edit_tags([PENDING.address], add=["moon"])
    told = json.loads(bytes(grid_tags.answer(library, {"addresses": [PENDING.address, FROG.address]}).body))
    assert told["has"] == {"moon": 1, "frog": 1}
    known = {tag: (category, coins) for tag, category, coins in told["known"]}
    assert known["moon"] == (library.taxonomy.category("moon"), 1)
    assert known.keys() >= {"dog", "cat", *library.taxonomy.tags}


def test_coins_that_do_not_follow_an_edited_file_are_made_to(library: Library) -> None:
    (library.layout.root / "taxonomy.json").write_text('{"dog": "hounds"}')
    behind = len(tags_task.straying(library, library.taxonomy))
    assert behind
    app = press(opened("tags"), "Let them follow")
    finish_jobs()
    assert tags_task.straying(library, library.taxonomy) == []
    assert "do not follow" not in words(ran(app))


def test_a_viewer_sees_tags_and_taxonomy_and_no_way_to_change_them(library: Library) -> None:
    app = opened("tags", reading_only=True)
    assert not [button for button in app.button if button.label.startswith(("Rename", "Save"))]
    assert len(app.dataframe) == 2


# -- logos -------------------------------------------------------------------------------------------------


def test_logos_on_the_network_are_offered_and_fetched_only_when_asked_for(
    library: Library, tmp_path: Path
) -> None:
    path = tmp_path / "list.json"
    token = {"chainId": 1, "address": address(7), "name": "Far", "symbol": "F"}
    path.write_text(
        json.dumps({"name": "list", "tokens": [{**token, "logoURI": "http://127.0.0.1:9/a.png"}]})
    )
    app = opened()
    next(one for one in app.text_input if one.key == "memedex.path").set_value(str(path))
    press(app, "Import path")
    finish_jobs()
    assert [job.kind for job in library.jobs.all()] == [""]
    press(ran(app), "Fetch 1 logo from the network")
    finish_jobs()
    job = library.jobs.all()[0]
    assert (job.kind, job.refused) == ("logos", 1)
    assert "not on the public internet" in library.jobs.items(job.id)[0].reason


def test_pending_says_how_many_coins_are_still_to_be_compared(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Duplicates, "unexamined", lambda self: 1_234)
    assert "1,234 to compare" in words(opened("pending"))
    monkeypatch.setattr(Duplicates, "unexamined", lambda self: 0)
    assert "to compare" not in words(opened("pending"))
