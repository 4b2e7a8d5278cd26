"""A file removed by hand before a decision is complete: a repair continues, and nothing else is lost."""

import errno
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from store.disk.files import Disk
from store.library import Library
from store.maintenance import doctor
from store.runtime import open_library
from tests.store.conftest import address, coin
from tests.store.hashed import Hashed
from tests.store.invariants import holds
from tests.store.writing.conftest import edit

FIRST, SECOND, THIRD = (address(number) for number in range(3))

pytestmark = pytest.mark.usefixtures("without_chroma")


class _Faulty:
    """A disk on which one kind of step fails for a while, in `approved` or everywhere."""

    step = ""
    is_everywhere = False

    def __call__(self, name: str, path: Path) -> None:
        if name == self.step and (self.is_everywhere or "approved" in (path.name, path.parent.name)):
            raise OSError(errno.EACCES, "the disk says no")


@pytest.fixture
def disk() -> _Faulty:
    return _Faulty()


@pytest.fixture
def library(root: Path, disk: _Faulty) -> Iterator[Library]:
    with open_library(root, embedder=Hashed(), disk=Disk(before=disk)) as library:
        library.add([coin(0), coin(1), coin(2)])
        yield library


@pytest.fixture
def stuck(library: Library, disk: _Faulty) -> Library:
    """The library with the approval of two coins committed but not yet applied."""
    disk.step = "rename"
    library.approve([FIRST, SECOND], actor="ann")
    disk.step = ""
    assert library.status().applying == (FIRST, SECOND)
    return library


def test_a_lost_picture_affects_only_its_own_coin(stuck: Library) -> None:
    stuck.layout.image("pending", FIRST).unlink()
    assert "doctor --repair" in stuck.approve([THIRD]).refused[0].reason

    messages: list[str] = []
    (left,) = doctor.repair(stuck, tell=messages.append)

    assert len(messages) == 1
    assert FIRST in messages[0]
    assert str(stuck.layout.image("approved", FIRST)) in messages[0]
    assert (left.address, left.what) == (FIRST, "its picture is missing in approved")
    assert not stuck.status().stuck
    assert stuck.get(FIRST).tier == stuck.get(SECOND).tier == "approved"
    assert stuck.layout.sidecar("approved", FIRST).exists()
    assert stuck.layout.image("approved", SECOND).exists()
    assert stuck.approve([THIRD]).done == [THIRD]


def test_a_coin_without_its_picture_is_not_moved_until_the_picture_is_back(stuck: Library) -> None:
    kept = stuck.layout.image("pending", FIRST).read_bytes()
    stuck.layout.image("pending", FIRST).unlink()
    doctor.repair(stuck)
    assert "picture is missing" in stuck.delete([FIRST]).refused[0].reason
    assert not stuck.status().stuck

    stuck.layout.image("approved", FIRST).write_bytes(kept)
    assert doctor.repair(stuck) == []
    assert sorted(stuck.undo(actor="ann").done) == sorted([FIRST, SECOND])
    assert stuck.get(FIRST).tier == "pending"


def test_a_lost_sidecar_is_restored_from_the_catalog(stuck: Library) -> None:
    before = dict(stuck.get(FIRST).sidecar)
    stuck.layout.sidecar("pending", FIRST).unlink()
    messages: list[str] = []
    assert doctor.repair(stuck, tell=messages.append) == []
    assert "its sidecar was removed" in messages[0]
    assert dict(stuck.get(FIRST).sidecar) == before


def test_a_picture_moved_to_another_tier_is_found_again(stuck: Library) -> None:
    stuck.layout.image("library", FIRST).parent.mkdir(parents=True, exist_ok=True)
    stuck.layout.image("pending", FIRST).rename(stuck.layout.image("library", FIRST))
    messages: list[str] = []
    assert doctor.repair(stuck, tell=messages.append) == []
    assert "was copied" in messages[0]
    assert stuck.layout.image("approved", FIRST).exists()


def test_a_repair_removes_a_coin_whose_files_were_both_removed(stuck: Library) -> None:
    for path in (stuck.layout.image("pending", FIRST), stuck.layout.sidecar("pending", FIRST)):
        path.unlink()
    (left,) = doctor.repair(stuck)
    assert "picture is missing" in left.what
    stuck.layout.sidecar("approved", FIRST).unlink()
    assert not [finding for finding in doctor.repair(stuck) if finding.address]
    assert stuck.counts()["approved"] == 1


def lose_the_files_of_a_caption(library: Library, disk: _Faulty, *, is_everywhere: bool) -> None:
    """Decide that a toad is a frog; the new text is lost before it is in its place."""
    library.approve([FIRST])
    library.caption(FIRST, caption={"entity": "a toad"})
    disk.step, disk.is_everywhere = "rename", is_everywhere
    library.caption(FIRST, caption={"entity": "a frog"})
    disk.step = ""
    shutil.rmtree(library.layout.operations)


@pytest.mark.parametrize("is_everywhere", [False, True], ids=["after the old sidecar left", "at once"])
def test_a_lost_staging_folder_holds_up_no_later_decision(
    library: Library, disk: _Faulty, is_everywhere: bool
) -> None:
    lose_the_files_of_a_caption(library, disk, is_everywhere=is_everywhere)
    assert doctor.repair(library) == []
    assert library.get(FIRST).caption["entity"] == "a frog"
    assert json.loads(library.layout.sidecar("approved", FIRST).read_text())["caption"]["entity"] == "a frog"
    assert [event.verb for event in library.history(address=FIRST)] == [
        "caption",
        "caption",
        "approve",
        "import",
    ]
    assert library.approve([SECOND]).done == [SECOND]
    holds(library)


def test_a_lost_staging_folder_does_not_undo_the_decision_it_was_of(library: Library, disk: _Faulty) -> None:
    lose_the_files_of_a_caption(library, disk, is_everywhere=True)
    assert "doctor --repair" in library.approve([SECOND]).refused[0].reason
    assert library.get(FIRST).caption["entity"] == "a toad"
    assert library.status().applying == (FIRST,)


def test_a_sidecar_edited_by_hand_before_the_decision_is_complete_counts(
    library: Library, disk: _Faulty
) -> None:
    disk.step = "fsync"
    assert "is decided but waits" in library.approve([FIRST]).refused[0].reason
    disk.step = ""
    edit(library.layout.sidecar("approved", FIRST), token_name="By hand")

    assert library.approve([SECOND]).done == [SECOND]
    assert "they count now" in library.delete([FIRST]).refused[0].reason
    assert (library.get(FIRST).name, library.get(FIRST).tier) == ("By hand", "approved")
    assert [event.verb for event in library.history(address=FIRST, limit=2)] == ["change", "approve"]
    assert not library.layout.set_aside.exists()
    holds(library)
