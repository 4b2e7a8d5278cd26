"""Verbs that bring coins, captions and other programs' data in, and copy coins out."""

import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Argument, Option

from store.catalog.filters import Filter
from store.cli.call import Call, as_json, spelled
from store.cli.jobs import follow, watched, what_is_left
from store.cli.verbs import CaptionFacet, Only, typed_path, verb
from store.cli.verbs import top as top_number
from store.demo import load_with_memory
from store.disk.files import absolute, read_regular
from store.disk.layout import Layout
from store.errors import BadSource
from store.exporting import FORMATS, TEXTS, Format
from store.exporting import export as write_export
from store.importing import candidates
from store.importing.candidate import RemoteLogo
from store.importing.names import FIELDS, KEPT, LEFT_OUT, Texts
from store.importing.tables import MAX_TEXT_BYTES, decoded, parsed
from store.jobs import Job
from store.library import Library
from store.outcome import ImportReport, Refusal
from store.progress import Progress
from store.records import TIERS, Tier
from store.settings import settings
from store.tasks.import_captions import Preview, preview
from store.tasks.import_captions import start as start_import
from store.tasks.inbox import EVERY, Inbox

if TYPE_CHECKING:
    from store.adopting.system import AdoptionReport, DataSurvey
    from store.importing.preview import Choices, ImportPreview


# -- coins in ---------------------------------------------------------------------------------------------


Fields = Annotated[
    list[str] | None,
    Option(
        "--field", metavar="COLUMN=FIELD",
        help=f"what a column or key counts as: {', '.join((*FIELDS, KEPT, LEFT_OUT))}",
    ),
]  # fmt: skip
BesideTexts = Annotated[Texts, Option("--texts", help="what texts beside pictures hold")]


@verb("import")
def import_(
    call: Call,
    paths: Annotated[
        list[Path], Argument(metavar="PATH", parser=typed_path, help="folder, archive, list, table, picture")
    ],
    is_preview: Annotated[
        bool, Option("--preview", help="say what each file is and what would be refused; change nothing")
    ] = False,
    field: Fields = None,
    texts: BesideTexts = "guess",
) -> int:
    """Import coins for review (pending)."""
    from store.importing.preview import ImportPreview

    choices = _choices(field, texts, call)
    if is_preview:
        shown = ImportPreview()
        for _ in candidates(paths, choices=choices, preview=shown):
            pass
        return _print_kinds(shown, call)

    def work(progress: Progress) -> ImportReport:
        progress.what = "import"
        source = ", ".join(path.resolve().name for path in paths)
        found = candidates(paths, choices=choices)
        return library.add(found, source=source, progress=progress, actor=call.actor)

    with call.making() as library:
        report = call.watch(work)
    return call.report_import(report)


def _choices(fields: Sequence[str] | None, texts: Texts, call: Call) -> "Choices":
    from store.importing.preview import Choices

    chosen: dict[str, str] = {}
    for one in fields or ():
        column, equals, meant = one.rpartition("=")
        if not equals or meant not in (*FIELDS, KEPT, LEFT_OUT):
            call.fail(f"--field takes COLUMN=FIELD, with one of {', '.join((*FIELDS, KEPT, LEFT_OUT))}")
        chosen[column] = meant
    return Choices(chosen, texts)


def _print_kinds(shown: "ImportPreview", call: Call) -> int:
    if call.json:
        call.answer_json([kind.as_json() for kind in shown.kinds.values()])
    for kind in shown.kinds.values():
        for line in kind.lines():
            call.say(line)
    call.say(f"would come in: {shown.coins:,}")
    return call.named(shown.refused)


@verb("demo")
def demo(call: Call) -> int:
    """Load the demo library and its text memory."""
    with call.making() as library:
        report = call.watch(lambda progress: load_with_memory(library, progress=progress))
    return call.report_import(report)


