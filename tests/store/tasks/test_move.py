"""A decision on many records is one job and one decision."""

import errno
from pathlib import Path

import pytest

from store.disk.files import Disk
from store.errors import Superseded
from store.jobs import background_worker
from store.library import Library
from store.runtime import open_library
from tests.store.conftest import address, approved_with_caption, coin
from tests.store.hashed import Hashed
from tests.waiting import eventually


class _NoRenames:
    """A disk on which nothing is renamed into `approved` for a while."""

    is_broken = False

    def __call__(self, name: str, path: Path) -> None:
        if self.is_broken and name == "rename" and path.parent.name == "approved":
            raise OSError(errno.EACCES, "the disk says no")


@pytest.mark.slow
def test_a_background_promotion_is_one_decision_and_lists_refused_records(library: Library) -> None:
    ready = approved_with_caption(library, *range(70))
    library.add([coin(99)])
    job = library.jobs.start("move", [*ready, address(99)], name="Promote", options={"verb": "promote"})
    assert library.jobs.wait(job.id, timeout=60)
    over = library.jobs.get(job.id)
    assert (over.state, over.done, over.refused) == ("done", 70, 1)
    (refused,) = library.jobs.items(job.id, state="refused")
    assert (refused.key, "it is in review, not approved" in refused.reason) == (address(99), True)
    assert {event.decision for event in library.history(address=ready[0], limit=1)} == {job.decision}
    library.undo()
    assert library.counts()["library"] == 0


def test_a_resumed_decision_does_not_refuse_records_it_already_moved(library: Library) -> None:
    library.add([coin(number) for number in range(3)])
    keys = [address(number) for number in range(3)]
    job = library.jobs.start("move", keys[:1], name="Approve", options={"verb": "approve"})
    assert library.jobs.wait(job.id, timeout=60)
    with library.catalog.writing() as db:  # as if killed after the move, before marking the item
        db.execute("UPDATE job_items SET state = 'waiting'")
        db.execute("UPDATE jobs SET state = 'interrupted', done = 0")
    library.jobs.resume_interrupted()
    assert library.jobs.wait(job.id, timeout=60)
    assert (library.jobs.get(job.id).done, library.jobs.get(job.id).refused) == (1, 0)
    assert len(library.history(decision=job.decision)) == 1


def test_a_decision_undone_while_running_does_not_continue(library: Library) -> None:
    library.add([coin(number) for number in range(2)])
    library.move("approve", [address(0)], decision="all that match")
    library.undo()
    with pytest.raises(Superseded, match="the rest is left alone"):
        library.move("approve", [address(1)], decision="all that match")
    assert library.counts()["pending"] == 2


@pytest.mark.usefixtures("without_chroma")
def test_a_decision_that_waits_for_the_disk_goes_on_by_itself_and_is_refused_to_no_record(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background_worker, "FIRST", 0.01)
    disk = _NoRenames()
    keys = [address(number) for number in range(3)]
    with open_library(root, embedder=Hashed(), disk=Disk(before=disk)) as library:
        library.add([coin(number) for number in range(3)])
        disk.is_broken = True
        job = library.jobs.start("move", keys, name="Approve", options={"verb": "approve"})
        assert library.jobs.wait(job.id, timeout=60)
        assert eventually(lambda: "is decided but waits" in library.jobs.get(job.id).error)
        assert library.jobs.get(job.id).done == library.jobs.get(job.id).refused == 0
        disk.is_broken = False
        assert eventually(lambda: library.jobs.get(job.id).is_over)
        ended = library.jobs.get(job.id)
        assert (ended.state, ended.error, ended.done, ended.refused) == ("done", "", 3, 0)
        assert len(library.history(decision=job.decision)) == 3
        assert library.counts()["approved"] == 3
