"""The command that takes over what other programs left."""

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from store.cli.jobs import Verbs, watched, what_is_left
from store.cli.open_library import making, root_of, typed_path, writing
from store.cli.output import as_json, named
from store.cli.output import report as report_outcome
from store.cli.terminal import Terminal
from store.disk.files import absolute
from store.errors import BadSource

if TYPE_CHECKING:
    from store.adopting.system import AdoptionReport, DataSurvey

_FORMATS = (".json", ".csv")


def add_arguments(verbs: Verbs) -> None:
    """`adopt`."""
    to = verbs.add("adopt", adopt, "take over what another program left")
    to.add_argument("path", type=typed_path, metavar="PATH", help="the folder or file of another program")
    to.add_argument("--vectors", default="", metavar="MODEL", help="the model that its vectors are of")
    to.add_argument("--as", default="", dest="system", metavar="SYSTEM", help="what it is, if several fit")
    to.add_argument("--dry-run", action="store_true", help="say what would come, and change nothing")
    to.add_argument("--undo", action="store_true", help="undo what came from PATH, coins and texts")
    to.add_argument("--report", type=typed_path, metavar="FILE", help="write the report: .json or .csv")


def adopt(arguments: Namespace, terminal: Terminal) -> int:
    """Say what was found, and take it over unless it is a dry run; an interrupted one continues.

    Raises BadSource if nothing that is known was found.
    """
    from store.adopting.systems import recognise
    from store.tasks.adopt import together

    if arguments.report and arguments.report.suffix.lower() not in _FORMATS:
        arguments.parser.error("--report takes a name that ends in .json or .csv")
    path = absolute(arguments.path)
    if arguments.undo:
        return _undo(path, arguments, terminal)
    surveys = recognise(path, system=arguments.system)
    if not surveys:
        raise BadSource(
            f"nothing that is known was found in {path}; `import` takes lists, tables and pictures"
        )
    for survey in surveys:
        _describe(survey, terminal)
    if note := together(surveys):
        terminal.say(note)
    if arguments.dry_run:
        if arguments.json:
            terminal.answer_json([_survey_json(survey) for survey in surveys])
        return 1 if any(survey.refused for survey in surveys) else 0
    return _print(_carried_out(surveys, arguments, terminal), arguments, terminal)


def _carried_out(
    surveys: "Sequence[DataSurvey]", arguments: Namespace, terminal: Terminal
) -> "AdoptionReport":
    from store.adopting.systems import library_system
    from store.tasks import adopt as task

    actor, vectors = arguments.actor or "", arguments.vectors
    if not any(library_system(survey.system) for survey in surveys):  # a memory needs no library
        take_over = partial(task.adopt_texts, root_of(arguments), surveys, vectors=vectors, actor=actor)
        return terminal.watch(take_over)
    with making(arguments, terminal) as library:
        job = task.start(library, surveys, vectors=vectors, actor=actor)
        done = watched(library, job, terminal)
        report = task.report_of(library, done)
        if done.state != "done" or report is None:
            raise BadSource("\n".join(what_is_left(done)) or f"it is {done.state}")
    return report


def _undo(path: Path, arguments: Namespace, terminal: Terminal) -> int:
    from store.tasks import adopt as task

    with writing(arguments, terminal) as library:
        job = task.last_from(library, path)
        if job is None:
            raise BadSource(f"no coins were adopted from {path}; `memory undo` undoes texts")
        outcome = terminal.watch(
            lambda progress: task.undo(library, job, actor=arguments.actor or "", progress=progress)
        )
    return report_outcome(outcome, arguments, terminal)


def _print(report: "AdoptionReport", arguments: Namespace, terminal: Terminal) -> int:
    terminal.say(
        f"{report.system}: imported {len(report.taken):,}, already there {len(report.present):,}, "
        f"refused {len(report.refused):,}, moved aside {len(report.moved_aside):,}; "
        f"vectors reused {report.reused:,}, computed {report.embedded:,}"
    )
    for note in report.notes:
        terminal.say(note)
    if arguments.json:
        terminal.answer_json(asdict(report))
    if path := arguments.report:
        is_table = path.suffix.lower() == ".csv"
        text = report.as_csv() if is_table else report.as_json()
        path.write_text(text, encoding="utf-8", newline="")
    return named(report.refused, terminal)


def _describe(survey: "DataSurvey", terminal: Terminal) -> None:
    terminal.say(f"{survey.title} in {survey.path}")
    for one in survey.found:
        note = f": {one.note}" if one.note else ""
        terminal.say(f"  {one.count:,} {one.what} ({one.where}){note}")
    for note in survey.notes:
        terminal.say(f"  {note}")
    if survey.refused:
        terminal.say(f"  would be refused: {len(survey.refused):,}")
        named(survey.refused, terminal)


def _survey_json(survey: "DataSurvey") -> dict[str, Any]:
    return {
        "system": survey.system,
        "title": survey.title,
        "path": str(survey.path),
        "found": [asdict(one) for one in survey.found],
        "refused": as_json(survey.refused),
        "notes": list(survey.notes),
        "needs_model": survey.needs_model,
    }
