"""Commands that change records."""

from argparse import Namespace
from collections.abc import Callable

from store.catalog.filters import Filter
from store.cli.open_library import check_addresses_or_all, making, spelled, writing
from store.cli.output import report, report_import
from store.cli.terminal import Terminal
from store.demo import load
from store.importing import candidates
from store.outcome import ImportReport, Outcome
from store.progress import Progress
from store.records import Facet


def import_(arguments: Namespace, terminal: Terminal) -> int:
    """Import what is at these paths; safe to repeat."""

    def work(progress: Progress) -> ImportReport:
        progress.what = "import"
        source = ", ".join(path.resolve().name for path in arguments.paths)
        found = candidates(arguments.paths)
        return library.add(found, source=source, progress=progress, actor=arguments.actor or "")

    with making(arguments, terminal) as library:
        report = terminal.watch(work)
    return report_import(report, arguments, terminal)


def demo(arguments: Namespace, terminal: Terminal) -> int:
    """Import the demo library, each coin to its tier."""
    with making(arguments, terminal) as library:
        report = terminal.watch(lambda progress: load(library, progress=progress))
    return report_import(report, arguments, terminal)


def move(arguments: Namespace, terminal: Terminal) -> int:
    """approve, back-to-review, reject, remove, delete, restore."""

    def work(progress: Progress) -> Outcome:
        actor = arguments.actor or ""
        if arguments.verb == "reject":
            return library.reject(addresses, reason=arguments.reason, actor=actor)
        verbs: dict[str, Callable[..., Outcome]] = {
            "approve": library.approve,
            "back-to-review": library.send_back,
            "remove": library.degrade,
            "delete": library.delete,
            "restore": library.restore,
        }
        return verbs[arguments.verb](addresses, actor=actor)

    addresses = spelled(arguments.addresses)
    with writing(arguments, terminal) as library:
        outcome = terminal.watch(work)
    return report(outcome, arguments, terminal)


def promote(arguments: Namespace, terminal: Terminal) -> int:
    """Move approved records to the library, by address or all of them."""
    check_addresses_or_all(arguments)

    def work(progress: Progress) -> Outcome:
        addresses = spelled(arguments.addresses) or library.addresses(Filter(tier="approved"))
        progress.what, progress.total = "promote", len(addresses)
        return library.promote(addresses, progress=progress, actor=arguments.actor or "")

    with writing(arguments, terminal) as library:
        outcome = terminal.watch(work)
    return report(outcome, arguments, terminal)


def caption(arguments: Namespace, terminal: Terminal) -> int:
    """Write the given facets, and tags if given."""
    facets: dict[Facet, str | None] = {
        "entity": arguments.entity,
        "context": arguments.context,
        "visual": arguments.visual,
        "emotions": arguments.emotions,
    }
    written = {facet: text for facet, text in facets.items() if text is not None}
    tags = None
    if arguments.tags is not None:
        tags = [tag.strip() for tag in arguments.tags.split(",") if tag.strip()]
    if not written and tags is None:
        arguments.parser.error("give at least one of --entity, --context, --visual, --emotions, --tags")

    def work(progress: Progress) -> Outcome:
        (address,) = spelled([arguments.address])
        return library.caption(address, caption=written, tags=tags, actor=arguments.actor or "")

    with writing(arguments, terminal) as library:
        outcome = terminal.watch(work)
    return report(outcome, arguments, terminal)


def reverse(arguments: Namespace, terminal: Terminal) -> int:
    """undo and redo."""

    def work(progress: Progress) -> Outcome:
        verb = library.undo if arguments.verb == "undo" else library.redo
        return verb(arguments.count, actor=arguments.actor or "")

    with writing(arguments, terminal) as library:
        outcome = terminal.watch(work)
    return report(outcome, arguments, terminal)
