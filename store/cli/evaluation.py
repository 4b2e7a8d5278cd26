"""Commands that evaluate and calibrate the search."""

from argparse import Namespace

from store.cli import values
from store.cli.jobs import Verbs
from store.cli.open_library import reading, writing
from store.cli.terminal import Terminal
from store.evaluation import evaluation
from store.evaluation.evaluation import TOP
from store.identity import current_user


def add_arguments(verbs: Verbs) -> None:
    """`evaluate`, `calibrate`."""
    evaluated = verbs.add("evaluate", evaluate, "run the golden queries and print recall, MRR and nDCG")
    evaluated.add_argument(
        "-k", type=values.depth, default=TOP, metavar="K", help="how many results count (10)"
    )
    evaluated.add_argument("--keep", action="store_true", help="store the result for the Evaluation page")
    verbs.add("calibrate", calibrate, "measure the scale of each facet's cosines again")


def evaluate(arguments: Namespace, terminal: Terminal) -> int:
    """Run golden queries with every preset; stored for the page if this process may write."""
    with (writing if arguments.keep else reading)(arguments, terminal) as reader:
        if arguments.keep:
            for fault in reader.golden.faults:
                terminal.say(f"not counted: {fault}")
        else:
            for name in reader.golden.unread():
                how = "--keep, or the dashboard, imports it"
                terminal.say(f"{name} was changed by hand and is not counted: {how}")
        elsewhere = evaluation.answers_outside_library(reader, evaluation.all_of(reader))
        found = terminal.watch(lambda progress: evaluation.evaluate(reader, progress=progress))
        if arguments.keep:
            evaluation.store(reader, found, actor=arguments.actor or current_user())
    if arguments.json:
        terminal.answer_json(found.as_json(k=arguments.k))
    else:
        terminal.answer(evaluation.format_table([found], k=arguments.k))
    terminal.say(f"{found.queries} golden queries; {len(found.left_out)} without an answer in this library")
    if elsewhere:
        terminal.say(f"{len(elsewhere)} relevant coins do not count: they are not in the library")
    return 0


def calibrate(arguments: Namespace, terminal: Terminal) -> int:
    """Measure the library's calibration again."""
    with writing(arguments, terminal) as library:
        made = terminal.watch(lambda progress: library.calibration.measure(actor=arguments.actor or ""))
    if arguments.json:
        terminal.answer_json({"version": made.version, "model": made.model, "figures": made.figures})
    terminal.say(f"calibration {made.version} of {made.model} over {made.records:,} coins holds from now on")
    return 0