@verb("inbox")
def inbox(
    call: Call,
    folder: Annotated[
        Path | None, Option(metavar="DIR", parser=typed_path, help="instead of MEMEDEX_INBOX")
    ] = None,
) -> int:
    """Import what is in the watched folder, once."""
    watched_folder = folder or settings().inbox
    if watched_folder is None:
        call.fail("set MEMEDEX_INBOX, or give --folder")

    def work(progress: Progress) -> ImportReport:
        box = Inbox(library, watched_folder)
        box.scan(progress=progress)
        time.sleep(EVERY)  # what is still being copied grows in that time
        return box.scan(progress=progress)

    with call.making() as library:
        report = call.watch(work)
    return call.report_import(report)


@verb("fetch-logos")
def fetch_logos(
    call: Call,
    paths: Annotated[
        list[Path] | None,
        Argument(
            metavar="PATH", parser=typed_path, help="lists of coins; without one, go on with what is left"
        ),
    ] = None,
    field: Fields = None,
) -> int:
    """Import a list of coins whose logos are on the network."""
    choices = _choices(field, "guess", call)
    with call.making() as library:
        refused, job = _begun(library, paths, choices, call.actor) if paths else ([], _left(library))
        done = watched(library, job, call) if job else None
        if done:
            refused += [
                Refusal(item.key, item.reason)
                for item in library.jobs.items(done.id, state="refused", limit=done.total)
            ]
    fetched = done.done if done else 0
    call.say(f"fetched {fetched:,}, refused {len(refused):,}" if job else "there is nothing to fetch")
    if call.json:
        call.answer_json({"fetched": fetched, "refused": as_json(refused)})
    for line in what_is_left(done) if done else []:
        call.say(line)
    return max(call.named(refused), bool(done and done.error))


def _begun(
    library: Library, paths: Sequence[Path], choices: "Choices", actor: str
) -> tuple[list[Refusal], Job | None]:
    from store.tasks.fetch_logos import start

    found = list(candidates(paths, choices=choices))
    logos = [one for one in found if isinstance(one, RemoteLogo)]
    refused = [one for one in found if type(one) is Refusal]
    return refused, start(library, logos, name=f"Fetch logos of {paths[0].name}", actor=actor)


def _left(library: Library) -> Job | None:
    for job in library.jobs.all():
        if job.kind == "logos" and (job.can_resume or job.refused):
            if job.can_resume:
                library.jobs.resume(job.id)
            else:
                library.jobs.try_again(job.id)
            return job
    return None


# -- captions alone ---------------------------------------------------------------------------------------


@verb("import-captions")
def import_captions(
    call: Call,
    paths: Annotated[
        list[Path], Argument(metavar="PATH", parser=typed_path, help="folder, zip, table, ADDRESS.txt")
    ],
    facet: Annotated[CaptionFacet, Option(help="what .txt files contain (entity)")] = "entity",
    is_preview: Annotated[bool, Option("--preview", help="only show what would change")] = False,
) -> int:
    """Captions and tags alone, from what export writes."""
    from store.importing.captions import captions_at  # Pillow, which other verbs do without

    with (call.reading if is_preview else call.writing)() as library:
        shown = preview(library, captions_at(paths, facet=facet))
        if is_preview:
            _print_preview(shown, call)
        call.say(f"{len(shown.changes):,} to change, {shown.same:,} the same, {len(shown.refused):,} refused")
        for note in shown.notes:
            call.say(note)
        status = call.named(shown.refused)
        if is_preview or not shown.changes:
            return status
        assert isinstance(library, Library)  # opened by `writing`
        return max(status, follow(library, start_import(library, shown.changes, actor=call.actor), call))


def _print_preview(shown: Preview, call: Call) -> None:
    if call.json:
        changes = [
            {"address": one.record.address, "caption": one.caption, "tags": one.tags, "others": one.others}
            for one in shown.changes
        ]
        call.answer_json(
            {
                "changes": changes, "same": shown.same,
                "not_taken": [asdict(one) for one in shown.not_taken], "refused": as_json(shown.refused),
            }
        )  # fmt: skip
    elif shown.changes:
        rows = [
            (one.record.address, one.record.name, facet, text)
            for one in shown.changes
            for facet, text in [
                *one.caption.items(),
                *([("tags", ", ".join(one.tags))] if one.tags else []),
                *((name, str(value)) for name, value in one.others.items()),
            ]
        ]
        call.answer_table(("ADDRESS", "NAME", "FACET", "WOULD SAY"), rows)


