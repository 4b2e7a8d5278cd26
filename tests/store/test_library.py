"""The library's verbs: what each does, what it refuses, and what it leaves on disk."""

import shutil
from pathlib import Path

import pytest

from store.catalog.filters import Filter
from store.errors import UnknownRecord
from store.library import Library
from store.progress import Progress
from store.runtime import open_library, open_reader
from store.writing import transitions
from tests.store.conftest import address, coin, create_in_tier, normal_picture, written
from tests.store.hashed import Hashed
from tests.store.invariants import holds

FIRST, SECOND, THIRD = address(0), address(1), address(2)


pytestmark = pytest.mark.usefixtures("without_chroma")


@pytest.fixture
def root(quick_root: Path) -> Path:
    return quick_root


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Operations of four and five records instead of the usual limits of 64 and 256."""
    monkeypatch.setattr(transitions, "EMBEDDED", 4)
    monkeypatch.setattr(transitions, "OPERATION", 5)


def tier_of(library: Library, known: str) -> str:
    return library.get(known).tier


# -- verbs that move ---------------------------------------------------------------------------------------


MOVES = [
    ("approve", "pending", "approved"),
    ("send_back", "approved", "pending"),
    ("reject", "pending", "trash"),
    ("reject", "approved", "trash"),
    ("promote", "approved", "library"),
    ("degrade", "library", "approved"),
    ("delete", "pending", "trash"),
    ("delete", "approved", "trash"),
    ("delete", "library", "trash"),
]


@pytest.mark.parametrize(("verb", "source", "target"), MOVES)
def test_each_verb_moves_files_and_record_to_its_target_tier(
    library: Library, verb: str, source: str, target: str
) -> None:
    addresses = create_in_tier(library, source, 0, 1)
    sidecar = library.get(FIRST).sidecar
    assert getattr(library, verb)(addresses).done == addresses
    assert {tier_of(library, known) for known in addresses} == {target}
    assert library.get(FIRST).sidecar == sidecar
    assert library.layout.image(target, FIRST).read_bytes() == normal_picture(0)
    holds(library)


@pytest.mark.parametrize("verb", sorted({verb for verb, _, _ in MOVES} | {"restore"}))
def test_each_verb_refuses_records_of_other_tiers_and_moves_the_rest(library: Library, verb: str) -> None:
    sources = {source for own, source, _ in MOVES if own == verb} or {"trash"}
    create_in_tier(library, "pending", 0)
    create_in_tier(library, "approved", 1)
    create_in_tier(library, "library", 2)
    library.delete(create_in_tier(library, "approved", 3))
    tiers = {known: tier_of(library, known) for known in map(address, range(4))}
    outcome = getattr(library, verb)([*tiers, "local-unknown"])
    assert set(outcome.done) == {known for known, tier in tiers.items() if tier in sources}
    assert {refusal.item for refusal in outcome.refused} == {*tiers, "local-unknown"} - set(outcome.done)
    assert all(tier_of(library, known) == tiers[known] for known in tiers if known not in outcome.done)
    holds(library)


def test_restore_returns_each_record_to_its_former_tier(library: Library) -> None:
    places = {"pending": 0, "approved": 1, "library": 2}
    for tier, number in places.items():
        library.delete(create_in_tier(library, tier, number))
    assert library.counts()["trash"] == 3
    assert len(library.restore(map(address, range(3))).done) == 3
    assert {tier: tier_of(library, address(number)) for tier, number in places.items()} == {
        tier: tier for tier in places
    }
    holds(library)


def test_promote_refuses_incomplete_captions_and_names_the_missing_part(library: Library) -> None:
    library.add([coin(0), coin(1)])
    library.approve([FIRST, SECOND])
    library.caption(SECOND, caption={"entity": "a frog", "context": " "})
    outcome = library.promote([FIRST, SECOND])
    assert not outcome.done
    assert "caption is missing" in outcome.refused[0].reason
    assert "caption.context is empty" in outcome.refused[1].reason


def test_promote_reports_progress_and_can_be_cancelled_between_batches(
    library: Library, small_batches: None
) -> None:
    addresses = create_in_tier(library, "approved", *range(10))
    progress = Progress(total=10)
    assert len(library.promote(addresses, progress=progress).done) == 10
    assert (progress.done, progress.fraction) == (10, 1.0)
    library.degrade(addresses)
    progress = Progress()
    progress.cancel()
    assert library.promote(addresses, progress=progress).done == []


def test_promote_changes_nothing_when_the_model_fails(root: Path) -> None:
    class Failing(Hashed):
        def embed_texts(self, texts: object) -> None:  # type: ignore[override]
            raise OSError("the weights are gone")

    with open_library(root, embedder=Failing()) as library:
        assert isinstance(library, Library)
        addresses = create_in_tier(library, "approved", 0)
        outcome = library.promote(addresses)
        assert "the weights are gone" in outcome.refused[0].reason
        assert tier_of(library, FIRST) == "approved"
        holds(library)


# -- verbs that write --------------------------------------------------------------------------------------


def test_a_record_in_the_trash_cannot_be_edited(library: Library) -> None:
    library.add([coin(0)])
    library.delete([FIRST])
    assert "restore it first" in library.caption(FIRST, caption=written("x")).refused[0].reason
    assert "restore it first" in library.edit_tags([FIRST], add=["moon"]).refused[0].reason


def test_saving_unchanged_values_records_no_decision(library: Library) -> None:
    create_in_tier(library, "approved", 0)
    events = len(library.history())
    assert library.caption(FIRST, caption=written("text 0")).done == [FIRST]
    assert library.edit_tags([FIRST], add=["dog"]).done == [FIRST]
    assert len(library.history()) == events


def test_an_unknown_address_is_reported(library: Library) -> None:
    with pytest.raises(UnknownRecord, match="no record has the address"):
        library.get(FIRST)
    assert "no record" in library.caption(FIRST, caption=written("x")).refused[0].reason


def test_approving_nothing_records_no_decision(library: Library) -> None:
    outcome = library.approve([])
    assert (outcome.done, outcome.refused, outcome.decision) == ([], [], None)
    assert library.history() == []


# -- batches -----------------------------------------------------------------------------------------------


def test_a_batch_is_recorded_as_one_decision(library: Library, small_batches: None) -> None:
    library.add(coin(number) for number in range(12))
    everything = library.addresses(Filter())
    outcome = library.approve(everything, actor="ann")
    assert len(outcome.done) == 12
    assert [(made.verb, made.count) for made in library.decisions()] == [("approve", 12), ("import", 12)]
    assert len(library.undo(actor="ann").done) == 12
    assert library.counts()["pending"] == 12


def test_a_library_keeps_its_id_and_a_copy_gets_a_new_one(tmp_path: Path) -> None:
    root, copy, moved = tmp_path / "one", tmp_path / "copy", tmp_path / "link"
    with open_library(root) as library:
        first, secret = library.id, library.secret
    with open_reader(root) as reader:
        assert reader.id == first
    shutil.copytree(root, copy)
    moved.symlink_to(root)
    with open_reader(copy) as reader, open_reader(moved) as same:
        assert (reader.secret, same.id) == (secret, first)
        assert reader.id != first
