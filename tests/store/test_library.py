"""The verbs, one after the other: what each does, what it refuses, and what is then on the disk."""

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
    """Operations of four records and of five, where they hold up to 64 and 256 in earnest."""
    monkeypatch.setattr(transitions, "EMBEDDED", 4)
    monkeypatch.setattr(transitions, "OPERATION", 5)


def tier_of(library: Library, known: str) -> str:
    return library.get(known).tier


# -- import ------------------------------------------------------------------------------------------------


def test_import_puts_a_sidecar_and_a_normal_picture_into_pending(library: Library) -> None:
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


def test_import_can_be_repeated_without_harm(library: Library) -> None:
    library.add([coin(0), coin(1)])
    library.approve([FIRST])
    report = library.add([coin(0, token_name="Another"), coin(1), coin(1), coin(2)])
    assert report.done == [THIRD]
    assert report.present == {FIRST: "approved", SECOND: "pending"}
    assert library.get(FIRST).name == "Coin 0"
    assert [event.verb for event in library.history(address=FIRST)] == ["approve", "import"]


def test_import_knows_what_lies_in_the_trash(library: Library) -> None:
    library.add([coin(0)])
    library.reject([FIRST])
    assert library.add([coin(0)]).present == {FIRST: "trash"}
    assert library.counts()["trash"] == 1


def test_import_takes_the_good_and_names_the_bad(library: Library) -> None:
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


def test_import_takes_the_second_of_two_when_the_first_is_no_good(library: Library) -> None:
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


def test_import_marks_a_coin_without_a_date_with_the_time_of_import(library: Library) -> None:
    sidecar = {key: value for key, value in coin(0).sidecar.items() if key != "created_at"}
    library.add([Candidate("undated", sidecar, picture(0))])
    assert library.get(FIRST).created_at > CREATED_AT
    assert library.get(FIRST).sidecar["created_at_is_import_time"] is True


def test_import_that_is_cancelled_keeps_what_is_done(library: Library, small_batches: None) -> None:
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


def bring(library: Library, tier: str, *numbers: int) -> list[str]:
    """Captioned coins in this tier."""
    addresses = approved_with_caption(library, *numbers)
    if tier == "pending":
        library.send_back(addresses)
    elif tier == "library":
        library.promote(addresses)
    return addresses


@pytest.mark.parametrize(("verb", "source", "target"), MOVES)
def test_a_verb_moves_files_and_record_from_tier_to_tier(
    library: Library, verb: str, source: str, target: str
) -> None:
    addresses = bring(library, source, 0, 1)
    sidecar = library.get(FIRST).sidecar
    assert getattr(library, verb)(addresses).done == addresses
    assert {tier_of(library, known) for known in addresses} == {target}
    assert library.get(FIRST).sidecar == sidecar
    assert library.layout.image(target, FIRST).read_bytes() == normal_picture(0)
    holds(library)


@pytest.mark.parametrize("verb", sorted({verb for verb, _, _ in MOVES} | {"restore"}))
def test_a_verb_refuses_each_record_of_another_tier_and_does_the_rest(library: Library, verb: str) -> None:
    sources = {source for own, source, _ in MOVES if own == verb} or {"trash"}
    bring(library, "pending", 0)
    bring(library, "approved", 1)
    bring(library, "library", 2)
    library.delete(bring(library, "approved", 3))
    tiers = {known: tier_of(library, known) for known in map(address, range(4))}
    outcome = getattr(library, verb)([*tiers, "local-unknown"])
    assert set(outcome.done) == {known for known, tier in tiers.items() if tier in sources}
    assert {refusal.item for refusal in outcome.refused} == {*tiers, "local-unknown"} - set(outcome.done)
    assert all(tier_of(library, known) == tiers[known] for known in tiers if known not in outcome.done)
    holds(library)


def test_restore_brings_each_back_to_where_it_was(library: Library) -> None:
    places = {"pending": 0, "approved": 1, "library": 2}
    for tier, number in places.items():
        library.delete(bring(library, tier, number))
    assert library.counts()["trash"] == 3
    assert len(library.restore(map(address, range(3))).done) == 3
    assert {tier: tier_of(library, address(number)) for tier, number in places.items()} == {
        tier: tier for tier in places
    }
    holds(library)