# -- another program's data -------------------------------------------------------------------------------


@verb("adopt")
def adopt(
    call: Call,
    path: Annotated[
        Path, Argument(metavar="PATH", parser=typed_path, help="the folder or file of another program")
    ],
    vectors: Annotated[str, Option(metavar="MODEL", help="the model that its vectors are of")] = "",
    system: Annotated[str, Option("--as", metavar="SYSTEM", help="what it is, if several fit")] = "",
    dry_run: Annotated[bool, Option("--dry-run", help="say what would come, and change nothing")] = False,
    undo: Annotated[bool, Option("--undo", help="undo what came from PATH, coins and texts")] = False,
    report: Annotated[
        Path | None, Option(metavar="FILE", parser=typed_path, help="write the report: .json or .csv")
    ] = None,
) -> int:
    """Take over what another program left."""
    from store.adopting.systems import recognise
    from store.tasks.adopt import together

    if report and report.suffix.lower() not in (".json", ".csv"):
        call.fail("--report takes a name that ends in .json or .csv")
    path = absolute(path)
    if undo:
        return _undo_adoption(path, call)
    surveys = recognise(path, system=system)
    if not surveys:
        raise BadSource(
            f"nothing that is known was found in {path}; `import` takes lists, tables and pictures"
        )
    for survey in surveys:
        described(survey, call)
    if note := together(surveys):
        call.say(note)
    if dry_run:
        if call.json:
            call.answer_json(
                [
                    {
                        "system": survey.system,
                        "title": survey.title,
                        "path": str(survey.path),
                        "found": [asdict(one) for one in survey.found],
                        "refused": as_json(survey.refused),
                        "notes": list(survey.notes),
                        "needs_model": survey.needs_model,
                    }
                    for survey in surveys
                ]
            )
        return 1 if any(survey.refused for survey in surveys) else 0
    return _print_adoption(adopted(surveys, vectors, call), report, call)


def adopted(surveys: "Sequence[DataSurvey]", vectors: str, call: Call) -> "AdoptionReport":
    """Take over what was found, texts alone without a library. Raises BadSource if it came to no end."""
    from store.adopting.systems import library_system
    from store.tasks import adopt as task

    if not any(library_system(survey.system) for survey in surveys):  # a memory needs no library
        return call.watch(partial(task.adopt_texts, call.root, surveys, vectors=vectors, actor=call.actor))
    with call.making() as library:
        job = task.start(library, surveys, vectors=vectors, actor=call.actor)
        done = watched(library, job, call)
        report = task.report_of(library, done)
        if done.state != "done" or report is None:
            raise BadSource("\n".join(what_is_left(done)) or f"it is {done.state}")
    return report


def _undo_adoption(path: Path, call: Call) -> int:
    from store.tasks import adopt as task

    with call.writing() as library:
        job = task.last_from(library, path)
        if job is None:
            raise BadSource(f"no coins were adopted from {path}; `memory undo` undoes texts")
        outcome = call.watch(lambda progress: task.undo(library, job, actor=call.actor, progress=progress))
    return call.report(outcome, "undone")


def _print_adoption(report: "AdoptionReport", path: Path | None, call: Call) -> int:
    call.say(
        f"{report.system}: imported {len(report.taken):,}, already there {len(report.present):,}, "
        f"refused {len(report.refused):,}, moved aside {len(report.moved_aside):,}; "
        f"vectors reused {report.reused:,}, computed {report.embedded:,}"
    )
    for note in report.notes:
        call.say(note)
    if call.json:
        call.answer_json(asdict(report))
    if path:
        text = report.as_csv() if path.suffix.lower() == ".csv" else report.as_json()
        path.write_text(text, encoding="utf-8", newline="")
    return call.named(report.refused)


