"""Changing tags of many coins and editing the taxonomy; both can be undone like any decision."""

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
from tests.store.world import FaultInjector, FullDisk, PowerCut, abandon

pytestmark = pytest.mark.usefixtures("without_chroma")


@pytest.fixture
def tagged_library(library: Library) -> Library:
    """A library with coins tagged `dog` in all four tiers, and one tagged `doge`."""
    approved_with_caption(library, 1, 2)
    library.promote([address(2)])
    library.add([coin(0), coin(3), coin(4, tags=["doge", "dog"]), coin(5, tags=["moon"])])
    library.reject([address(3)])
    return library


def tags_on_disk(library: Library, number: int) -> tuple[list[str], list[str]]:
    record = library.get(address(number))
    sidecar = json.loads(read(library.layout, record.tier, record.address)[1])
    assert sidecar == dict(record.sidecar)
    return sidecar["tags"], sidecar["tags_categories"]


def test_a_tag_is_renamed_on_every_coin_including_the_trash(tagged_library: Library) -> None:
    outcome = tags.rename(tagged_library, {"dog": "hound"}, actor="ann")
    assert len(outcome.done) == 5
    assert not outcome.refused
    for number in (0, 1, 2, 3):
        assert tags_on_disk(tagged_library, number) == (["hound"], ["animals"])
    assert "dog" not in tagged_library.tag_counts(Filter())
    assert tagged_library.taxonomy.entries == {"hound": "animals", "cat": "animals", "moon": "space"}
    assert [decision.verb for decision in tagged_library.decisions(limit=1)] == ["rename tag"]


def test_renaming_to_an_existing_tag_merges_the_two(tagged_library: Library) -> None:
    tags.rename(tagged_library, {"doge": "dog", "moon": "dog"})
    assert tags_on_disk(tagged_library, 4) == (["dog"], ["animals"])
    assert tags_on_disk(tagged_library, 5) == (["dog"], ["animals"])
    assert tagged_library.taxonomy.entries == {"dog": "animals", "cat": "animals"}


def test_undo_and_redo_cover_both_the_tags_and_the_taxonomy(tagged_library: Library) -> None:
    tags.rename(tagged_library, {"dog": "hound"})
    tagged_library.undo()
    assert tagged_library.taxonomy.entries == dict(sorted(TAXONOMY.items()))
    assert [tags_on_disk(tagged_library, number)[0] for number in (0, 1, 2, 3, 4)] == [["dog"]] * 4 + [
        ["doge", "dog"]
    ]
    tagged_library.redo()
    assert tagged_library.taxonomy.entries["hound"] == "animals"
    assert tags_on_disk(tagged_library, 3) == (["hound"], ["animals"])


def test_an_invalid_tag_name_changes_nothing(tagged_library: Library) -> None:
    for name in ("", "  ", "a,b", "x" * 65):
        with pytest.raises(InvalidRecord):
            tags.rename(tagged_library, {"dog": name})
    assert tagged_library.tag_counts(Filter())["dog"] == 5


def test_categories_follow_an_edited_taxonomy(tagged_library: Library) -> None:
    assert len(tags.straying(tagged_library, tagged_library.taxonomy)) == 0
    entries = {"dog": "pets", "moon": "space", "doge": "memes"}
    tags.change_taxonomy(tagged_library, entries, actor="ann")
    assert json.loads((tagged_library.layout.root / "taxonomy.json").read_text()) == entries
    assert tags_on_disk(tagged_library, 2) == (["dog"], ["pets"])
    assert tags_on_disk(tagged_library, 4) == (["doge", "dog"], ["memes", "pets"])
    assert len(tagged_library.history(address=address(5))) == 1  # its category is what it was: not touched
    tagged_library.undo(actor="ann")
    assert json.loads((tagged_library.layout.root / "taxonomy.json").read_text()) == TAXONOMY
    assert tags_on_disk(tagged_library, 2) == (["dog"], ["animals"])


def test_a_taxonomy_change_that_affects_no_coin_can_be_undone(library: Library) -> None:
    tags.change_taxonomy(library, {"dog": "pets"})
    library.undo()
    assert library.taxonomy.entries == dict(sorted(TAXONOMY.items()))


def test_undo_keeps_later_edits_to_the_taxonomy_file(tagged_library: Library) -> None:
    tags.change_taxonomy(tagged_library, {"dog": "pets"})
    tagged_library.layout.own_taxonomy.write_text('{"dog": "hounds"}')
    outcome = tagged_library.undo()
    assert [refusal.item for refusal in outcome.refused] == ["taxonomy"]
    assert tagged_library.taxonomy.entries == {"dog": "hounds"}
    assert tags_on_disk(tagged_library, 0)[1] == ["pets"]


def test_a_taxonomy_edited_by_hand_applies_from_the_next_tag_change(tagged_library: Library) -> None:
    tagged_library.layout.own_taxonomy.write_text('{"dog": "hounds"}')
    tagged_library.edit_tags([address(0)], add=["moon"])
    assert tags_on_disk(tagged_library, 0) == (["dog", "moon"], ["hounds", "other"])
    assert len(tags.straying(tagged_library, tagged_library.taxonomy)) == 5


