"""The verbs that say how good the search is, and on which scale its facets stand."""

from argparse import Namespace

from store.commands.opening import reading, writing
from store.commands.terminal import Terminal
from store.people import myself
from store.search import evaluation


def evaluate(arguments: Namespace, terminal: Terminal) -> int:
    """Golden queries asked with every preset; kept for the page where this process may write."""
    with (writing if arguments.keep else reading)(arguments, terminal) as reader:
        if arguments.keep:
            for fault in reader.golden.faults:
                terminal.say(f"not counted: {fault}")
        else:
            for name in reader.golden.unread():
                how = "--keep, or the dashboard, takes it in"
                terminal.say(f"{name} was changed by hand and is not counted: {how}")
        elsewhere = evaluation.elsewhere(reader, evaluation.all_of(reader))
        found = terminal.watch(lambda progress: evaluation.evaluate(reader, progress=progress))
        if arguments.keep:
            evaluation.keep(reader, found, who=arguments.who or myself())
    if arguments.json:
        terminal.answer_json(found.as_json(k=arguments.k))
    else:
        terminal.answer(evaluation.told([found], k=arguments.k))
    terminal.say(f"{found.queries} golden queries; {len(found.left_out)} without an answer in this library")
    if elsewhere:
        terminal.say(f"{len(elsewhere)} right answers do not count: they are not in the library")
    return 0


def calibrate(arguments: Namespace, terminal: Terminal) -> int:
    """New figures for where each facet's cosines lie."""
    with writing(arguments, terminal) as library:
        made = terminal.watch(lambda progress: library.calibration.measure(who=arguments.who or ""))
    if arguments.json:
        terminal.answer_json({"version": made.version, "model": made.model, "figures": made.figures})
    terminal.say(f"calibration {made.version} of {made.model} over {made.records:,} coins holds from now on")
    return 0