def described(survey: "DataSurvey", call: Call) -> None:
    """Say what would come in, and what would be refused."""
    call.say(f"{survey.title} in {survey.path}")
    for one in survey.found:
        call.say(f"  {one.what}: {one.count:,} ({one.where}){f': {one.note}' if one.note else ''}")
    for note in survey.notes:
        call.say(f"  {note}")
    if survey.refused:
        call.say(f"  would be refused: {len(survey.refused):,}")
        call.named(survey.refused)


# -- coins out --------------------------------------------------------------------------------------------


@verb("export")
def export(
    call: Call,
    path: Annotated[Path, Argument(metavar="PATH", parser=typed_path)],
    format: Annotated[Format, Option(metavar="F", help=", ".join(FORMATS))] = FORMATS[0],
    texts: Annotated[
        Literal["joined", "entity", "context", "visual", "emotions"],
        Option(metavar="T", help=f"with --format txt: {', '.join(TEXTS)}"),
    ] = "joined",
    tier: Annotated[Tier | None, Option(help="this tier alone; else all but rejected")] = None,
    previous: Annotated[
        Path | None,
        Option(metavar="FILE", parser=typed_path, help="with --format tokenlist: the previous list"),
    ] = None,
    only: Only = None,
) -> int:
    """Coins and pictures to a new folder or zip."""
    tiers = [tier] if tier else [tier for tier in TIERS if tier != "trash"]
    if Layout(call.root).owns(absolute(path)):
        raise BadSource(f"{path} lies inside the library; export to a place outside")
    earlier = _earlier_list(previous) if previous else None
    with call.reading() as reader:
        if only:
            records = [reader.get(address) for address in spelled(only)]
        else:
            records = [record for tier in tiers for record in reader.find(Filter(tier=tier))]
        exported = call.watch(
            lambda progress: write_export(
                records, reader.picture, destination=path, format=format, texts=texts,
                vectors_of=reader.stored_vectors, previous=earlier, progress=progress,
            )
        )  # fmt: skip
    if call.json:
        refused = as_json(exported.refused)
        call.answer_json({"path": str(path), "done": exported.done, "refused": refused})
    call.say(f"exported {len(exported.done):,} to {path}")
    return call.named(exported.refused)


@verb("page")
def page(
    call: Call,
    path: Annotated[Path, Argument(metavar="FILE", parser=typed_path, help="a new file, such as frogs.html")],
    line: Annotated[
        str, Argument(metavar="LINE", help="the question that ranks them first, as the search page's line")
    ] = "",
    top: Annotated[int, Option(metavar="N", parser=top_number, help="how many coins (50)")] = 50,
    only: Only = None,
) -> int:
    """Coins as one HTML file that ranks them by sliders, without Memedex."""
    from store.showcase import asked, page

    if not line and not only:
        call.fail("a page needs a LINE, or coins with --only")
    if Layout(call.root).owns(absolute(path)):
        raise BadSource(f"{path} lies inside the library; write the page to a place outside")
    with call.reading() as reader:
        question = asked(reader, line) if line else None
        if only:
            addresses = spelled(only)
        else:
            assert question
            results = call.watch(lambda _: reader.search(replace(question.query, top=top)))
            addresses = [hit.address for hit in results.exact_first(question.pinned)][:top]
        content = call.watch(lambda _: page(reader, addresses, asked=question))
    try:
        with path.open("xb") as file:
            file.write(content)
    except FileExistsError:
        raise BadSource(f"{path} exists already") from None
    call.say(f"saved {len(addresses):,} to {path}")
    if call.json:
        call.answer_json({"path": str(path), "coins": len(addresses), "bytes": len(content)})
    return 0


def _earlier_list(path: Path) -> dict[str, Any]:
    try:
        found = parsed(decoded(read_regular(path, limit=MAX_TEXT_BYTES)))
    except OSError as error:
        raise BadSource(f"{path} cannot be read: {error.strerror}") from error
    except BadSource as error:
        raise BadSource(f"{path}: {error}") from error
    if not isinstance(found, dict):
        raise BadSource(f"{path} is no token list")
    return found
