"""Commands for tags and the taxonomy."""

from argparse import Namespace

from store.cli.open_library import reading, spelled, writing
from store.cli.output import report
from store.cli.terminal import Terminal
from store.outcome import Outcome
from store.progress import Progress
from store.tasks import tags


def tag(arguments: Namespace, terminal: Terminal) -> int:
    """Add and remove tags of some records."""
    if not (arguments.add or arguments.remove):
        arguments.parser.error("give --add, --remove or both")

    def work(progress: Progress) -> Outcome:
        return library.edit_tags(
            spelled(arguments.addresses),
            add=arguments.add,
            remove=arguments.remove,
            progress=progress,
            actor=arguments.actor or "",
        )

    with writing(arguments, terminal) as library:
        outcome = terminal.watch(work)
    return report(outcome, arguments, terminal)


def rename(arguments: Namespace, terminal: Terminal) -> int:
    """Rename tags everywhere."""

    def work(progress: Progress) -> Outcome:
        names = dict.fromkeys(arguments.tags, arguments.to)
        return tags.rename(library, names, progress=progress, actor=arguments.actor or "")

    with writing(arguments, terminal) as library:
        outcome = terminal.watch(work)
    return report(outcome, arguments, terminal)


def taxonomy(arguments: Namespace, terminal: Terminal) -> int:
    """Show the taxonomy, or edit it; the records' categories follow."""
    if not (arguments.entries or arguments.remove):
        with reading(arguments, terminal) as reader:
            entries = reader.taxonomy.entries
        if arguments.json:
            terminal.answer_json(entries)
        else:
            terminal.answer_table(("tag", "category"), [*entries.items()])
        return 0

    def work(progress: Progress) -> Outcome:
        entries = {**library.taxonomy.entries, **dict(arguments.entries)}
        gone = {tag.casefold() for tag in arguments.remove}
        kept = {tag: category for tag, category in entries.items() if tag.casefold() not in gone}
        return tags.change_taxonomy(library, kept, progress=progress, actor=arguments.actor or "")

    with writing(arguments, terminal) as library:
        outcome = terminal.watch(work)
    return report(outcome, arguments, terminal)