def test_an_invalid_taxonomy_is_refused_entirely(tagged_library: Library) -> None:
    with pytest.raises(BadSource, match="commas"):
        tags.change_taxonomy(tagged_library, {"dog": "pets", "cat": "a,b"})
    assert tagged_library.taxonomy.entries == dict(sorted(TAXONOMY.items()))


def test_a_background_rename_is_one_decision(tagged_library: Library) -> None:
    names = {"dog": "hound"}
    job = tagged_library.jobs.start(
        "tags",
        tags.carrying(tagged_library, names),
        name="Rename dog",
        options={"rename": names, "taxonomy": tags.entries_after(tagged_library.taxonomy, names)},
        actor="ann",
    )
    assert tagged_library.jobs.wait(job.id, timeout=60)
    assert tagged_library.jobs.get(job.id).done == 5
    assert tags_on_disk(tagged_library, 3) == (["hound"], ["animals"])
    tagged_library.undo(actor="ann")
    assert tags_on_disk(tagged_library, 3) == (["dog"], ["animals"])
    assert "dog" in tagged_library.taxonomy.entries


def test_similar_tag_names_are_suggested() -> None:
    assert tags.alike("dgo", ["dog", "moon", "dogs"])[0] == "dog"
    assert tags.alike("Dog", ["dog"]) == []


def test_the_most_used_tags_are_offered_first(tagged_library: Library) -> None:
    assert tags.known(tagged_library) == ["dog", "doge", "moon", "cat"]


def test_a_power_cut_at_any_step_leaves_the_old_or_the_new_taxonomy(quick_root: Path) -> None:
    step, decided = 1, False
    while True:
        injector = FaultInjector()
        library = open_library(quick_root, embedder=Hashed(), disk=Disk(before=injector))
        before, after = library.taxonomy.entries, {"dog": f"pets {step}"}
        injector.cut_power(step)
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
            if decided:  # then it can be undone
                again.undo()
                assert again.taxonomy.entries == before
        step += 1
    assert decided
    assert step > 3


@pytest.mark.parametrize("lasts", [False, True], ids=["once", "for good"])
def test_a_disk_error_at_any_step_leaves_the_reported_taxonomy(quick_root: Path, lasts: bool) -> None:
    step, messages = 1, []
    while True:
        injector = FaultInjector()
        library = open_library(quick_root, embedder=Hashed(), disk=Disk(before=injector))
        before, after = library.taxonomy.entries, {"dog": f"pets {step}"}
        injector.fail(step, OSError(errno.EIO, "Input/output error"), lasts=lasts)
        try:
            tags.change_taxonomy(library, after)
        except NotWritten:
            expected = before
        else:
            expected = after
        assert library.taxonomy.entries == expected
        has_failed = injector.has_failed
        injector.stop_failing()
        messages.append(expected == after)
        abandon(library)
        with open_library(quick_root, embedder=Hashed()) as again:
            assert again.taxonomy.entries == expected
            assert json.loads(again.layout.taxonomy.read_text()) == expected, "the file follows when it can"
            if expected == after:
                again.undo()
                assert again.taxonomy.entries == before
        if not has_failed:
            break
        step += 1
    assert messages[0] is False
    assert messages.count(True) > 3, (
        "what is decided is said to be done, also where the file could not be written"
    )


def test_a_pending_taxonomy_write_does_not_overwrite_manual_edits(quick_root: Path) -> None:
    injector = FaultInjector()
    library = open_library(quick_root, embedder=Hashed(), disk=Disk(before=injector))
    injector.fail(2, OSError(errno.EIO, "Input/output error"), lasts=True)  # after the commit
    tags.change_taxonomy(library, {"dog": "pets"})
    assert any("could not be written" in finding.what for finding in doctor.check(library))
    injector.stop_failing()
    library.layout.own_taxonomy.write_text('{"dog": "hounds"}')
    library.close()
    with open_library(quick_root, embedder=Hashed()) as again:
        assert again.taxonomy.entries == {"dog": "hounds"}


@pytest.mark.parametrize(
    ("step", "state", "why"),
    [("rename", "waiting", "is decided but waits"), ("write", "failed", "nothing was changed")],
)
def test_on_a_full_disk_the_job_fails_or_waits_can_be_resumed_and_refuses_no_coin(
    root: Path, step: str, state: str, why: str
) -> None:
    disk = FullDisk(step, is_full=False)
    keys = [address(number) for number in range(3)]
    with open_library(root, embedder=Hashed(), disk=Disk(before=disk)) as library:
        library.add([coin(number) for number in range(3)])
        disk.is_full = True
        job = library.jobs.start("tags", keys, name="Tag", options={"add": ["cozy"]})
        assert library.jobs.wait(job.id, timeout=60)
        ended = library.jobs.get(job.id)
        assert (ended.state, ended.done, ended.refused) == (state, 0, 0)
        assert why in ended.error
        disk.is_full = False
        library.jobs.resume(job.id)
        assert library.jobs.wait(job.id, timeout=60)
        ended = library.jobs.get(job.id)
        assert (ended.state, ended.done, ended.refused) == ("done", 3, 0)
        assert all("cozy" in tags_on_disk(library, number)[0] for number in range(3))
