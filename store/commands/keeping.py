"""The verbs that keep a library well: doctor, model, backup, restore-backup."""

from argparse import Namespace
from dataclasses import asdict

from store import doctor as checking
from store import switching
from store.backup import backup as copy_library
from store.backup import restore_backup as put_back
from store.commands.opening import check_there_is_one, has_library, making, reading, root_of, writing
from store.commands.reporting import as_json, named
from store.commands.terminal import Terminal
from store.doctor import Finding
from store.errors import LibraryInUse, ReadOnly
from store.layout import Layout
from store.reading import Reader
from store.salvage import salvage_if_damaged


def doctor(arguments: Namespace, terminal: Terminal) -> int:
    """Say what is wrong, and mend it if asked; status 0 when all is well."""
    if not has_library(root_of(arguments)):
        terminal.say(f"there is no library in {root_of(arguments)} yet")
        return _findings([], arguments, terminal)
    if arguments.repair:
        if salvaged := salvage_if_damaged(Layout(root_of(arguments))):
            terminal.say(salvaged.told)
        with making(arguments, terminal) as library:
            left = terminal.watch(
                lambda progress: checking.repair(library, progress=progress, tell=terminal.say)
            )
        return _findings(left, arguments, terminal)
    try:
        found = terminal.watch(lambda _: checking.check_unopened(root_of(arguments)))
    except (LibraryInUse, ReadOnly) as error:
        terminal.say(f"{error}; Chroma itself is not looked into, since only who writes may open it")
        with Reader(root_of(arguments)) as reader:
            found = checking.check(reader)
    return _findings(found, arguments, terminal)


def model(arguments: Namespace, terminal: Terminal) -> int:
    """Show the library's embedding model; with a name, embed everything with that one and switch."""
    if arguments.name is None:
        with reading(arguments, terminal) as reader:
            name = reader.model
    else:
        with writing(arguments, terminal) as library:
            switched = terminal.watch(
                lambda progress: switching.switch_model(library, arguments.name, progress=progress)
            )
            name = library.model
        if not switched:
            terminal.say(f"not switched, the model is still {name}; what was embedded is kept for next time")
    if arguments.json:
        terminal.answer_json({"model": name})
    else:
        terminal.answer(name)
    return 0


def backup(arguments: Namespace, terminal: Terminal) -> int:
    """Copy the library as it is at one moment, also while another process writes."""
    check_there_is_one(arguments)
    with reading(arguments, terminal) as reader:
        outcome = terminal.watch(lambda progress: copy_library(reader, arguments.path, progress=progress))
    if not terminal.was_interrupted:
        terminal.say(f"backed up {len(outcome.done):,} records to {arguments.path}, and read back")
    if arguments.json:
        terminal.answer_json(
            {"path": str(arguments.path), "done": outcome.done, "refused": as_json(outcome.refused)}
        )
    return named(outcome.refused, terminal)


def restore_backup(arguments: Namespace, terminal: Terminal) -> int:
    """Put a backup back; what was there before is kept as a backup of its own."""
    root = root_of(arguments)
    restored = terminal.watch(lambda progress: put_back(root, arguments.path, progress=progress))
    if restored.replaced:
        terminal.say(f"what was there before is kept in {restored.replaced}; restore-backup takes it as well")
    if restored.refused:
        terminal.say("nothing was restored: the backup is damaged")
    elif not terminal.was_interrupted:
        with making(arguments, terminal) as library:
            terminal.say(f"restored {sum(library.counts().values()):,} records")
    if arguments.json:
        replaced = str(restored.replaced) if restored.replaced else None
        terminal.answer_json({"replaced": replaced, "refused": as_json(restored.refused)})
    return named(restored.refused, terminal)


def _findings(found: list[Finding], arguments: Namespace, terminal: Terminal) -> int:
    if arguments.json:
        terminal.answer_json({"well": not found, "findings": [asdict(finding) for finding in found]})
    for finding in found:
        about = f"{finding.address}: " if finding.address else ""
        terminal.say(f"{about}{finding.what} ({finding.remedy})")
    if not found:
        terminal.say("all is well")
    return 1 if found else 0
