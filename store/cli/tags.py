"""Commands for tags and the taxonomy."""

from argparse import Namespace
from collections.abc import Iterable

from store.cli.open_library import reading, spelled, writing
from store.cli.output import report
from store.cli.terminal import Terminal
from store.outcome import Outcome, Refusal
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
    """Rename tags everywhere; those that there are not are refused."""

    def work(progress: Progress) -> Outcome:
        unknown = [
            tag
            for tag in arguments.tags
            if not library.taxonomy.knows(tag) and not tags.carrying(library, [tag])
        ]
        names = {tag: arguments.to for tag in arguments.tags if tag not in unknown}
        outcome = Outcome()
        if names:
            outcome = tags.rename(library, names, progress=progress, actor=arguments.actor or "")
        outcome.refused += [Refusal(tag, _unknown(tag, tags.known(library))) for tag in unknown]
        return outcome

    with writing(arguments, terminal) as library:
        outcome = terminal.watch(work)
    return report(outcome, arguments, terminal)


def _unknown(tag: str, known: Iterable[str]) -> str:
    near = tags.alike(tag, known)
    return f"there is no such tag; the nearest: {', '.join(near)}" if near else "there is no such tag"


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
        known = {tag.casefold() for tag in entries}
        unknown = [tag for tag in arguments.remove if tag.casefold() not in known]
        removed = tags.removed_in_part(library, unknown)
        outcome = Outcome()
        # Given again, it ends an interrupted edit.
        if arguments.entries or removed or kept != library.taxonomy.entries:
            outcome = tags.change_taxonomy(library, kept, progress=progress, actor=arguments.actor or "")
        outcome.refused += [Refusal(tag, _unknown(tag, entries)) for tag in unknown if tag not in removed]
        return outcome

    with writing(arguments, terminal) as library:
        outcome = terminal.watch(work)
    return report(outcome, arguments, terminal)
