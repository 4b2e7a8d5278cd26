"""The library's verbs: what each does, what it refuses, and what it leaves on disk."""

import json
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from store.catalog import rows
from store.catalog.filters import Filter
from store.errors import UnknownRecord
from store.importing.candidate import Candidate
from store.library import Library
from store.outcome import Refusal
from store.progress import Progress
from store.runtime import open_library, open_reader
from store.search.query import Part, Query
from store.writing import transitions
from tests.store.conftest import (
    CREATED_AT,
    address,
    approved_with_caption,
    coin,
    normal_picture,
    picture,
    written,
)
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


# -- import ------------------------------------------------------------------------------------------------


def test_import_writes_a_sidecar_and_a_normalised_picture_to_pending(library: Library) -> None:
    report = library.add([Candidate("one", {**coin(0).sidecar, "extra": {"kept": [1]}}, picture(0))])
    assert report.done == [FIRST]
    assert json.loads(library.layout.sidecar("pending", FIRST).read_text()) == {
        "token_name": "Coin 0",
        "ticker": "C0",
        "description": "The coin number 0.",
        "token_address": FIRST,
        "created_at": CREATED_AT,
        "tags": ["dog"],
        "tags_categories": ["animals"],
        "extra": {"kept": [1]},
    }
    assert library.layout.image("pending", FIRST).read_bytes() == normal_picture(0)
    holds(library)


def test_importing_again_adds_only_new_coins(library: Library) -> None:
    library.add([coin(0), coin(1)])
    library.approve([FIRST])
    report = library.add([coin(0, token_name="Another"), coin(1), coin(1), coin(2)])
    assert report.done == [THIRD]
    assert report.present == {FIRST: "approved", SECOND: "pending"}
    assert library.get(FIRST).name == "Coin 0"
    assert [event.verb for event in library.history(address=FIRST)] == ["approve", "import"]


def test_import_recognises_coins_in_the_trash(library: Library) -> None:
    library.add([coin(0)])
    library.reject([FIRST])
    assert library.add([coin(0)]).present == {FIRST: "trash"}
    assert library.counts()["trash"] == 1


def test_import_adds_valid_coins_and_reports_invalid_ones(library: Library) -> None:
    report = library.add(
        [
            coin(0),
            Candidate("no address", {"token_name": "x", "token_address": "../../etc/passwd"}, picture(1)),
            Candidate("no picture", coin(1).sidecar, b"this is text"),
            Candidate("no name", {"token_address": address(3)}, picture(1)),
            Candidate("too long", {**coin(4).sidecar, "token_name": "x" * 10_000_000}, picture(1)),
            Refusal("unreadable", "was refused before"),
            coin(2),
        ]
    )
    assert report.done == [FIRST, THIRD]
    assert {refusal.item for refusal in report.refused} == {
        "no address", "no picture", "no name", "too long", "unreadable"
    }  # fmt: skip
    assert all(refusal.reason for refusal in report.refused)
    holds(library)


def test_import_accepts_a_valid_duplicate_after_an_invalid_one(library: Library) -> None:
    good = coin(0)
    report = library.add([Candidate("spoilt", good.sidecar, b"spoilt"), good, good])
    assert report.done == [FIRST]
    assert report.present == {FIRST: "pending"}
    assert [refusal.item for refusal in report.refused] == ["spoilt"]


def test_import_refuses_an_address_that_differs_only_in_case(library: Library) -> None:
    library.add([coin(0)])
    later = library.add([coin(0, token_address=FIRST.replace("x", "X"))])
    at_once = library.add([coin(3), coin(3, token_address=address(3).replace("x", "X"))])
    for report in (later, at_once):
        assert "only in upper and lower case" in report.refused[0].reason
    assert library.counts()["pending"] == 2


def test_import_writes_evm_addresses_in_lower_case(library: Library) -> None:
    assert library.add([coin(1, token_address=SECOND.upper().replace("0X", "0x"))]).done == [SECOND]


def test_import_dates_an_undated_coin_with_the_import_time(library: Library) -> None:
    sidecar = {key: value for key, value in coin(0).sidecar.items() if key != "created_at"}
    library.add([Candidate("undated", sidecar, picture(0))])
    assert library.get(FIRST).created_at > CREATED_AT
    assert library.get(FIRST).sidecar["created_at_is_import_time"] is True


def test_a_cancelled_import_keeps_the_coins_added_so_far(library: Library, small_batches: None) -> None:
    progress = Progress()

    def coins() -> Iterator[Candidate]:
        for number in range(10):
            if number == 5:
                progress.cancel()
            yield coin(number)

    assert len(library.add(coins(), progress=progress).done) == progress.done == 8


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


def create_in_tier(library: Library, tier: str, *numbers: int) -> list[str]:
    """Create captioned coins in this tier and return their addresses."""
    addresses = approved_with_caption(library, *numbers)
    if tier == "pending":
        library.send_back(addresses)
    elif tier == "library":
        library.promote(addresses)
    return addresses


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


