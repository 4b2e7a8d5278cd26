"""The job "adopt": take over another program's data, resumable and undone as one decision."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from store.disk.aside import PREFIX
from store.disk.files import Disk, absolute
from store.errors import BadSource
from store.jobs import Job, JobContext, JobKind
from store.outcome import Outcome

if TYPE_CHECKING:
    from store.adopting.system import AdoptionReport, DataSurvey
    from store.library import Library
    from store.progress import Progress
    from store.reading.reader import Reader


def survey(path: str) -> "list[DataSurvey]":
    """What is at this path (`store/adopting/systems.py`). Raises BadSource."""
    from store.adopting.systems import recognise

    return recognise(absolute(path))


def together(surveys: "Sequence[DataSurvey]") -> str:
    """That several systems are one decision, for a preview; "" if it is one system."""
    if len(surveys) < 2:
        return ""
    return f"These {len(surveys)} systems are one decision, with one undo for all."


def waiting_vectors(library: "Reader") -> int:
    """How many vectors of another program lie in this library's own folder and were not adopted yet."""
    if not any(library.layout.chroma.glob(f"{PREFIX}*")):  # what is foreign is there once Chroma has begun
        return 0
    from store.adopting.three_tiers import waiting

    return waiting(library)


def done(library: "Reader") -> list[Job]:
    """The adoptions that came to an end, newest first."""
    return [job for job in library.jobs.all() if job.kind == KIND.name and job.state == "done"]


def brings_coins(job: Job) -> bool:
    """Whether this job adopts a library, and not only texts."""
    if job.kind != KIND.name:
        return False
    from store.adopting.systems import library_system

    return any(library_system(name) for name in job.options["systems"])


def last_from(library: "Reader", path: Path) -> Job | None:
    """The last adoption that brought something from there and was not undone."""
    found = (job for job in done(library) if path in (place := Path(job.options["path"]), *place.parents))
    return next((job for job in found if job.note["taken"] and not is_undone(library, job)), None)


def report_text(library: "Reader", job: Job, form: str) -> bytes:
    """The report as "json" or "csv"; empty if its file is gone."""
    report = report_of(library, job)
    if report is None:
        return b""
    return (report.as_csv() if form == "csv" else report.as_json()).encode()


def start(library: "Library", surveys: "Sequence[DataSurvey]", *, vectors: str = "", actor: str = "") -> Job:
    """Take over what was found at one place, in the background, as one decision.

    The same adoption goes on if it was interrupted. Raises BadSource for what is no model's name.
    """
    if vectors:
        from store.adopting.three_tiers import check_name

        check_name(vectors)
    path = min((one.path for one in surveys), key=lambda path: len(path.parts))
    options = {"path": str(path), "systems": [one.system for one in surveys], "vectors": vectors}
    for job in library.jobs.all():
        if job.kind == KIND.name and job.options == options and job.actor == (actor or library.actor_name):
            if job.can_resume:
                library.jobs.resume(job.id)
            if job.can_resume or job.is_under_way:
                return job
    title = ", ".join(one.title for one in surveys)
    return library.jobs.start("adopt", name=f"Adopt {title}: {path.name}", options=options, actor=actor)


def adopt_texts(
    root: Path, surveys: "Sequence[DataSurvey]", progress: "Progress", *, vectors: str = "", actor: str = ""
) -> "AdoptionReport":
    """Take over texts into this root's memory, at once and as one decision. Raises BadSource for none."""
    from store.adopting import systems
    from store.adopting.system import AdoptionRequest
    from store.memory.memory import Memory

    memory = Memory.open(root)  # not closed: pages of this process use the same one
    return systems.adopt_texts(memory, surveys, AdoptionRequest("", actor, vectors), progress)


def undo(library: "Library", job: Job, *, actor: str = "", progress: "Progress | None" = None) -> Outcome:
    """Take back what a finished adoption brought, coins and texts; what was changed since is refused."""
    from store.memory.memory import Memory

    outcome = Outcome(decision=job.decision)
    if library.decision(job.decision):
        undone = library.undo_decisions([job.decision], actor=actor, progress=progress)
        outcome.done, outcome.refused = undone.done, undone.refused
    if texts_decision := job.note.get("texts"):  # a number, up to version 1.2
        memory = Memory.open(library.layout.root)
        if memory.log.get(str(texts_decision)):
            texts = memory.undo_decisions([str(texts_decision)], actor=actor)
            outcome.done += texts.done
            outcome.refused += texts.refused
    library.jobs.dismiss(job.id, actor=actor)
    return outcome


def report_of(library: "Reader", job: Job) -> "AdoptionReport | None":
    """The report of an adoption, once it has one."""
    from store.adopting.system import AdoptionReport

    path = _report(library, job)
    return AdoptionReport.from_json(path.read_text("utf-8")) if path.is_file() else None


def _adopt(context: "JobContext[Library]") -> None:
    from store.adopting.system import AdoptionReport, AdoptionRequest
    from store.adopting.systems import library_system, recognise

    library, job, progress = context.library, context.job, context.progress
    path, vectors = Path(job.options["path"]), job.options["vectors"]
    surveys = [one for name in job.options["systems"] for one in recognise(path, system=name)]
    if not surveys:
        raise BadSource(f"{path} no longer holds what was found there")
    report, texts = AdoptionReport(), []
    for survey in surveys:
        if system := library_system(survey.system):
            request = AdoptionRequest(job.decision, job.actor, vectors)
            report.add(system.adopt(library, survey, request, progress))
        else:
            texts.append(survey)
    if texts and not progress.cancelled:
        report.add(adopt_texts(library.layout.root, texts, progress, vectors=vectors, actor=job.actor))
    file = _report(library, job)
    disk = Disk()
    disk.make_folder(file.parent)
    disk.replace(file, report.as_json().encode())
    context.store_note(**report.counts, texts=report.texts)


def is_undone(library: "Reader", job: Job) -> bool:
    """Whether an adoption was undone."""
    decision = library.decision(job.decision)  # None if it brought texts alone
    return decision.is_undone if decision else bool(job.note.get("dealt"))


def _report(library: "Reader", job: Job) -> Path:
    return library.layout.reports / f"{job.decision}.json"


KIND = JobKind("adopt", _adopt)
