"""The job "adopt": take over another program's data, resumable and undone as one decision."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from store.disk.aside import PREFIX
from store.disk.files import Disk
from store.errors import BadSource
from store.jobs import Job, JobContext, JobKind

if TYPE_CHECKING:
    from store.adopting.report import AdoptionReport
    from store.adopting.survey import DataSurvey
    from store.library import Library
    from store.memory.memory import Memory
    from store.progress import Progress
    from store.reading.reader import Reader


def look(path: str) -> "list[DataSurvey]":
    """What is at this path (`store/adopting/systems.py`). Raises BadSource."""
    from store.adopting.systems import recognise

    return recognise(Path(path).expanduser().resolve())


def waiting_vectors(library: "Reader") -> int:
    """How many vectors of another program lie in this library's own folder and were not adopted yet."""
    top = library.layout.memecoins
    if not any(library.layout.chroma.glob(f"{PREFIX}*")):  # what is foreign is there once Chroma has begun
        return 0
    if any(job.options["path"] == str(top) for job in done(library)):
        return 0
    from store.adopting.adopted_vectors import collections

    return sum(one.found.count for one in collections(library.layout.chroma))


def done(library: "Reader") -> list[Job]:
    """The adoptions that came to an end, newest first."""
    return [job for job in library.jobs.all() if job.kind == KIND.name and job.state == "done"]


def report_text(library: "Reader", job: Job, form: str) -> bytes:
    """The report as "json" or "csv"; empty if its file is gone."""
    report = report_of(library, job)
    if report is None:
        return b""
    return (report.as_csv() if form == "csv" else report.as_json()).encode()


def start(library: "Library", survey: "DataSurvey", *, vectors: str = "", actor: str = "") -> Job:
    """Take over what the survey found, in the background. Raises BadSource for what is no model's name."""
    if vectors:
        from store.adopting.adopted_vectors import check_name

        check_name(vectors)
    return library.jobs.start(
        "adopt",
        name=f"Adopt {survey.title}: {survey.path.name}",
        options={"path": str(survey.path), "system": survey.system, "vectors": vectors},
        actor=actor,
    )


def adopt_texts(
    root: Path,
    survey: "DataSurvey",
    progress: "Progress",
    *,
    vectors: str = "",
    actor: str = "",
    decision: str = "",
    opened: "Callable[[Path], Memory] | None" = None,
) -> "AdoptionReport":
    """Take over texts into the text memory of this root, at once.

    Raises BadSource if the survey has no texts.
    """
    from store.adopting.system import AdoptionRequest
    from store.adopting.systems import memory_system
    from store.memory.memory import Memory

    system = memory_system(survey.system)
    if system is None:
        raise BadSource(f"{survey.title} has nothing for the text memory")
    with closing((opened or Memory.open)(root)) as memory:
        return system.adopt(memory, survey, AdoptionRequest(decision, actor, vectors), progress)


def report_of(library: "Reader", job: Job) -> "AdoptionReport | None":
    """The report of an adoption, once it has one."""
    from store.adopting.report import AdoptionReport

    path = _report(library, job)
    return AdoptionReport.from_json(path.read_text("utf-8")) if path.is_file() else None


def _adopt(context: "JobContext[Library]") -> None:
    from store.adopting.system import AdoptionRequest
    from store.adopting.systems import library_system, recognise

    library, job = context.library, context.job
    path, vectors = Path(job.options["path"]), job.options["vectors"]
    found = recognise(path, system=job.options["system"])
    if not found:
        raise BadSource(f"{path} no longer holds what was found there")
    survey = found[0]
    system = library_system(survey.system)
    if system:
        request = AdoptionRequest(job.decision, job.actor, vectors)
        report = system.adopt(library, survey, request, context.progress)
    else:
        report = adopt_texts(
            library.layout.root, survey, context.progress,
            vectors=vectors, actor=job.actor, decision=job.decision,
        )  # fmt: skip
    file = _report(library, job)
    disk = Disk()
    disk.make_folder(file.parent)
    disk.replace(file, report.as_json().encode())
    context.store_note(**report.counts)


def _report(library: "Reader", job: Job) -> Path:
    return library.layout.reports / f"{job.decision}.json"


KIND = JobKind("adopt", _adopt)
