"""A run of a rule: a job that makes one decision, so that one undo takes all of it back."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from store.catalog import advice
from store.catalog.catalog import writing_errors
from store.errors import InvalidRecord, UnknownRecord
from store.jobs import Job
from store.reading.reader import Reader
from store.rules import copilot, matching, preview
from store.rules.keeping import KIND as KEEP
from store.rules.matching import Match
from store.rules.rule import HELD, Act, Rule, checked, plain

if TYPE_CHECKING:
    from store.library import Library

_DOES: dict[Act, str] = {
    "reject": "Reject", "approve": "Approve", "tag": "Tag", "keep": "Keep", "hold": "Hold",
    "judge": "Decide",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a rule, as the catalog remembers it."""

    rule: str
    decision: str
    actor: str
    at: float  # UNIX seconds
    coins: int


def get(reader: Reader, name: str) -> Rule:
    """The rule of this name. Raises UnknownRecord, naming those there are."""
    rules = reader.rules.all()
    if name not in rules:
        there = f"; there are {', '.join(rules)}" if rules else "; none is saved yet"
        raise UnknownRecord(f"there is no rule {name!r}{there}")
    return rules[name]


def save(library: "Library", rule: Rule, *, actor: str = "") -> Rule:
    """Save a rule under its name, by whom and when. Raises InvalidRecord for one that cannot be used."""
    who = actor or library.actor_name
    rule = checked(plain(replace(rule, saved_by=who, saved_at=time.time(), told="")))
    acts = rule.do == "judge" and rule.level != "shown"
    if acts and (obstacle := copilot.standing(library, rule).obstacle):
        raise InvalidRecord(f"the co-pilot can only be shown: {obstacle}")
    library.rules.save(rule.name, rule)
    library.look_again()  # a co-pilot learns, and what acts by itself has coins that wait
    return rule


def start(library: "Library", name: str, *, decision: str | None = None, actor: str = "") -> Job | None:
    """Do what the rule says with every coin that it means now; None if there is none.

    Started again with the same decision, it is the same job. Raises UnknownRecord if there is no such rule,
    InvalidRecord if it may only be shown, or broke its promise, which takes it back to that.
    """
    if decision and (job := library.jobs.of_decision(decision)):
        return job
    rule = get(library, name)
    if rule.level == "shown":
        told = f" ({rule.told})" if rule.told else ""
        raise InvalidRecord(f"the rule {name} is only shown{told}; set its level to “one click” to run it")
    matches = _mine(library, rule)
    if not matches:
        return None
    if reason := take_back_if_broken(library, rule):
        raise InvalidRecord(reason)
    return _begin(library, rule, matches, decision=decision or uuid4().hex, actor=actor)


def run_by_themselves(library: "Library") -> int:
    """Start the rules that act by themselves, where coins wait for them; returns for how many coins.

    A coin that anybody decided about before is left to people, and so is one in twenty, to measure by.
    """
    count = 0
    rules = [rule for rule in library.rules.all().values() if rule.level == "by itself"]
    busy = {job.actor for job in library.jobs.under_way()} if rules else set()
    for rule in sorted(rules, key=lambda rule: -rule.priority):
        if rule.actor in busy:
            continue
        matches = matching.left_to_the_rule(library, rule, _mine(library, rule))
        if matches and not take_back_if_broken(library, rule):
            _begin(library, rule, matches, decision=uuid4().hex, actor=rule.actor)
            count += len(matches)
    return count


def take_back_if_broken(library: "Library", rule: Rule) -> str:
    """Set a rule that broke its promise back to "shown", and return why; "" if it keeps it."""
    told = preview.measure(library, rule).broken
    if told:
        library.rules.save(rule.name, replace(rule, level="shown", told=told))
    return f"the rule {rule.name} broke its promise and is only shown now: {told}" if told else ""


def runs(reader: Reader, name: str) -> list[Run]:
    """The runs of a rule, newest first."""
    rows = reader.catalog.rows("SELECT key, value FROM meta WHERE key GLOB ?", [f"{matching.RUN}*"])
    found = [(row["key"].removeprefix(matching.RUN), json.loads(row["value"])) for row in rows]
    ours = [Run(decision=decision, **one) for decision, one in found if one["rule"] == name]
    return sorted(ours, key=lambda run: -run.at)


def suggestions(reader: Reader, addresses: Sequence[str]) -> dict[str, tuple[str, str]]:
    """The rule that has each of these coins, and what it would do, in words; none for blind ones."""
    found: dict[str, tuple[str, str]] = {}
    rules = sorted(reader.rules.all().values(), key=lambda rule: rule.priority)
    for rule in rules:  # the highest priority last
        if rule.do == "judge" and copilot.is_watching(reader):
            continue
        for match in matching.found(reader, rule, among=addresses):
            if not advice.is_blind(match.address):
                sure = f", {copilot.percent(match.sure)}" if match.sure else ""
                found[match.address] = (rule.name, f"{match.do or rule.do}{sure}")
    return found


def _mine(library: "Library", rule: Rule) -> list[Match]:
    others = [other for other in library.rules.all().values() if other.name != rule.name]
    return matching.shared_out(library, rule, others, matching.found(library, rule))[0]


def _begin(library: "Library", rule: Rule, matches: list[Match], *, decision: str, actor: str) -> Job:
    library.catalog.check_writable()
    who = actor or library.actor_name
    note = {"rule": rule.name, "actor": who, "at": time.time(), "coins": len(matches)}
    with writing_errors("the run"), library.catalog.writing() as db:  # before the first coin is decided
        db.execute(
            "INSERT OR IGNORE INTO meta VALUES (?, ?)", [f"{matching.RUN}{decision}", json.dumps(note)]
        )
    kind, options = _work(rule)
    coins = "1 coin" if len(matches) == 1 else f"{len(matches):,} coins"
    return library.jobs.start(
        kind,
        [_item(rule, match) for match in matches],
        name=f"Rule {rule.name}: {_DOES[rule.do].lower()} {coins}",
        options={**options, "rule": rule.name},
        actor=who,
        decision=decision,
    )


def _item(rule: Rule, match: Match) -> str | tuple[str, Any]:
    match rule.do:
        case "keep":
            return match.address, list(match.others)
        case "judge":
            return match.address, match.do
        case _:
            return match.address


def _work(rule: Rule) -> tuple[str, dict[str, Any]]:
    """The kind of job, and its options."""
    match rule.do:
        case "keep":
            return KEEP.name, {}
        case "tag":
            return "tags", {"add": list(rule.tags)}
        case "hold":
            return "tags", {"add": [HELD]}
        case "reject":
            return "move", {"verb": "reject", "reason": rule.reason}
        case "approve":
            return "move", {"verb": "approve"}
        case "judge":  # the verb stands with each coin
            return "move", {"verb": "", "reason": rule.reason}