def test_promote_refuses_what_lacks_a_caption_and_says_which_part(library: Library) -> None:
    library.add([coin(0), coin(1)])
    library.approve([FIRST, SECOND])
    library.caption(SECOND, caption={"entity": "a frog", "context": " "})
    outcome = library.promote([FIRST, SECOND])
    assert not outcome.done
    assert "caption is missing" in outcome.refused[0].reason
    assert "caption.context is empty" in outcome.refused[1].reason


def test_promote_can_be_watched_and_cancelled_between_batches(library: Library, small_batches: None) -> None:
    addresses = bring(library, "approved", *range(10))
    progress = Progress(total=10)
    assert len(library.promote(addresses, progress=progress).done) == 10
    assert (progress.done, progress.fraction) == (10, 1.0)
    library.degrade(addresses)
    progress = Progress()
    progress.cancel()
    assert library.promote(addresses, progress=progress).done == []


def test_a_model_that_fails_refuses_the_promotion_and_changes_nothing(root: Path) -> None:
    class Failing(Hashed):
        def embed_texts(self, texts: object) -> None:  # type: ignore[override]
            raise OSError("the weights are gone")

    with open_library(root, embedder=Failing()) as library:
        assert isinstance(library, Library)
        addresses = bring(library, "approved", 0)
        outcome = library.promote(addresses)
        assert "the weights are gone" in outcome.refused[0].reason
        assert tier_of(library, FIRST) == "approved"
        holds(library)


# -- verbs that write --------------------------------------------------------------------------------------


def test_caption_writes_facets_and_leaves_the_others(library: Library) -> None:
    bring(library, "approved", 0)
    library.caption(FIRST, caption={"visual": "", "emotions": "calm", "context": None})
    assert library.get(FIRST).caption == {"entity": "text 0 entity", "visual": "", "emotions": "calm"}
    assert "context" not in json.loads(library.layout.sidecar("approved", FIRST).read_text())["caption"]
    holds(library)


def test_caption_in_the_library_needs_the_required_facets(library: Library) -> None:
    bring(library, "library", 0)
    outcome = library.caption(FIRST, caption={"entity": ""})
    assert "caption.entity is empty" in outcome.refused[0].reason
    assert library.get(FIRST).caption == written("text 0")


def test_caption_is_found_at_once(library: Library) -> None:
    bring(library, "library", 0, 1)
    library.caption(FIRST, caption={"entity": "a violet zeppelin"})
    assert library.addresses(Filter(words="zepp")) == [FIRST]
    assert library.search(Query((Part(text="a violet zeppelin"),))).hits[0].address == FIRST
    assert library.addresses(Filter(words="text 0 entity")) == []


def test_caption_of_a_record_that_somebody_changed_meanwhile_is_refused(library: Library) -> None:
    bring(library, "approved", 0)
    seen = library.get(FIRST).revision
    library.edit_tags([FIRST], add=["moon"], actor="somebody")
    outcome = library.caption(FIRST, caption=written("mine"), revision=seen)
    assert "somebody else changed it" in outcome.refused[0].reason
    assert library.caption(FIRST, caption=written("mine"), revision=seen + 1).done == [FIRST]
    assert library.get(FIRST).tags == ["dog", "moon"]


def test_caption_ends_ones_own_draft_and_nobody_elses(library: Library) -> None:
    bring(library, "approved", 0)
    library.drafts.save(FIRST, {"entity": "half a sen"}, actor="ann")
    library.drafts.save(FIRST, {"entity": "something el"}, actor="bob")
    assert library.drafts.own(FIRST, actor="ann") == {"entity": "half a sen"}
    library.caption(FIRST, caption=written("half a sentence"), actor="ann")
    assert library.drafts.own(FIRST, actor="ann") is None
    assert [(draft.actor, draft.fields["entity"]) for draft in library.drafts.of(FIRST)] == [
        ("bob", "something el")
    ]


