"""A full disk, no file handles, a folder that may not be written to, a clock that is set: the library says
what is wrong, loses nothing that was decided, and goes on without a restart once the cause is gone."""

import errno
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

import pytest

from store.catalog import snapshots
from store.disk.files import Disk, refused
from store.errors import MemedexError, NotWritten, ReadOnly
from store.library import Library
from store.outcome import Outcome
from store.permissions import current_user
from store.runtime import LibraryRuntime, open_library, open_reader
from tests.store.conftest import address, approved_with_caption, coin, fresh_root, written
from tests.store.every_verb import outcome_of, parts, verbs
from tests.store.faulty_disk import clock_set, full, no_file_handles, not_writable, read_only, small_disk
from tests.store.hashed import Hashed
from tests.store.invariants import contents, holds
from tests.store.test_permissions import arguments, stocked  # noqa: F401  fixtures
from tests.waiting import eventually

pytestmark = pytest.mark.usefixtures("without_chroma")

FAULTS = ("full disk", "no file handles")
TOLD = (
    "is full",
    "make room",
    "No space left",
    "disk is full",
    "more files and connections",
    "Too many open",
)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "disk") as disk:
        yield disk


@pytest.fixture
def library(disk: Path) -> Iterator[LibraryRuntime]:
    with open_library(fresh_root(disk / "res"), embedder=Hashed()) as library:
        yield library


def during(fault: str, disk: Path) -> AbstractContextManager[None]:
    return full(disk) if fault == "full disk" else no_file_handles()


@pytest.mark.parametrize("fault", FAULTS)
def test_every_verb_says_what_is_wrong(
    library: Library,
    disk: Path,
    arguments: dict[str, Any],  # noqa: F811
    fault: str,
) -> None:
    """Errors that are not named are the disk's own, which pages and command line put into words."""
    every = [(name, verb) for _, part in parts(library) for name, verb in verbs(part)]
    with during(fault, disk):
        for name, verb in every:
            if not name.endswith(".close"):
                assert says_why(name, verb, arguments, root=library.layout.root), name
    assert library.status().stuck == ""
    assert library.get(address(0)).name == "Coin 0"


def says_why(name: str, verb: Callable[..., Any], given: dict[str, Any], *, root: Path) -> bool:
    """Whether the verb succeeds, or its error says what is wrong."""
    try:
        outcome_of(name, verb, given)
    except MemedexError:
        return True
    except (OSError, sqlite3.OperationalError) as error:
        return any(reason in refused(error, root) for reason in TOLD)
    return True


def decide(library: Library) -> dict[str, str]:
    """One decision of each kind; by its name why it was refused, "" if it was not."""
    verbs: dict[str, Callable[[], Outcome]] = {
        "approve": lambda: library.approve([address(0)]),
        "reject": lambda: library.reject([address(1)], reason="a copy"),
        "tag": lambda: library.edit_tags([address(2)], add=["moon"]),
        "caption": lambda: library.caption(address(4), caption=written("new")),
        "promote": lambda: library.promote([address(5)]),
        "import": lambda: library.add([coin(7)]),
    }
    outcomes = {name: verb() for name, verb in verbs.items()}
    return {name: " ".join(each.reason for each in told.refused) for name, told in outcomes.items()}


@pytest.mark.parametrize("fault", FAULTS)
def test_decisions_are_refused_with_the_reason_and_work_once_the_cause_is_gone(
    library: Library, disk: Path, fault: str
) -> None:
    library.add(coin(number) for number in range(4))
    approved_with_caption(library, 4, 5)
    library.drafts.save(address(0), {"entity": "half a"}, actor="ann")
    before = contents(library)
    with during(fault, disk):
        for name, reason in decide(library).items():
            assert any(told in reason for told in TOLD), (name, reason)
        assert library.get(address(0)).tier == "pending"
    assert contents(library) == before
    assert set(decide(library).values()) == {""}
    library.close()
    with open_library(library.layout.root, embedder=Hashed()) as again:
        holds(again)
        assert again.get(address(0)).tier == "approved"
        assert again.drafts.own(address(0), actor="ann") == {"entity": "half a"}


def test_a_folder_that_may_not_be_written_to_lets_decisions_wait_and_go_on(library: LibraryRuntime) -> None:
    library.add(coin(number) for number in range(3))
    library.approve([address(2)])
    with not_writable(library.layout.operations):
        (refusal,) = library.edit_tags([address(0)], add=["moon"]).refused
        assert "nothing was changed: Operation not permitted" in refusal.reason.replace(
            "Permission denied", "Operation not permitted"
        )
    assert library.approve([address(0)]).done
    library.work_in_background()  # as a dashboard does
    with not_writable(library.layout.sidecar_folder("approved")):
        (refusal,) = library.approve([address(1)]).refused
        assert "is decided but waits" in refusal.reason
        assert library.status().stuck
        assert library.status().applying == (address(1),)
    assert eventually(lambda: not library.status().stuck)
    assert library.get(address(1)).tier == "approved"
    for watcher in library._workers:
        watcher.wait(60)  # a copy of the catalog in the making is a temporary file
    holds(library)


