"""A verdict is kept, never asked again, and taken back like any other decision."""

from pathlib import Path

import pytest

from store.backup import backup, restore_backup
from store.catalog.filters import Filter
from store.errors import NothingToUndo
from store.library import Library
from store.runtime import open_library
from store.writing.salvage import salvage
from tests.store.conftest import address
from tests.store.duplicates.copies import drawing, drawn
from tests.store.hashed import Hashed

ONE, COPY, THIRD, LONER = address(0), address(1), address(2), address(3)

pytestmark = pytest.mark.usefixtures("without_chroma")


@pytest.fixture
def alike(library: Library) -> Library:
    """Three coins with one picture, and one that has nothing to do with them."""
    library.add([*(drawn(number, drawing(0)) for number in range(3)), drawn(3)], actor="ann")
    library.duplicates.examine()
    return library


def badges(library: Library) -> set[str]:
    return set(library.duplicates.suspicions(library.addresses(Filter())))


def said(library: Library, one: str) -> dict[str, str | None]:
    """What stands of a record and each that looks like it."""
    return {
        suspect.other: suspect.judgement.verdict if suspect.judgement else None
        for suspect in library.duplicates.of(one)
    }


def test_a_verdict_is_told_of_both_records_with_who_and_when(alike: Library) -> None:
    outcome = alike.duplicates.judge(COPY, "copy of", [ONE], actor="ann")
    assert (outcome.done, outcome.refused) == ([ONE], [])
    assert said(alike, COPY) == {ONE: "copy of", THIRD: None}
    assert said(alike, ONE) == {COPY: "copied by", THIRD: None}
    (told,) = alike.duplicates.judgements(ONE)
    assert (told.verdict, told.other, told.actor, told.decision) == (
        "copied by",
        COPY,
        "ann",
        outcome.decision,
    )
    assert told.created_at > 0


@pytest.mark.parametrize(
    ("verdict", "from_there"),
    [("different", "different"), ("copy of", "copied by"), ("better than", "worse than")],
)
def test_each_verdict_can_be_read_from_both_sides(alike: Library, verdict: str, from_there: str) -> None:
    alike.duplicates.judge(ONE, verdict, [COPY])
    assert (said(alike, ONE)[COPY], said(alike, COPY)[ONE]) == (verdict, from_there)
    alike.duplicates.judge(COPY, verdict, [ONE])
    assert (said(alike, ONE)[COPY], said(alike, COPY)[ONE]) == (from_there, verdict)


def test_a_judged_pair_is_not_asked_again(alike: Library) -> None:
    alike.duplicates.judge(ONE, "different", [COPY, THIRD])
    assert badges(alike) == {COPY, THIRD}
    alike.duplicates.judge(COPY, "different", [THIRD])
    assert badges(alike) == set()
    assert alike.count(Filter(suspicious=True)) == 0


def test_a_new_coin_that_looks_alike_is_asked_about_all_the_same(alike: Library) -> None:
    alike.duplicates.judge(ONE, "different", [COPY, THIRD])
    alike.duplicates.judge(COPY, "different", [THIRD])
    alike.add([drawn(4, drawing(0))])
    alike.duplicates.examine()
    assert badges(alike) == {ONE, COPY, THIRD, address(4)}


def test_undo_takes_a_verdict_back_and_redo_gives_it_again(alike: Library) -> None:
    alike.duplicates.judge(ONE, "different", [COPY, THIRD], actor="ann")
    outcome = alike.undo(actor="ann")
    assert set(outcome.done) == {ONE, COPY, THIRD}
    assert said(alike, ONE) == {COPY: None, THIRD: None}
    assert badges(alike) == {ONE, COPY, THIRD}
    alike.redo(actor="ann")
    assert said(alike, ONE) == {COPY: "different", THIRD: "different"}
    assert badges(alike) == {COPY, THIRD}
    alike.undo(actor="ann")
    assert said(alike, ONE) == {COPY: None, THIRD: None}


def test_undo_brings_back_the_verdict_before(alike: Library) -> None:
    alike.duplicates.judge(ONE, "different", [COPY], actor="ann")
    alike.duplicates.judge(ONE, "better than", [COPY], actor="ann")
    alike.undo(actor="ann")
    assert said(alike, ONE)[COPY] == "different"
    alike.undo(actor="ann")
    assert said(alike, ONE)[COPY] is None


