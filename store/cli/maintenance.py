"""Commands for maintenance: doctor, model, backup, restore-backup."""

from argparse import Namespace
from dataclasses import asdict

from store.backup import backup as copy_library
from store.backup import backup_memory as copy_memory
from store.backup import restore_backup as put_back
from store.backup import restore_files as write_files
from store.cli.open_library import (
    ELSEWHERE,
    check_there_is_one,
    has_library,
    making,
    no_library,
    reading,
    root_of,
    writing,
)
from store.cli.output import as_json, named, report
from store.cli.terminal import Terminal
from store.disk.layout import Layout
from store.disk.replica import refuse_replica
from store.embedding.model_download import download
from store.embedding.protocol import REFERENCE
from store.errors import LibraryInUse, ReadOnly
from store.maintenance import doctor as checking
from store.maintenance.doctor import DoctorFinding
from store.reading.reader import Reader
from store.tags.taxonomy_file import set_aside_if_broken
from store.tasks import models
from store.writing.salvage import move_foreign_catalog_aside, salvage_if_damaged


def doctor(arguments: Namespace, terminal: Terminal) -> int:
    """Print problems, and repair them if asked; status 0 if there are none."""
    if not has_library(root := root_of(arguments)):
        return _findings([DoctorFinding(no_library(root), ELSEWHERE)], arguments, terminal)
    if arguments.repair:
        refuse_replica(Layout(root_of(arguments)).catalog)
        move_foreign_catalog_aside(Layout(root_of(arguments)))
        if salvaged := salvage_if_damaged(Layout(root_of(arguments))):
            terminal.say(salvaged.summary)
        if told := set_aside_if_broken(Layout(root)):
            terminal.say(told)
        with making(arguments, terminal) as library:
            left = terminal.watch(
                lambda progress: checking.repair(library, progress=progress, tell=terminal.say)
            )
        return _findings(left, arguments, terminal)
    try:
        found = terminal.watch(
            lambda progress: checking.check_unopened(root_of(arguments), progress=progress)
        )
    except (LibraryInUse, ReadOnly) as error:
        terminal.say(f"{error}; Chroma itself is not looked into, since only who writes may open it")
        with Reader(root_of(arguments)) as reader:
            found = terminal.watch(lambda progress: checking.check(reader, progress=progress))
    return _findings(found, arguments, terminal)


def model(arguments: Namespace, terminal: Terminal) -> int:
    """Show the library's embedding model; with a name, embed everything with that one and switch.

    With --download, fetch the weights of a model instead; that needs no library, and leaves it as it is.
    """
    if arguments.download:
        return _download(arguments.name or REFERENCE, terminal)
    if arguments.name is None:
        with reading(arguments, terminal) as reader:
            name = reader.model
    else:
        with writing(arguments, terminal) as library:
            switched = terminal.watch(
                lambda progress: models.switch_model(library, arguments.name, progress=progress)
            )
            name = library.model
        if not switched:
            terminal.say(f"not switched, the model is still {name}; what was embedded is kept for next time")
    if arguments.json:
        terminal.answer_json({"model": name})
    else:
        terminal.answer(name)
    return 0


def _download(name: str, terminal: Terminal) -> int:
    done = terminal.watch(lambda progress: download(name, progress))
    terminal.say(
        f"{name} is on this machine; `model {name}` embeds everything with it"
        if done
        else f"what has come of {name} is kept; the same command goes on"
    )
    return 0


def backup(arguments: Namespace, terminal: Terminal) -> int:
    """Copy the library as it is at one moment, even while another process writes."""
    root = root_of(arguments)
    if not has_library(root) and (root / "memory").is_dir():
        what = "files of the text memory"
        outcome = terminal.watch(lambda progress: copy_memory(root, arguments.path, progress=progress))
    else:
        what = "records"
        check_there_is_one(arguments)
        with reading(arguments, terminal) as reader:
            outcome = terminal.watch(lambda progress: copy_library(reader, arguments.path, progress=progress))
    if not terminal.was_interrupted:
        terminal.say(f"backed up {len(outcome.done):,} {what} to {arguments.path}, and read back")
    if arguments.json:
        terminal.answer_json(
            {"path": str(arguments.path), "done": outcome.done, "refused": as_json(outcome.refused)}
        )
    return named(outcome.refused, terminal)


def restore_files(arguments: Namespace, terminal: Terminal) -> int:
    """Write the files of a restored catalog again; status 1 if some pictures could not be had."""
    root = root_of(arguments)
    outcome = terminal.watch(lambda progress: write_files(root, progress=progress))
    return report(outcome, arguments, terminal)


def restore_backup(arguments: Namespace, terminal: Terminal) -> int:
    """Restore a backup; the current library is kept as a backup of its own."""
    root = root_of(arguments)
    restored = terminal.watch(lambda progress: put_back(root, arguments.path, progress=progress))
    if restored.replaced:
        terminal.say(f"what was there before is kept in {restored.replaced}; restore-backup takes it as well")
    if restored.refused:
        terminal.say("nothing was restored: the backup is damaged")
    elif not terminal.was_interrupted and not any(name.startswith("memecoins/") for name in restored.done):
        terminal.say(f"restored {len(restored.done):,} files of the text memory")
    elif not terminal.was_interrupted:
        with making(arguments, terminal) as library:
            terminal.say(f"restored {sum(library.counts().values()):,} records")
    if restored.fault:
        terminal.say(f"the catalog was damaged when this backup was made ({restored.fault}); doctor --repair")
    if arguments.json:
        replaced = str(restored.replaced) if restored.replaced else None
        answer = {"replaced": replaced, "refused": as_json(restored.refused), "damaged": restored.fault}
        terminal.answer_json(answer)
    return named(restored.refused, terminal) or int(bool(restored.fault))


def _findings(found: list[DoctorFinding], arguments: Namespace, terminal: Terminal) -> int:
    well = not any(finding.is_fault for finding in found)
    if arguments.json:
        terminal.answer_json({"well": well, "findings": [asdict(finding) for finding in found]})
    for finding in found:
        about = f"{finding.address}: " if finding.address else ""
        terminal.say(f"{about}{finding.what} ({finding.remedy})")
    if well:
        terminal.say("all is well")
    return 0 if well else 1
