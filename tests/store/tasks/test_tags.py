"""Tags of many coins at once, and a taxonomy that is edited: all of it taken back like any decision."""

import errno
import json
from pathlib import Path

import pytest

from store.catalog.filters import Filter
from store.disk.files import Disk
from store.disk.sidecars import read
from store.errors import BadSource, InvalidRecord, NotWritten
from store.library import Library
from store.maintenance import doctor
from store.runtime import open_library
from store.tasks import tags
from tests.store.conftest import TAXONOMY, address, approved_with_caption, coin
from tests.store.hashed import Hashed
from tests.store.world import Disaster, PowerCut, abandon

pytestmark = pytest.mark.usefixtures("without_chroma")


@pytest.fixture
def everywhere(library: Library) -> Library:
    """Coins with the tag `dog` in all four tiers, one with `doge`."""
    approved_with_caption(library, 1, 2)
    library.promote([address(2)])
    library.add([coin(0), coin(3), coin(4, tags=["doge", "dog"]), coin(5, tags=["moon"])])
    library.reject([address(3)])
    return library


def on_disk(library: Library, number: int) -> tuple[list[str], list[str]]:
    record = library.get(address(number))
    sidecar = json.loads(read(library.layout, record.tier, record.address)[1])
    assert sidecar == dict(record.sidecar)
    return sidecar["tags"], sidecar["tags_categories"]


def test_a_tag_is_renamed_on_every_coin_also_in_the_trash(everywhere: Library) -> None:
    outcome = tags.rename(everywhere, {"dog": "hound"}, actor="ann")
    assert len(outcome.done) == 5
    assert not outcome.refused
    for number in (0, 1, 2, 3):
        assert on_disk(everywhere, number) == (["hound"], ["animals"])
    assert "dog" not in everywhere.tag_counts(Filter())
    assert everywhere.taxonomy.entries == {"hound": "animals", "cat": "animals", "moon": "space"}
    assert [decision.verb for decision in everywhere.decisions(limit=1)] == ["rename tag"]


def test_renaming_to_a_tag_that_is_there_merges_the_two(everywhere: Library) -> None:
    tags.rename(everywhere, {"doge": "dog", "moon": "dog"})
    assert on_disk(everywhere, 4) == (["dog"], ["animals"])
    assert on_disk(everywhere, 5) == (["dog"], ["animals"])
    assert everywhere.taxonomy.entries == {"dog": "animals", "cat": "animals"}


def test_one_undo_takes_back_names_and_taxonomy_and_redo_does_them_again(everywhere: Library) -> None:
    tags.rename(everywhere, {"dog": "hound"})
    everywhere.undo()
    assert everywhere.taxonomy.entries == dict(sorted(TAXONOMY.items()))
    assert [on_disk(everywhere, number)[0] for number in (0, 1, 2, 3, 4)] == [["dog"]] * 4 + [["doge", "dog"]]
    everywhere.redo()
    assert everywhere.taxonomy.entries["hound"] == "animals"
    assert on_disk(everywhere, 3) == (["hound"], ["animals"])


def test_a_name_that_is_no_tag_changes_nothing(everywhere: Library) -> None:
    for name in ("", "  ", "a,b", "x" * 65):
        with pytest.raises(InvalidRecord):
            tags.rename(everywhere, {"dog": name})
    assert everywhere.tag_counts(Filter())["dog"] == 5


def test_categories_follow_an_edited_taxonomy(everywhere: Library) -> None:
    assert len(tags.straying(everywhere, everywhere.taxonomy)) == 0
    entries = {"dog": "pets", "moon": "space", "doge": "memes"}
    tags.change_taxonomy(everywhere, entries, actor="ann")
    assert json.loads((everywhere.layout.root / "taxonomy.json").read_text()) == entries
    assert on_disk(everywhere, 2) == (["dog"], ["pets"])
    assert on_disk(everywhere, 4) == (["doge", "dog"], ["memes", "pets"])
    assert len(everywhere.history(address=address(5))) == 1  # its category is what it was: not touched
    everywhere.undo(actor="ann")
    assert json.loads((everywhere.layout.root / "taxonomy.json").read_text()) == TAXONOMY
    assert on_disk(everywhere, 2) == (["dog"], ["animals"])


def test_a_taxonomy_that_no_coin_follows_is_undone_too(library: Library) -> None:
    tags.change_taxonomy(library, {"dog": "pets"})
    library.undo()
    assert library.taxonomy.entries == dict(sorted(TAXONOMY.items()))


def test_undo_does_not_lose_what_somebody_wrote_into_the_file_since(everywhere: Library) -> None:
    tags.change_taxonomy(everywhere, {"dog": "pets"})
    everywhere.layout.own_taxonomy.write_text('{"dog": "hounds"}')
    outcome = everywhere.undo()
    assert [refusal.item for refusal in outcome.refused] == ["taxonomy"]
    assert everywhere.taxonomy.entries == {"dog": "hounds"}
    assert on_disk(everywhere, 0)[1] == ["pets"]