def test_verdicts_and_moves_are_taken_back_in_the_order_they_were_made(alike: Library) -> None:
    alike.approve([ONE], actor="ann")
    alike.duplicates.judge(COPY, "copy of", [ONE], actor="ann")
    alike.reject([COPY], reason="a copy", actor="ann")
    alike.undo(3, actor="ann")
    assert alike.counts()["pending"] == 4
    assert said(alike, ONE)[COPY] is None
    alike.redo(3, actor="ann")
    assert (alike.get(ONE).tier, alike.get(COPY).tier) == ("approved", "trash")
    assert said(alike, COPY)[ONE] == "copy of"


def test_what_somebody_else_said_since_stays(alike: Library) -> None:
    alike.duplicates.judge(ONE, "different", [COPY, THIRD], actor="ann")
    alike.duplicates.judge(COPY, "copy of", [ONE], actor="bob")
    outcome = alike.undo(actor="ann")
    assert [refusal.item for refusal in outcome.refused] == [min(ONE, COPY)]
    assert said(alike, ONE) == {COPY: "copied by", THIRD: None}
    assert alike.undo(actor="ann").refused == []  # the next one goes further back: the import


def test_verdicts_are_among_the_decisions(alike: Library) -> None:
    outcome = alike.duplicates.judge(ONE, "different", [COPY, THIRD], actor="ann")
    made = alike.decisions()[0]
    assert (made.id, made.verb, made.actor, made.count, made.is_undone) == (
        outcome.decision, "judge", "ann", 2, False,
    )  # fmt: skip
    assert [{told.address, told.other} for told in alike.duplicates.judgements_of(made.id)] == [
        {ONE, THIRD},
        {ONE, COPY},
    ]
    alike.undo(actor="ann")
    assert alike.decisions()[1].is_undone
    assert all(told.is_undone for told in alike.duplicates.judgements_of(made.id))


def test_the_same_verdict_again_is_no_decision(alike: Library) -> None:
    alike.duplicates.judge(ONE, "different", [COPY], actor="ann")
    outcome = alike.duplicates.judge(COPY, "different", [ONE], actor="ann")
    assert (outcome.done, outcome.decision) == ([ONE], None)
    assert len(alike.duplicates.judgements(ONE)) == 1


@pytest.mark.parametrize("other", [ONE, address(99)])
def test_itself_or_an_unknown_record_is_refused(alike: Library, other: str) -> None:
    outcome = alike.duplicates.judge(ONE, "different", [other, COPY], actor="ann")
    assert [refusal.item for refusal in outcome.refused] == [other]
    assert outcome.done == [COPY]


def test_an_unknown_record_has_no_verdict(alike: Library) -> None:
    outcome = alike.duplicates.judge(address(99), "different", [ONE], actor="zoe")
    assert (outcome.done, outcome.decision) == ([], None)
    with pytest.raises(NothingToUndo):
        alike.undo(actor="zoe")


def test_verdicts_survive_a_restart(alike: Library) -> None:
    alike.duplicates.judge(ONE, "different", [COPY], actor="ann")
    alike.close()
    with open_library(alike.layout.root, embedder=Hashed()) as library:
        assert said(library, ONE)[COPY] == "different"
        library.undo(actor="ann")
        assert said(library, ONE)[COPY] is None


def test_verdicts_survive_a_record_going_to_the_trash_and_back(alike: Library) -> None:
    alike.duplicates.judge(ONE, "different", [COPY])
    alike.delete([COPY])
    alike.restore([COPY])
    assert said(alike, ONE)[COPY] == "different"
    assert alike.duplicates.unexamined() == 0


def test_a_backup_holds_the_verdicts(alike: Library, tmp_path: Path) -> None:
    alike.duplicates.judge(ONE, "copied by", [COPY], actor="ann")
    backup(alike, tmp_path / "backup")
    alike.undo(actor="ann")
    restore_backup(tmp_path / "other", tmp_path / "backup")
    with open_library(tmp_path / "other", embedder=Hashed()) as library:
        assert said(library, ONE)[COPY] == "copied by"
        assert badges(library) == {ONE, COPY, THIRD}


def test_a_new_catalog_takes_the_verdicts_over_from_a_damaged_one(alike: Library) -> None:
    alike.duplicates.judge(ONE, "different", [COPY, THIRD], actor="ann")
    alike.close()
    taken = salvage(alike.layout).taken
    assert taken["verdicts"] == 2
    with open_library(alike.layout.root, embedder=Hashed()) as library:
        library.duplicates.examine()
        assert said(library, ONE) == {COPY: "different", THIRD: "different"}
        assert badges(library) == {COPY, THIRD}
