"""A decision on many records is one job and one decision."""

import pytest

from store.errors import Superseded
from store.library import Library
from tests.store.conftest import address, approved_with_caption, coin


@pytest.mark.slow
def test_a_background_promotion_is_one_decision_and_lists_refused_records(library: Library) -> None:
    ready = approved_with_caption(library, *range(70))
    library.add([coin(99)])
    job = library.jobs.start("move", [*ready, address(99)], name="Promote", options={"verb": "promote"})
    assert library.jobs.wait(job.id, timeout=60)
    over = library.jobs.get(job.id)
    assert (over.state, over.done, over.refused) == ("done", 70, 1)
    (refused,) = library.jobs.items(job.id, state="refused")
    assert (refused.key, "it is in pending" in refused.reason) == (address(99), True)
    assert {event.decision for event in library.history(address=ready[0], limit=1)} == {job.decision}
    library.undo()
    assert library.counts()["library"] == 0


def test_a_resumed_decision_does_not_refuse_records_it_already_moved(
    library: Library,
) -> None:
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
