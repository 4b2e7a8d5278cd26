"""A verdict is stored, not requested again, and undone like any other decision."""

from pathlib import Path

import pytest

from store.backup.create import backup
from store.backup.restore import restore_backup
from store.catalog.filters import Filter
from store.errors import NothingToUndo
from store.library import Library
from store.runtime import open_library
from store.writing.salvage import salvage
from tests.store.conftest import address
from tests.store.duplicates.copies import coin_with_drawing, drawing
from tests.store.hashed import Hashed

ONE, COPY, THIRD, LONER = address(0), address(1), address(2), address(3)

pytestmark = pytest.mark.usefixtures("without_chroma")


@pytest.fixture
def look_alikes(library: Library) -> Library:
    """A library with three coins that share one picture, and an unrelated one."""
    library.add(
        [*(coin_with_drawing(number, drawing(0)) for number in range(3)), coin_with_drawing(3)], actor="ann"
    )
    library.duplicates.examine()
    return library


def test_copies_are_listed_with_their_originals_as_long_as_the_verdict_stands(look_alikes: Library) -> None:
    look_alikes.duplicates.judge(COPY, "copy of", [ONE], actor="ann")
    look_alikes.duplicates.judge(ONE, "copied by", [THIRD], actor="ann")
    look_alikes.duplicates.judge(LONER, "different", [ONE], actor="ann")
    assert look_alikes.duplicates.copies() == {COPY: ONE, THIRD: ONE}
    look_alikes.duplicates.judge(THIRD, "different", [ONE], actor="ann")
    look_alikes.undo(actor="ann")
    look_alikes.duplicates.judge(COPY, "better than", [ONE], actor="ann")
    assert look_alikes.duplicates.copies() == {THIRD: ONE}


def badges(library: Library) -> set[str]:
    return set(library.duplicates.suspicions(library.addresses(Filter())))


def verdicts_of(library: Library, one: str) -> dict[str, str | None]:
    """The current verdict on each pair of this record."""
    return {
        suspect.other: suspect.judgement.verdict if suspect.judgement else None
        for suspect in library.duplicates.of(one)
    }


def test_a_verdict_is_shown_for_both_records_with_its_actor_and_time(look_alikes: Library) -> None:
    outcome = look_alikes.duplicates.judge(COPY, "copy of", [ONE], actor="ann")
    assert (outcome.done, outcome.refused) == ([ONE], [])
    assert verdicts_of(look_alikes, COPY) == {ONE: "copy of", THIRD: None}
    assert verdicts_of(look_alikes, ONE) == {COPY: "copied by", THIRD: None}
    (judgement,) = look_alikes.duplicates.judgements(ONE)
    assert (judgement.verdict, judgement.other, judgement.actor, judgement.decision) == (
        "copied by",
        COPY,
        "ann",
        outcome.decision,
    )
    assert judgement.created_at > 0


@pytest.mark.parametrize(
    ("verdict", "from_there"),
    [("different", "different"), ("copy of", "copied by"), ("better than", "worse than")],
)
def test_each_verdict_can_be_read_from_both_sides(
    look_alikes: Library, verdict: str, from_there: str
) -> None:
    look_alikes.duplicates.judge(ONE, verdict, [COPY])
    assert (verdicts_of(look_alikes, ONE)[COPY], verdicts_of(look_alikes, COPY)[ONE]) == (verdict, from_there)
    look_alikes.duplicates.judge(COPY, verdict, [ONE])
    assert (verdicts_of(look_alikes, ONE)[COPY], verdicts_of(look_alikes, COPY)[ONE]) == (from_there, verdict)


def test_a_judged_pair_is_no_longer_suspicious(look_alikes: Library) -> None:
    look_alikes.duplicates.judge(ONE, "different", [COPY, THIRD])
    assert badges(look_alikes) == {COPY, THIRD}
    look_alikes.duplicates.judge(COPY, "different", [THIRD])
    assert badges(look_alikes) == set()
    assert look_alikes.count(Filter(suspicious=True)) == 0


def test_a_new_look_alike_makes_judged_records_suspicious_again(look_alikes: Library) -> None:
    look_alikes.duplicates.judge(ONE, "different", [COPY, THIRD])
    look_alikes.duplicates.judge(COPY, "different", [THIRD])
    look_alikes.add([coin_with_drawing(4, drawing(0))])
    look_alikes.duplicates.examine()
    assert badges(look_alikes) == {ONE, COPY, THIRD, address(4)}


def test_undo_removes_a_verdict_and_redo_restores_it(look_alikes: Library) -> None:
    look_alikes.duplicates.judge(ONE, "different", [COPY, THIRD], actor="ann")
    outcome = look_alikes.undo(actor="ann")
    assert set(outcome.done) == {ONE, COPY, THIRD}
    assert verdicts_of(look_alikes, ONE) == {COPY: None, THIRD: None}
    assert badges(look_alikes) == {ONE, COPY, THIRD}
    look_alikes.redo(actor="ann")
    assert verdicts_of(look_alikes, ONE) == {COPY: "different", THIRD: "different"}
    assert badges(look_alikes) == {COPY, THIRD}
    look_alikes.undo(actor="ann")
    assert verdicts_of(look_alikes, ONE) == {COPY: None, THIRD: None}


