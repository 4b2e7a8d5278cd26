"""Commands about what stands in pictures."""

from argparse import Namespace

from store.cli.open_library import spelled, writing
from store.cli.output import report
from store.cli.terminal import Terminal
from store.outcome import Outcome
from store.progress import Progress


def read_text(arguments: Namespace, terminal: Terminal) -> int:
    """Read the text in pictures that were not read yet."""
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