def test_a_job_whose_decision_waits_says_why_until_it_goes_on_by_itself(library: LibraryRuntime) -> None:
    keys = [address(number) for number in range(3)]
    library.add(coin(number) for number in range(4))
    library.approve([address(3)])
    library.work_in_background()
    with not_writable(library.layout.sidecar_folder("approved")):
        job = library.jobs.start("move", keys, name="Approve", options={"verb": "approve"})
        assert library.jobs.wait(job.id, timeout=60)
        library.jobs.resume(job.id)  # in vain
        assert library.jobs.wait(job.id, timeout=60)
        stuck = library.jobs.get(job.id)
        assert stuck
        assert (stuck.state, stuck.done, stuck.refused) == ("waiting", 0, 0)
        assert stuck.error.startswith("approve of 3 records is decided but waits: ")
        assert [job.id for job in library.jobs.open()] == [stuck.id]
    assert eventually(lambda: library.jobs.get(job.id).is_over)
    ended = library.jobs.get(job.id)
    assert (ended.state, ended.error, ended.done, ended.refused) == ("done", "", 3, 0)
    assert library.counts()["approved"] == 4
    holds(library)


def test_a_job_whose_wait_cannot_even_be_noted_says_so_too(disk: Path) -> None:
    faults = ExitStack()

    def fill(step: str, path: Path) -> None:
        if step == "rename" and path.parent.name == "approved" and not ended.is_set():
            if not began.is_set():
                began.set()
                faults.enter_context(full(disk))
            raise OSError(errno.ENOSPC, "No space left on device")

    began, ended = threading.Event(), threading.Event()
    with open_library(fresh_root(disk / "res"), embedder=Hashed(), disk=Disk(before=fill)) as library:
        library.add([coin(0)])
        job = library.jobs.start("move", [address(0)], name="Approve", options={"verb": "approve"})
        assert library.jobs.wait(job.id, timeout=60)
        assert library.jobs._repository.job(job.id).state == "running"
        assert library.jobs.get(job.id).is_stuck
        assert "is decided but waits" in library.jobs.get(job.id).error
        ended.set()
        faults.close()
        library.jobs.resume(job.id)
        assert library.jobs.wait(job.id, timeout=60)
        assert (library.jobs.get(job.id).state, library.jobs.get(job.id).done) == ("done", 1)
        assert library.get(address(0)).tier == "approved"


def test_a_library_on_a_read_only_disk_can_be_read_and_later_changed(disk: Path) -> None:
    root = fresh_root(disk / "res")
    with open_library(root, embedder=Hashed()) as library:
        library.add([coin(0)])
    with read_only(disk):
        with pytest.raises(MemedexError) as told:
            open_library(root, embedder=Hashed())
        assert "read-only" in str(told.value).lower()
        with open_reader(root, embedder=Hashed()) as reader:
            assert reader.get(address(0)).tier == "pending"
            with pytest.raises(ReadOnly):
                reader.approve([address(0)])
    with open_library(root, embedder=Hashed()) as library:
        assert library.approve([address(0)]).done


def cannot_open(path: Path) -> OSError:
    """The error of opening this file."""
    with pytest.raises(OSError, match="Too many") as told:
        path.read_bytes()
    return told.value


def test_without_file_handles_a_person_keeps_the_name(library: Library) -> None:
    library.add([coin(0)])
    name = current_user()
    with no_file_handles():
        assert current_user() == name
        assert "more files and connections open" in refused(
            cannot_open(library.layout.catalog), library.layout.root
        )
        library.drafts.save(address(0), {"entity": "typed"})
    assert library.drafts.own(address(0), actor=name) == {"entity": "typed"}


@pytest.mark.parametrize("seconds", [-86_400, 366 * 86_400])
def test_a_clock_that_is_set_loses_nothing_and_keeps_the_order(root: Path, seconds: float) -> None:
    library = open_library(root, embedder=Hashed())
    library.add(coin(number) for number in range(4))
    library.reject([address(3)])
    library.catalog.keep_snapshot("daily")
    with clock_set(seconds):
        library.approve([address(0)])
        library.drafts.save(address(1), {"entity": "typed"}, actor="ann")
        library.catalog.keep_snapshot("daily")
        assert [decision.verb for decision in library.decisions()] == ["approve", "reject", "import"]
        assert library.undo().done == [address(0)]
    assert library.redo().done == [address(0)]
    library.catalog.keep_snapshot("daily")
    assert library.restore([address(3)]).done
    assert library.drafts.own(address(1), actor="ann") == {"entity": "typed"}
    assert snapshots.kept(library.layout.catalog)
    library.close()
    with open_library(library.layout.root, embedder=Hashed()) as again:
        assert [decision.verb for decision in again.decisions()] == [
            "restore", "redo", "undo", "approve", "reject", "import",
        ]  # fmt: skip
        holds(again)


def test_a_closed_library_is_read_on_a_full_disk(library: Library, disk: Path) -> None:
    root = library.layout.root
    library.add([coin(0)])
    library.close()
    with full(disk):
        for _ in range(2):  # SQLite leaves the beginning of a file that it has no room for
            with open_reader(root, embedder=Hashed()) as reader:
                assert reader.get(address(0)).name == "Coin 0"
                assert reader.history()
        with pytest.raises(NotWritten, match="is full"):
            open_library(root, embedder=Hashed())
    with open_library(root, embedder=Hashed()) as again:
        assert again.approve([address(0)]).done
