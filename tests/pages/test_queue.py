"""The approved queue: ready coins, blocked coins, and the stored reasons of failures."""

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
from tests.pages.conftest import finish_jobs, opened, press, rerun, words
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


def test_a_refused_coin_needs_attention_and_keeps_its_reason_after_a_restart(troubled: Library) -> None:
    reason = troubled.blockers([DOG.address])[DOG.address]
    with Reader(troubled.layout.root) as again:
        assert again.blockers([DOG.address]) == {DOG.address: reason}
    assert troubled.addresses(Filter(tier="approved", troubled=True)) == [DOG.address]
    mark = marks(troubled, [troubled.get(DOG.address)])(troubled.get(DOG.address))
    assert mark == {"label": reason, "tone": "bad"}
    app = opened("approved")
    assert "0 ready · 1 needs a caption · 1 needs attention" in words(app)


def test_a_reason_is_cleared_when_the_coin_changes_and_can_be_promoted(troubled: Library) -> None:
    troubled.edit_tags([DOG.address], add=["moon"])
    assert troubled.blockers([DOG.address]) == {}
    assert troubled.addresses(Filter(tier="approved", captioned=True, troubled=False)) == [DOG.address]
    assert troubled.promote([DOG.address]).done == [DOG.address]


def test_each_part_of_the_queue_has_its_own_link(troubled: Library) -> None:
    for part, count in {"Ready": 0, "Needs caption": 1, "Needs attention": 1, "All": 2}.items():
        app = opened("approved", approved_show=part)
        assert ("No matches." in words(app)) is (count == 0), part


def test_a_card_shows_what_its_coin_needs(library: Library) -> None:
    library.caption(UNCAPTIONED.address, caption={"entity": "a frog"})
    record = library.get(UNCAPTIONED.address)
    assert marks(library, [record])(record) == {"label": "needs context", "tone": "warn"}
    outcome = handler(library)(entry("promote", record.address))
    assert outcome is not None
    assert "write context (e)" in outcome.refused[0].reason


def test_promotion_summaries_stay_visible(library: Library) -> None:
    library.degrade([COINS[0].address, COINS[1].address])
    app = press(opened("approved"), "Promote all 2 that are ready")
    finish_jobs()
    assert "**2 promoted** · tester" in words(rerun(app))
    assert "**2 promoted** · tester" in words(opened("approved"))


# -- all that match ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hundreds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library with more pending coins than one operation holds; to be copied, not used directly."""
    with open_library(tmp_path_factory.mktemp("hundreds"), embedder=Hashed()) as library:
        assert len(library.add(coin(number) for number in range(300)).done) == 300
    return library.layout.root


@pytest.fixture
def copied(hundreds: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(hundreds, tmp_path, dirs_exist_ok=True))


@pytest.fixture
def many_coins(copied: Path, empty: Library) -> Library:
    """The same library, opened as the pages open it."""
    assert empty.layout.root == copied
    assert empty.counts()["pending"] == 300
    return empty


def everything(library: Library) -> dict[str, Any]:
    filter = Filter(tier="pending")
    return dict(offered(library, filter, total=library.count(filter)))


def test_deciding_on_all_matching_coins_is_one_background_decision(many_coins: Library) -> None:
    many_coins.approve([address(299)])
    decision_log = Ledger()
    decision_log.apply(many_coins, "page", [entry("approve", matching=everything(many_coins))], handlers={})
    assert decision_log.confirmed(["page"])["page"]["results"][0]["refused"] == []
    (job,) = many_coins.jobs.all()
    assert (job.name, job.total) == ("Approve 299 coins", 299)
    assert many_coins.jobs.wait(job.id, timeout=60)
    assert many_coins.counts()["approved"] == 300
    many_coins.undo()
    assert many_coins.counts() == {"pending": 299, "approved": 1, "library": 0, "trash": 0}


def test_a_cancelled_job_keeps_what_is_done_and_undo_reverts_it(many_coins: Library) -> None:
    before = len(many_coins.decisions(limit=100))
    seen: list[int] = []

    def stop(verb: str, addresses: Any, **rest: Any) -> Any:
        seen.append(len(list(addresses)))
        many_coins.jobs.cancel(many_coins.jobs.all()[0].id)
        return moved(verb, addresses, **rest)

    moved: Callable[..., Any] = many_coins.move
    many_coins.move = stop  # type: ignore[method-assign]
    Ledger().apply(many_coins, "page", [entry("reject", matching=everything(many_coins))], handlers={})
    job = many_coins.jobs.all()[0]
    assert many_coins.jobs.wait(job.id, timeout=60)
    assert seen == [256]
    assert many_coins.counts()["trash"] == 256
    assert len(many_coins.decisions(limit=100)) == before + 1
    many_coins.undo()
    assert many_coins.counts()["pending"] == 300


def test_undoing_a_waiting_job_cancels_it_and_nothing_older(many_coins: Library) -> None:
    many_coins.approve([address(0)])
    many_coins.jobs._runner._is_closing = True  # type: ignore[union-attr]  # nothing begins
    Ledger().apply(many_coins, "page", [entry("approve", matching=everything(many_coins))], handlers={})
    assert many_coins.undo().done == []
    assert many_coins.jobs.all()[0].state == "cancelled"
    assert many_coins.get(address(0)).tier == "approved"
    assert many_coins.undo().done == [address(0)]


# -- tags --------------------------------------------------------------------------------------------------


def test_tags_are_added_and_removed_through_the_decision_log(library: Library) -> None:
    before = library.get(PENDING.address).tags
    Ledger().apply(library, "page", [entry("tag", PENDING.address, add=["moon"])], handlers={})
    assert library.get(PENDING.address).tags == [*before, "moon"]
    Ledger().apply(library, "page", [entry("tag", PENDING.address, n=2, remove=["moon"])], handlers={})
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


def test_coins_are_updated_to_an_edited_taxonomy_file(library: Library) -> None:
    (library.layout.root / "taxonomy.json").write_text('{"dog": "hounds"}')
    behind = len(tags_task.straying(library, library.taxonomy))
    assert behind
    app = press(opened("tags"), "Let them follow")
    finish_jobs()
    assert tags_task.straying(library, library.taxonomy) == []
    assert "do not follow" not in words(rerun(app))


def test_a_viewer_sees_tags_and_taxonomy_but_cannot_change_them(library: Library) -> None:
    app = opened("tags", reading_only=True)
    assert not [button for button in app.button if button.label.startswith(("Rename", "Save"))]
    assert len(app.dataframe) == 2


# -- logos -------------------------------------------------------------------------------------------------


def test_logos_are_fetched_from_the_network_only_on_request(library: Library, tmp_path: Path) -> None:
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
    press(rerun(app), "Fetch 1 logo from the network")
    finish_jobs()
    job = library.jobs.all()[0]
    assert (job.kind, job.refused) == ("logos", 1)
    assert "not on the public internet" in library.jobs.items(job.id)[0].reason


def test_review_says_how_many_coins_are_still_to_be_compared(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Duplicates, "unexamined", lambda self: 1_234)
    assert "1,234 to compare" in words(opened("pending"))
    monkeypatch.setattr(Duplicates, "unexamined", lambda self: 0)
    assert "to compare" not in words(opened("pending"))
