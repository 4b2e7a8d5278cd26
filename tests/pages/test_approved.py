"""The approved queue: ready coins, blocked coins, and all that match."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from components.grid.matching import offered
from components.review.promote import marks
from store.catalog.filters import Filter
from store.errors import ModelUnavailable
from store.library import Library
from store.reading.reader import Reader
from store.runtime import open_library
from tests.browser.coins import DOG, UNCAPTIONED
from tests.components.grid.decisions import decide, entry
from tests.pages.conftest import opened, words
from tests.store.conftest import address, coin
from tests.store.hashed import Hashed


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
    assert "1 needs attention" in words(app)


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
    [answer] = decide(library, {**entry("promote"), "addresses": [record.address]})
    assert "write context on Captions" in answer["refused"][0]["reason"]


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


@pytest.mark.slow
def test_deciding_on_all_matching_coins_is_one_background_decision(many_coins: Library) -> None:
    many_coins.approve([address(299)])
    [answer] = decide(many_coins, entry("approve", matching=everything(many_coins)))
    assert answer["refused"] == []
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
    decide(many_coins, entry("reject", matching=everything(many_coins)))
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
    decide(many_coins, entry("approve", matching=everything(many_coins)))
    assert many_coins.undo().done == []
    assert many_coins.jobs.all()[0].state == "cancelled"
    assert many_coins.get(address(0)).tier == "approved"
    assert many_coins.undo().done == [address(0)]
