"""An adoption is one job and one decision, however many systems lie in the folder."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from store.adopting.chroma_texts import ChromaTexts
from store.adopting.systems import recognise
from store.chroma.follower import ChromaFollower
from store.disk.files import Disk
from store.jobs import Job
from store.library import Library
from store.memory.memory import Memory
from store.runtime import open_library
from store.tasks import adopt
from tests.store.hashed import Hashed
from tests.store.memory.bags import Bags
from tests.store.other_systems import memory_store, three_tier_library, transcript_database
from tests.store.world import FullDisk


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Library]:
    monkeypatch.setattr(ChromaFollower, "wake", lambda self: None)
    with closing(open_library(tmp_path / "res", embedder=Hashed())) as library:
        yield library


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    """The one of this process, which a job uses as well."""
    monkeypatch.setattr(ChromaFollower, "wake", lambda self: None)
    with closing(Memory.open(tmp_path / "res", embedder=Bags())) as memory:
        yield memory


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """A folder with coins, memories and transcripts."""
    folder = tmp_path / "other"
    three_tier_library(folder, range(2))
    memory_store(folder / "data/chroma", ["Likes tea", "Meets on Mondays"])
    transcript_database(folder / "s.db", ["How do I deploy?"])
    return folder


def finished(library: Library, job: Job) -> Job:
    assert library.jobs.wait(job.id, timeout=60)
    done = library.jobs.get(job.id)
    assert done
    assert done.state == "done", done.error
    return done


def texts(memory: Memory) -> int:
    return sum(memory.status().counts.values())


@pytest.mark.slow
def test_everything_in_a_folder_is_one_decision_and_one_undo(
    library: Library, memory: Memory, other: Path
) -> None:
    surveys = recognise(other)
    assert adopt.together(surveys) == "These 3 systems are one decision, with one undo for all."
    assert adopt.together(surveys[:1]) == ""
    job = finished(library, adopt.start(library, surveys))
    report = adopt.report_of(library, job)
    assert report
    assert report.system == "reference-1, chroma-texts, transcript-database"
    assert len(report.taken) == 2 + 2 + 1
    assert (library.counts()["library"], texts(memory)) == (2, 3)
    decisions = {one.id for one in memory.log.find()}
    assert decisions == {report.texts}
    finished(library, adopt.start(library, recognise(other)))  # brings nothing more
    assert adopt.last_from(library, other) == job
    outcome = adopt.undo(library, job)
    assert outcome.refused == []
    assert (library.counts()["library"], library.counts()["trash"], texts(memory)) == (0, 2, 0)
    assert adopt.last_from(library, other) is None


@pytest.mark.slow
def test_an_undo_keeps_what_somebody_edited_and_names_it(
    library: Library, memory: Memory, other: Path
) -> None:
    job = finished(library, adopt.start(library, recognise(other, system="chroma-texts")))
    memory.memories.edit("mem_1706745600", content="Likes coffee")
    outcome = adopt.undo(library, job)
    assert [(one.item, one.reason) for one in outcome.refused] == [
        ("mem_1706745600", "it was changed since; undo would lose that")
    ]
    assert [row["content"] for row in memory.memories.entries.find()] == ["Likes coffee"]
    assert adopt.is_undone(library, finished(library, job))


@pytest.mark.slow
def test_an_adoption_that_failed_goes_on_when_it_is_asked_for_again(
    library: Library, memory: Memory, other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    surveys = recognise(other)

    def fail(*given: object) -> None:
        raise OSError("the disk was pulled out")

    with monkeypatch.context() as context:
        context.setattr(ChromaTexts, "adopt", fail)
        job = adopt.start(library, surveys)
        assert library.jobs.wait(job.id, timeout=60)
    failed = library.jobs.get(job.id)
    assert failed
    assert failed.state == "failed"
    again = finished(library, adopt.start(library, surveys))
    assert (again.id, again.decision) == (job.id, job.decision)
    report = adopt.report_of(library, again)
    assert report
    assert (len(report.taken), report.present) == (5, [])


@pytest.mark.parametrize(
    ("step", "state", "why"),
    [
        ("rename", "waiting", "is decided but waits"),
        ("write", "failed", "nothing was changed: No space left"),
    ],
)
def test_an_adoption_that_meets_a_full_disk_fails_or_waits_and_can_be_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, state: str, why: str
) -> None:
    disk = FullDisk(step)
    monkeypatch.setattr(ChromaFollower, "wake", lambda self: None)
    three_tier_library(tmp_path / "other", range(3))
    with open_library(tmp_path / "res", embedder=Hashed(), disk=Disk(before=disk)) as library:
        job = adopt.start(library, recognise(tmp_path / "other"))
        assert library.jobs.wait(job.id, timeout=60)
        failed = library.jobs.get(job.id)
        assert failed
        assert failed.state == state
        assert why in failed.error
        disk.is_full = False
        library.jobs.resume(job.id)
        done = finished(library, job)
        report = adopt.report_of(library, done)
        assert report
        assert (len(report.taken), report.refused, library.counts()["library"]) == (3, [], 3)
