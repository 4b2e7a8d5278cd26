"""The command that deletes rejected coins for good."""

from argparse import ArgumentTypeError, Namespace

from store.cli.jobs import Verbs
from store.cli.open_library import writing
from store.cli.output import as_json, named
from store.cli.terminal import Terminal


def add_arguments(verbs: Verbs) -> None:
    """`empty-trash`."""
    emptied = verbs.add("empty-trash", empty_trash, "delete rejected coins and their files for good")
    emptied.add_argument(
        "--older-than", type=_days, default=0, metavar="DAYS", help="rejected more than so many days ago (0)"
    )
    emptied.add_argument("--yes", action="store_true", help="really delete them: it cannot be undone")


def empty_trash(arguments: Namespace, terminal: Terminal) -> int:
    """Say what would be deleted for good; with --yes, delete it."""
    with writing(arguments, terminal) as library:
        found = shown = library.trash.contents(days=arguments.older_than)
        if found.addresses and arguments.yes:
            shown = terminal.watch(
                lambda progress: library.trash.empty(
                    days=arguments.older_than, expected=len(found.addresses), actor=arguments.actor or "",
                    progress=progress,
                )
            )  # fmt: skip
    figures = f"{len(shown.addresses):,} coins, {shown.files:,} files, {shown.size:,} bytes"
    if arguments.json:
        deleted = list(shown.addresses) if arguments.yes else []
        terminal.answer_json(
            {
                "found": len(found.addresses), "files": shown.files, "bytes": shown.size, "deleted": deleted,
                "refused": as_json(shown.refused), "left": shown.left,
            }
        )  # fmt: skip
    if arguments.yes or not found.addresses:
        terminal.say(f"deleted for good: {figures}" if found.addresses else "there is nothing to delete")
        if shown.left:
            terminal.say(shown.left)
        return max(named(shown.refused, terminal), int(bool(shown.left)))
    terminal.say(f"{figures} would be deleted for good; nothing was deleted, add --yes to do it")
    return 1


def _days(text: str) -> float:
    try:
        days = float(text)
    except ValueError:
        days = -1.0
    if not 0 <= days < 100_000:
        raise ArgumentTypeError(f"{text!r} is not a number of days")
    return days
