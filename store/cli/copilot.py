"""Verbs for the co-pilot, `copilot VERB …`; it acts as the rule that `rules` lists as well."""

from functools import partial
from typing import Annotated, Any

from typer import Option

from store.catalog import advice
from store.cli import rules
from store.cli.call import Call
from store.cli.verbs import Address, app, chapter, words_of
from store.cli.verbs import verb as declare
from store.rules import copilot, running
from store.rules import rule as values
from store.rules.copilot import Standing
from store.rules.preview import DAYS
from store.rules.rule import Level, Rule

copilot_verbs = chapter("copilot", "The co-pilot, which learns from decisions.")
app.add_typer(copilot_verbs)
verb = partial(declare, of=copilot_verbs)


@verb("on")
def on(
    call: Call,
    bear: Annotated[float, Option(metavar="PERCENT", help="of what it settles may be wrong (2)")] = 2.0,
    level: Annotated[Level, Option(help="how far it may go (shown)")] = "shown",
    when: Annotated[str, Option(metavar="LINE", help="only coins in review that it finds")] = "",
    reason: Annotated[str, Option(metavar="TEXT", help="of its rejections (co-pilot)")] = values.COPILOT,
    leave: Annotated[str, Option("--except", metavar="A,B", help="addresses that it leaves alone")] = "",
) -> int:
    """Turn it on, or set what it may do."""
    with call.writing() as library:
        before = copilot.its_rule(library) or copilot.usual()
        rule = values.checked(
            {
                **values.plain(before), "promise": round(1 - bear / 100, 6), "level": level, "when": when,
                "reason": reason, "exceptions": words_of(leave),
            }
        )  # fmt: skip
        saved = running.save(library, rule, actor=call.actor)
        shown = copilot.standing(library, saved)
    return call.answered(_as_json(saved, shown), [saved.sentence, shown.sentence])


@verb("off")
def off(call: Call) -> int:
    """Turn it off; what it decided and learned stays."""
    with call.writing() as library:
        if rule := copilot.its_rule(library):
            library.rules.delete(rule.name, actor=call.actor)
    call.say("the co-pilot is off")
    return 0


@verb("status")
def status(call: Call) -> int:
    """What it promises, what that settles, and what it still lacks."""
    with call.reading() as reader:
        rule = copilot.its_rule(reader)
        shown = copilot.standing(reader, rule or copilot.usual())
        with reader.catalog.reading() as db:
            versions = advice.versions(db)
    rows = [shown.sentence, f"it is {rule.level}" if rule else "it is off; `copilot on` turns it on"]
    if shown.compared:
        rows.append(f"{shown.agreed:,} of {shown.compared:,} coins as you decided without being told")
    rows += [f"it may only be shown: {shown.obstacle}"] if shown.obstacle else []
    rows += [rule.told] if rule and rule.told else []
    if shown.version:
        learned = f"version {shown.version.version} learned from {shown.version.decisions:,} decisions"
        rows.append(f"{learned}; {len(versions):,} kept")
    return call.answered(_as_json(rule, shown), rows)


@verb("train")
def train(call: Call) -> int:
    """Learn from people's decisions now, and advise on what waits for review."""
    with call.writing() as library:
        rules.look(library, call)
        version = call.watch(
            lambda progress: copilot.learn(library, copilot.its_rule(library), progress=progress)
        )
        if version:
            count = call.watch(lambda progress: copilot.advise(library, version, progress=progress))
            call.say(f"it learned from {version.decisions:,} decisions and looked at {count:,} coins")
        shown = copilot.standing(library, copilot.its_rule(library) or copilot.usual())
    call.say(shown.sentence)
    return int(version is None)


@verb("preview")
def preview(
    call: Call,
    days: Annotated[int, Option(metavar="N", help=f"of people's decisions ({DAYS})")] = DAYS,
) -> int:
    """What it would do now, and was right about where people decided without being told."""
    with call.reading() as reader:
        return rules.shown(call, reader, copilot.its_rule(reader) or copilot.usual(), days=days)


@verb("why")
def why(call: Call, address: Address) -> int:
    """Why it says what it says of a coin: the signals that weigh most, and the decided coins like it."""
    with call.reading() as reader:
        record = reader.get(address)
        found = copilot.why(reader, record.address)
    near = [f"{one.was} by {one.actor}: {one.address}" for one in found.nearest]
    return call.answered(
        {"token_address": record.address, **found.as_json()},
        [f"{record.name}: {found.sentence}", *found.signals, *near],
    )


@verb("run")
def run(call: Call) -> int:
    """Decide every coin that it is sure enough of."""
    with call.writing() as library:
        rule = copilot.its_rule(library)
        if rule is None:
            call.fail("the co-pilot is off; `copilot on` turns it on")
        return rules.started(library, rule, call)


def _as_json(rule: Rule | None, shown: Standing) -> dict[str, Any]:
    promise, version = shown.promise, shown.version
    return {
        "level": rule.level if rule else None,
        "bears": rule.bears if rule else None,
        "missing": shown.missing,
        "settles": promise.share if promise else None,
        "interval": list(promise.interval) if promise else None,
        "calibrated_on": promise.decisions if promise else 0,
        "threshold": promise.threshold if promise else None,
        "waiting": shown.waiting,
        "agreed": shown.agreed,
        "compared": shown.compared,
        "watches_until": shown.watches_until,
        "obstacle": shown.obstacle,
        "told": rule.told if rule else "",
        "version": version.version if version else None,
        "learned_from": version.decisions if version else 0,
    }
