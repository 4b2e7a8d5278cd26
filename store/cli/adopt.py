"""The command that takes over what other programs left."""

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from store.cli.imports import followed
from store.cli.jobs import Verbs
from store.cli.open_library import making, root_of, typed_path
from store.cli.output import as_json, named
from store.cli.terminal import Terminal
from store.errors import BadSource

if TYPE_CHECKING:
    from store.adopting.report import AdoptionReport
    from store.adopting.survey import DataSurvey

_FORMATS = (".json", ".csv")


def add_arguments(verbs: Verbs) -> None:
    """`adopt`."""
    to = verbs.add("adopt", adopt, "take over what another program left")
    to.add_argument("path", type=typed_path, metavar="PATH", help="the folder or file of another program")
    to.add_argument("--vectors", default="", metavar="MODEL", help="the model that its vectors are of")
    to.add_argument("--as", default="", dest="system", metavar="SYSTEM", help="what it is, if several fit")
    to.add_argument("--dry-run", action="store_true", help="say what would come, and change nothing")
    to.add_argument("--report", type=typed_path, metavar="FILE", help="write the report: .json or .csv")


def adopt(arguments: Namespace, terminal: Terminal) -> int:
    """Say what was found, and take it over unless it is a dry run; an interrupted one continues."""
    from store.adopting.systems import recognise

    if arguments.report and arguments.report.suffix.lower() not in _FORMATS:
        arguments.parser.error("--report takes a name that ends in .json or .csv")
    path: Path = arguments.path.expanduser().resolve()
    surveys = recognise(path, system=arguments.system)
    if not surveys:
        raise BadSource(
            f"nothing that is known was found in {path}; `import` takes lists, tables and pictures"
        )
    for survey in surveys:
        _describe(survey, terminal)
    if arguments.dry_run:
        if arguments.json:
            terminal.answer_json([_survey_json(survey) for survey in surveys])
        return 1 if any(survey.refused for survey in surveys) else 0
    reports = _carried_out(surveys, arguments, terminal)
    return _print(reports, arguments, terminal)


def _carried_out(
    surveys: "Sequence[DataSurvey]", arguments: Namespace, terminal: Terminal
) -> "list[AdoptionReport]":
    from store.adopting.systems import library_system
    from store.tasks import adopt as task

    texts = [survey for survey in surveys if library_system(survey.system) is None]
    coins = [survey for survey in surveys if library_system(survey.system)]
    actor, vectors = arguments.actor or "", arguments.vectors
    reports = []
    if coins:
        with making(arguments, terminal) as library:
            for survey in coins:
                job = task.start(library, survey, vectors=vectors, actor=actor)
                done = terminal.watch(partial(followed, library, job))
                if done.state != "done":
                    raise BadSource(done.error or f"it is {done.state}; `jobs resume {done.id}` continues it")
                if report := task.report_of(library, done):
                    reports.append(report)
    for survey in texts:
        take_over = partial(task.adopt_texts, root_of(arguments), survey, vectors=vectors, actor=actor)
        reports.append(terminal.watch(take_over))
    return reports


def _print(reports: "Sequence[AdoptionReport]", arguments: Namespace, terminal: Terminal) -> int:
    for report in reports:
        terminal.say(
            f"{report.system}: taken {len(report.taken):,}, already there {len(report.present):,}, "
            f"refused {len(report.refused):,}, moved aside {len(report.moved_aside):,}; "
            f"vectors reused {report.reused:,}, computed {report.embedded:,}"
        )
        for note in report.notes:
            terminal.say(note)
    if arguments.json:
        terminal.answer_json([asdict(report) for report in reports])
    if path := arguments.report:
        _write(reports, path)
    return named([refusal for report in reports for refusal in report.refused], terminal)


def _write(reports: "Sequence[AdoptionReport]", path: Path) -> None:
    if path.suffix.lower() == ".csv":
        head, *_ = (lines := [report.as_csv().splitlines(keepends=True) for report in reports])
        text = "".join([*head, *(line for others in lines[1:] for line in others[1:])])
    else:
        text = (
            reports[0].as_json() if len(reports) == 1 else f"[{','.join(one.as_json() for one in reports)}]"
        )
    path.write_text(text, encoding="utf-8", newline="")


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