def test_a_file_edited_by_hand_counts_from_the_next_tag_on(everywhere: Library) -> None:
    everywhere.layout.own_taxonomy.write_text('{"dog": "hounds"}')
    everywhere.edit_tags([address(0)], add=["moon"])
    assert on_disk(everywhere, 0) == (["dog", "moon"], ["hounds", "other"])
    assert len(tags.straying(everywhere, everywhere.taxonomy)) == 5


def test_a_wrong_taxonomy_is_refused_whole(everywhere: Library) -> None:
    with pytest.raises(BadSource, match="commas"):
        tags.change_taxonomy(everywhere, {"dog": "pets", "cat": "a,b"})
    assert everywhere.taxonomy.entries == dict(sorted(TAXONOMY.items()))


def test_a_long_renaming_runs_in_the_background_and_is_one_decision(everywhere: Library) -> None:
    names = {"dog": "hound"}
    job = everywhere.jobs.start(
        "tags",
        tags.carrying(everywhere, names),
        name="Rename dog",
        options={"rename": names, "taxonomy": tags.entries_after(everywhere.taxonomy, names)},
        actor="ann",
    )
    assert everywhere.jobs.wait(job.id, timeout=60)
    assert everywhere.jobs.get(job.id).done == 5
    assert on_disk(everywhere, 3) == (["hound"], ["animals"])
    everywhere.undo(actor="ann")
    assert on_disk(everywhere, 3) == (["dog"], ["animals"])
    assert "dog" in everywhere.taxonomy.entries


def test_tags_near_by_name_are_suggested() -> None:
    assert tags.alike("dgo", ["dog", "moon", "dogs"])[0] == "dog"
    assert tags.alike("Dog", ["dog"]) == []


def test_what_is_wanted_most_is_offered_first(everywhere: Library) -> None:
    assert tags.known(everywhere) == ["dog", "doge", "moon", "cat"]


def test_wherever_the_power_goes_the_taxonomy_is_the_old_or_the_new(quick_root: Path) -> None:
    step, decided = 1, False
    while True:
        disaster = Disaster()
        library = open_library(quick_root, embedder=Hashed(), disk=Disk(before=disaster))
        before, after = library.taxonomy.entries, {"dog": f"pets {step}"}
        disaster.cut_power(step)
        try:
            tags.change_taxonomy(library, after)
        except PowerCut:
            abandon(library)
        else:
            library.close()
            break
        with open_library(quick_root, embedder=Hashed()) as again:
            assert again.taxonomy.entries in (before, after)
            assert again.taxonomy.entries == after or not decided, "once decided, it stays so"
            decided = again.taxonomy.entries == after
            if decided:  # then undo knows of it
                again.undo()
                assert again.taxonomy.entries == before
        step += 1
    assert decided
    assert step > 3


@pytest.mark.parametrize("lasts", [False, True], ids=["once", "for good"])
def test_wherever_the_disk_refuses_what_is_said_of_the_taxonomy_is_true(
    quick_root: Path, lasts: bool
) -> None:
    step, said = 1, []
    while True:
        disaster = Disaster()
        library = open_library(quick_root, embedder=Hashed(), disk=Disk(before=disaster))
        before, after = library.taxonomy.entries, {"dog": f"pets {step}"}
        disaster.fail(step, OSError(errno.EIO, "Input/output error"), lasts=lasts)
        try:
            tags.change_taxonomy(library, after)
        except NotWritten:
            expected = before
        else:
            expected = after
        assert library.taxonomy.entries == expected
        has_struck = disaster.has_struck
        disaster.heal()
        said.append(expected == after)
        abandon(library)
        with open_library(quick_root, embedder=Hashed()) as again:
            assert again.taxonomy.entries == expected
            assert json.loads(again.layout.taxonomy.read_text()) == expected, "the file follows when it can"
            if expected == after:
                again.undo()
                assert again.taxonomy.entries == before
        if not has_struck:
            break
        step += 1
    assert said[0] is False
    assert said.count(True) > 3, (
        "what is decided is said to be done, also where the file could not be written"
    )


def test_a_taxonomy_typed_by_hand_while_the_decided_one_waits_is_not_written_over(quick_root: Path) -> None:
    disaster = Disaster()
    library = open_library(quick_root, embedder=Hashed(), disk=Disk(before=disaster))
    disaster.fail(2, OSError(errno.EIO, "Input/output error"), lasts=True)  # after the commit
    tags.change_taxonomy(library, {"dog": "pets"})
    assert any("could not be written" in finding.what for finding in doctor.check(library))
    disaster.heal()
    library.layout.own_taxonomy.write_text('{"dog": "hounds"}')
    library.close()
    with open_library(quick_root, embedder=Hashed()) as again:
        assert again.taxonomy.entries == {"dog": "hounds"}