def test_caption_changes_only_the_given_facets(library: Library) -> None:
    create_in_tier(library, "approved", 0)
    library.caption(FIRST, caption={"visual": "", "emotions": "calm", "context": None})
    assert library.get(FIRST).caption == {"entity": "text 0 entity", "visual": "", "emotions": "calm"}
    assert "context" not in json.loads(library.layout.sidecar("approved", FIRST).read_text())["caption"]
    holds(library)


def test_caption_refuses_to_empty_a_required_facet_in_the_library(library: Library) -> None:
    create_in_tier(library, "library", 0)
    outcome = library.caption(FIRST, caption={"entity": ""})
    assert "caption.entity is empty" in outcome.refused[0].reason
    assert library.get(FIRST).caption == written("text 0")


def test_a_new_caption_is_searchable_immediately(library: Library) -> None:
    create_in_tier(library, "library", 0, 1)
    library.caption(FIRST, caption={"entity": "a violet zeppelin"})
    assert library.addresses(Filter(words="zepp")) == [FIRST]
    assert library.search(Query((Part(text="a violet zeppelin"),))).hits[0].address == FIRST
    assert library.addresses(Filter(words="text 0 entity")) == []


def test_caption_is_refused_when_the_record_changed_meanwhile(library: Library) -> None:
    create_in_tier(library, "approved", 0)
    seen = library.get(FIRST).revision
    library.edit_tags([FIRST], add=["moon"], actor="somebody")
    outcome = library.caption(FIRST, caption=written("mine"), revision=seen)
    assert "somebody else changed it" in outcome.refused[0].reason
    assert library.caption(FIRST, caption=written("mine"), revision=seen + 1).done == [FIRST]
    assert library.get(FIRST).tags == ["dog", "moon"]


def test_saving_a_caption_deletes_only_the_users_own_draft(library: Library) -> None:
    create_in_tier(library, "approved", 0)
    library.drafts.save(FIRST, {"entity": "half a sen"}, actor="ann")
    library.drafts.save(FIRST, {"entity": "something el"}, actor="bob")
    assert library.drafts.own(FIRST, actor="ann") == {"entity": "half a sen"}
    library.caption(FIRST, caption=written("half a sentence"), actor="ann")
    assert library.drafts.own(FIRST, actor="ann") is None
    assert [(draft.actor, draft.fields["entity"]) for draft in library.drafts.of(FIRST)] == [
        ("bob", "something el")
    ]


def test_a_draft_is_not_saved_when_replaces_returns_false(library: Library) -> None:
    create_in_tier(library, "approved", 0)
    library.drafts.save(FIRST, {"entity": "newer"}, actor="ann")
    stays = library.drafts.save(FIRST, {"entity": "older"}, actor="ann", replaces=lambda before: False)
    assert stays == library.drafts.own(FIRST, actor="ann") == {"entity": "newer"}
    assert library.drafts.save(FIRST, {"entity": "bob's"}, actor="bob", replaces=lambda before: False) is None
    assert library.drafts.own(FIRST, actor="bob") == {"entity": "bob's"}


def test_a_draft_replaces_an_unreadable_one(library: Library) -> None:
    create_in_tier(library, "approved", 0)
    library.drafts.save(FIRST, {"entity": "before"}, actor="ann")
    with library.catalog.writing() as db:
        db.execute("UPDATE drafts SET fields = '{'")
    assert library.drafts.save(FIRST, {"entity": "typed"}, actor="ann") is None
    assert library.drafts.own(FIRST, actor="ann") == {"entity": "typed"}


def test_tags_get_their_categories_from_the_taxonomy(library: Library) -> None:
    create_in_tier(library, "library", 0, 1)
    outcome = library.edit_tags([FIRST, SECOND], add=["moon", "my own", "dog"], remove=["cat"])
    assert outcome.done == [FIRST, SECOND]
    assert library.get(FIRST).tags == ["dog", "moon", "my own"]
    assert library.get(FIRST).categories == ["animals", "space", "other"]
    assert library.tag_counts(Filter(categories=("space",))) == {"dog": 2, "moon": 2, "my own": 2}
    holds(library)


def test_tag_counts_are_cached_until_the_library_changes(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = []
    count = rows.label_counts

    def counting(db: sqlite3.Connection, kind: str, filter: Filter) -> dict[str, int]:
        counted.append(filter)
        return count(db, kind, filter)

    monkeypatch.setattr(rows, "label_counts", counting)
    create_in_tier(library, "library", 0, 1)
    before = library.tag_counts(Filter())
    assert library.tag_counts(Filter()) == before
    assert len(counted) == 1
    library.edit_tags([FIRST], add=["entirely new"])
    assert library.tag_counts(Filter()) == {**before, "entirely new": 1}
    library.undo()
    assert library.tag_counts(Filter()) == before
    assert library.category_counts(Filter()) != before


def test_tags_cannot_contain_a_comma(library: Library) -> None:
    library.add([coin(0)])
    assert "comma" in library.edit_tags([FIRST], add=["a,b"]).refused[0].reason
    assert library.get(FIRST).tags == ["dog"]


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