def test_a_draft_that_does_not_replace_the_one_before_is_not_saved(library: Library) -> None:
    bring(library, "approved", 0)
    library.drafts.save(FIRST, {"entity": "newer"}, actor="ann")
    stays = library.drafts.save(FIRST, {"entity": "older"}, actor="ann", replaces=lambda before: False)
    assert stays == library.drafts.own(FIRST, actor="ann") == {"entity": "newer"}
    assert library.drafts.save(FIRST, {"entity": "bob's"}, actor="bob", replaces=lambda before: False) is None
    assert library.drafts.own(FIRST, actor="bob") == {"entity": "bob's"}


def test_a_draft_is_saved_in_place_of_one_that_cannot_be_read(library: Library) -> None:
    bring(library, "approved", 0)
    library.drafts.save(FIRST, {"entity": "before"}, actor="ann")
    with library.catalog.writing() as db:
        db.execute("UPDATE drafts SET fields = '{'")
    assert library.drafts.save(FIRST, {"entity": "typed"}, actor="ann") is None
    assert library.drafts.own(FIRST, actor="ann") == {"entity": "typed"}


def test_tags_bring_their_categories_from_the_taxonomy(library: Library) -> None:
    bring(library, "library", 0, 1)
    outcome = library.edit_tags([FIRST, SECOND], add=["moon", "my own", "dog"], remove=["cat"])
    assert outcome.done == [FIRST, SECOND]
    assert library.get(FIRST).tags == ["dog", "moon", "my own"]
    assert library.get(FIRST).categories == ["animals", "space", "other"]
    assert library.tag_counts(Filter(categories=("space",))) == {"dog": 2, "moon": 2, "my own": 2}
    holds(library)


def test_tags_are_counted_once_for_each_state_of_the_library(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = []
    count = rows.label_counts

    def counting(db: sqlite3.Connection, kind: str, filter: Filter) -> dict[str, int]:
        counted.append(filter)
        return count(db, kind, filter)

    monkeypatch.setattr(rows, "label_counts", counting)
    bring(library, "library", 0, 1)
    before = library.tag_counts(Filter())
    assert library.tag_counts(Filter()) == before
    assert len(counted) == 1
    library.edit_tags([FIRST], add=["entirely new"])
    assert library.tag_counts(Filter()) == {**before, "entirely new": 1}
    library.undo()
    assert library.tag_counts(Filter()) == before
    assert library.category_counts(Filter()) != before


def test_tags_may_hold_no_comma(library: Library) -> None:
    library.add([coin(0)])
    assert "comma" in library.edit_tags([FIRST], add=["a,b"]).refused[0].reason
    assert library.get(FIRST).tags == ["dog"]


def test_what_is_in_the_trash_is_not_written_to(library: Library) -> None:
    library.add([coin(0)])
    library.delete([FIRST])
    assert "restore it first" in library.caption(FIRST, caption=written("x")).refused[0].reason
    assert "restore it first" in library.edit_tags([FIRST], add=["moon"]).refused[0].reason


def test_saving_what_already_stands_there_is_no_decision(library: Library) -> None:
    bring(library, "approved", 0)
    events = len(library.history())
    assert library.caption(FIRST, caption=written("text 0")).done == [FIRST]
    assert library.edit_tags([FIRST], add=["dog"]).done == [FIRST]
    assert len(library.history()) == events


def test_an_unknown_record_is_told_so(library: Library) -> None:
    with pytest.raises(UnknownRecord, match="no record has the address"):
        library.get(FIRST)
    assert "no record" in library.caption(FIRST, caption=written("x")).refused[0].reason


def test_nothing_asked_for_is_nothing_done(library: Library) -> None:
    outcome = library.approve([])
    assert (outcome.done, outcome.refused, outcome.decision) == ([], [], None)
    assert library.history() == []


# -- many --------------------------------------------------------------------------------------------------


def test_what_is_done_in_one_go_is_one_decision_however_many(library: Library, small_batches: None) -> None:
    library.add(coin(number) for number in range(12))
    everything = library.addresses(Filter())
    outcome = library.approve(everything, actor="ann")
    assert len(outcome.done) == 12
    assert [(made.verb, made.count) for made in library.decisions()] == [("approve", 12), ("import", 12)]
    assert len(library.undo(actor="ann").done) == 12
    assert library.counts()["pending"] == 12


def test_a_library_keeps_its_id_and_a_copy_elsewhere_has_another(tmp_path: Path) -> None:
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
