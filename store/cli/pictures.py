"""Commands about what stands in pictures."""

from argparse import Namespace
from collections.abc import Sequence

from store.catalog import unfit_words
from store.cli import values
from store.cli.jobs import Verbs
from store.cli.open_library import reading, spelled, writing
from store.cli.output import named, report
from store.cli.terminal import Terminal
from store.library import Library
from store.outcome import Outcome, Refusal
from store.pictures.unfit import UnfitWordEdits
from store.progress import Progress


def add_arguments(verbs: Verbs) -> None:
    """`read-pictures`, `flag`, `unfit-words`, `correct-text`."""
    verbs.add("read-pictures", read_pictures, "read the text in new pictures, and look for nudity")
    flagged = verbs.add("flag", flag, "say whether coins are unfit for the screen (safe mode)")
    flagged.add_argument("addresses", nargs="+", metavar="ADDRESS")
    says = flagged.add_mutually_exclusive_group(required=True)
    says.add_argument("--unfit", dest="unfit", action="store_true", default=None)
    says.add_argument("--fit", dest="unfit", action="store_false")
    says.add_argument("--automatic", action="store_true", help="as program and word list say")
    unfit = verbs.add("unfit-words", unfit_words_, "show or edit the words that flag a coin")
    unfit.add_argument("--add", metavar="A,B", type=values.tags, default=[])
    unfit.add_argument("--remove", metavar="A,B", type=values.tags, default=[])
    corrected = verbs.add("correct-text", correct_text, "say what stands in a coin's picture")
    corrected.add_argument("address", metavar="ADDRESS")
    what = corrected.add_mutually_exclusive_group(required=True)
    what.add_argument("--text", metavar="TEXT", help='what stands there; "" for nothing')
    what.add_argument("--read", action="store_true", help="let what the program read count again")


def read_pictures(arguments: Namespace, terminal: Terminal) -> int:
    """Read the text in pictures that were not read yet, and look for nudity in them."""
    with writing(arguments, terminal) as library:
        outcome = terminal.watch(lambda progress: library.picture_texts.read(progress=progress))
    return report(outcome, arguments, terminal)


def correct_text(arguments: Namespace, terminal: Terminal) -> int:
    """Say what stands in a picture, or let the program's reading count again."""

    def work(progress: Progress) -> Outcome:
        text = None if arguments.read else arguments.text
        return library.correct_text(spelled([arguments.address]), text, actor=arguments.actor or "")

    with writing(arguments, terminal) as library:
        outcome = terminal.watch(work)
    return report(outcome, arguments, terminal)


def flag(arguments: Namespace, terminal: Terminal) -> int:
    """Flag coins as unfit for the screen or as fit, or leave it to the program."""

    def work(progress: Progress) -> Outcome:
        unfit = None if arguments.automatic else arguments.unfit
        return library.flag(spelled(arguments.addresses), unfit, actor=arguments.actor or "")

    with writing(arguments, terminal) as library:
        outcome = terminal.watch(work)
    return report(outcome, arguments, terminal)


def unfit_words_(arguments: Namespace, terminal: Terminal) -> int:
    """Show how the library's list differs from the shipped one; with --add or --remove, edit it."""
    refused: list[Refusal] = []
    if arguments.add or arguments.remove:
        with writing(arguments, terminal) as library:
            of_list = [*unfit_words.shipped(), *library.unfit.words().added, *arguments.add]
            known = unfit_words.cleaned(of_list)
            unknown = [word for word in arguments.remove if not set(unfit_words.cleaned([word])) & set(known)]
            refused = [Refusal(word, "it is no word of the list") for word in unknown]
            gone = [word for word in arguments.remove if word not in unknown]
            edits = edited(library, add=arguments.add, remove=gone)
    else:
        with reading(arguments, terminal) as reader:
            edits = reader.unfit.words()
    if arguments.json:
        terminal.answer_json({"added": list(edits.added), "removed": list(edits.removed)})
    else:
        terminal.say(
            f"added: {', '.join(edits.added) or 'none'}; removed: {', '.join(edits.removed) or 'none'}"
        )
    return named(refused, terminal)


def edited(library: Library, *, add: Sequence[str], remove: Sequence[str]) -> UnfitWordEdits:
    """Add and remove these words; a word that was removed before and is added counts again."""
    before = library.unfit.words()
    added = [word for word in [*before.added, *add] if word not in remove]
    removed = [word for word in [*before.removed, *remove] if word not in add]
    return library.unfit.edit_words(added=added, removed=removed)