def test_undo_restores_the_previous_verdict(look_alikes: Library) -> None:
    look_alikes.duplicates.judge(ONE, "different", [COPY], actor="ann")
    look_alikes.duplicates.judge(ONE, "better than", [COPY], actor="ann")
    look_alikes.undo(actor="ann")
    assert verdicts_of(look_alikes, ONE)[COPY] == "different"
    look_alikes.undo(actor="ann")
    assert verdicts_of(look_alikes, ONE)[COPY] is None


def test_verdicts_and_moves_can_be_undone_and_redone_together(look_alikes: Library) -> None:
    look_alikes.approve([ONE], actor="ann")
    look_alikes.duplicates.judge(COPY, "copy of", [ONE], actor="ann")
    look_alikes.reject([COPY], reason="a copy", actor="ann")
    look_alikes.undo(3, actor="ann")
    assert look_alikes.counts()["pending"] == 4
    assert verdicts_of(look_alikes, ONE)[COPY] is None
    look_alikes.redo(3, actor="ann")
    assert (look_alikes.get(ONE).tier, look_alikes.get(COPY).tier) == ("approved", "trash")
    assert verdicts_of(look_alikes, COPY)[ONE] == "copy of"


def test_undo_keeps_a_later_verdict_of_another_user(look_alikes: Library) -> None:
    look_alikes.duplicates.judge(ONE, "different", [COPY, THIRD], actor="ann")
    look_alikes.duplicates.judge(COPY, "copy of", [ONE], actor="bob")
    outcome = look_alikes.undo(actor="ann")
    assert [refusal.item for refusal in outcome.refused] == [min(ONE, COPY)]
    assert verdicts_of(look_alikes, ONE) == {COPY: "copied by", THIRD: None}
    assert look_alikes.undo(actor="ann").refused == []  # the next one goes further back: the import


def test_verdicts_are_listed_as_decisions(look_alikes: Library) -> None:
    outcome = look_alikes.duplicates.judge(ONE, "different", [COPY, THIRD], actor="ann")
    made = look_alikes.decisions()[0]
    assert (made.id, made.verb, made.actor, made.count, made.is_undone) == (
        outcome.decision,
        "judge",
        "ann",
        2,
        False,
    )
    given = look_alikes.duplicates.judgements(ONE)
    assert [(one.decision, one.address, one.other) for one in given] == [
        (made.id, ONE, THIRD),
        (made.id, ONE, COPY),
    ]
    look_alikes.undo(actor="ann")
    assert look_alikes.decisions()[1].is_undone
    given = [one for one in look_alikes.duplicates.judgements(ONE) if one.decision == made.id]
    assert [one.is_undone for one in given] == [True, True]


def test_repeating_a_verdict_records_no_decision(look_alikes: Library) -> None:
    look_alikes.duplicates.judge(ONE, "different", [COPY], actor="ann")
    outcome = look_alikes.duplicates.judge(COPY, "different", [ONE], actor="ann")
    assert (outcome.done, outcome.decision) == ([ONE], None)
    assert len(look_alikes.duplicates.judgements(ONE)) == 1


@pytest.mark.parametrize("other", [ONE, address(99)])
def test_judging_a_record_against_itself_or_an_unknown_record_is_refused(
    look_alikes: Library, other: str
) -> None:
    outcome = look_alikes.duplicates.judge(ONE, "different", [other, COPY], actor="ann")
    assert [refusal.item for refusal in outcome.refused] == [other]
    assert outcome.done == [COPY]


def test_judging_an_unknown_record_records_no_decision(look_alikes: Library) -> None:
    outcome = look_alikes.duplicates.judge(address(99), "different", [ONE], actor="zoe")
    assert (outcome.done, outcome.decision) == ([], None)
    with pytest.raises(NothingToUndo):
        look_alikes.undo(actor="zoe")


def test_verdicts_survive_a_restart(look_alikes: Library) -> None:
    look_alikes.duplicates.judge(ONE, "different", [COPY], actor="ann")
    look_alikes.close()
    with open_library(look_alikes.layout.root, embedder=Hashed()) as library:
        assert verdicts_of(library, ONE)[COPY] == "different"
        library.undo(actor="ann")
        assert verdicts_of(library, ONE)[COPY] is None


def test_verdicts_survive_a_move_to_the_trash_and_back(look_alikes: Library) -> None:
    look_alikes.duplicates.judge(ONE, "different", [COPY])
    look_alikes.delete([COPY])
    look_alikes.restore([COPY])
    assert verdicts_of(look_alikes, ONE)[COPY] == "different"
    assert look_alikes.duplicates.unexamined() == 0


def test_a_backup_contains_the_verdicts(look_alikes: Library, tmp_path: Path) -> None:
    look_alikes.duplicates.judge(ONE, "copied by", [COPY], actor="ann")
    backup(look_alikes, tmp_path / "backup")
    look_alikes.undo(actor="ann")
    restore_backup(tmp_path / "other", tmp_path / "backup")
    with open_library(tmp_path / "other", embedder=Hashed()) as library:
        assert verdicts_of(library, ONE)[COPY] == "copied by"
        assert badges(library) == {ONE, COPY, THIRD}


def test_salvage_keeps_the_verdicts_of_a_damaged_catalog(look_alikes: Library) -> None:
    look_alikes.duplicates.judge(ONE, "different", [COPY, THIRD], actor="ann")
    look_alikes.close()
    taken = salvage(look_alikes.layout).taken
    assert taken["verdicts"] == 2
    with open_library(look_alikes.layout.root, embedder=Hashed()) as library:
        library.duplicates.examine()
        assert verdicts_of(library, ONE) == {COPY: "different", THIRD: "different"}
        assert badges(library) == {COPY, THIRD}
