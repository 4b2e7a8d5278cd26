"""What a rule would do now, and would have done beside what people decided."""

import sqlite3
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from store.errors import InvalidRecord
from store.reading.reader import Reader
from store.rules import copilot, matching, past
from store.rules.matching import Match, Meeting
from store.rules.past import Decided
from store.rules.rule import Rule

DAYS = 90
FEW = 20  # decisions
BACK = "taken back"  # what people said of a coin that the rule had settled
_A_DAY = 86_400  # seconds


@dataclass(frozen=True, slots=True)
class Case:
    """One coin that the rule would have settled, and what a person said."""

    address: str
    said: str  # "approved", "rejected", "tagged otherwise", "taken back", "tagged so"
    actor: str
    at: float  # UNIX seconds
    agrees: bool


@dataclass(frozen=True, slots=True)
class Preview:
    """A rule beside people's decisions."""

    rule: Rule
    matches: tuple[Match, ...]  # what it would do now
    meetings: tuple[Meeting, ...]
    cases: tuple[Case, ...]  # newest first
    decisions: int  # of people on coins in review, in that time
    days: int
    limits: tuple[str, ...]  # what is not as it was then
    settled: int = 0  # coins that the co-pilot settled since it was saved

    @property
    def agreements(self) -> tuple[Case, ...]:
        """Coins that people decided as the rule would have."""
        return tuple(case for case in self.cases if case.agrees)

    @property
    def contradictions(self) -> tuple[Case, ...]:
        """Coins that people decided otherwise, or whose decision by the rule they took back."""
        return tuple(case for case in self.cases if not case.agrees)

    @property
    def agreement(self) -> float | None:
        """The share of agreements, 0 to 1; None where there is nothing to compare."""
        return len(self.agreements) / len(self.cases) if self.cases else None

    @property
    def broken(self) -> str:
        """How it broke its promise, in words; "" if it keeps it."""
        if self.rule.do == "judge":
            return self._alarm
        is_measured = len(self.cases) >= FEW or len(self.contradictions) > 1
        if self.agreement is None or self.agreement >= self.rule.promise or not is_measured:
            return ""
        return (
            f"it agreed with {self.agreement:.1%} of {len(self.cases):,} decisions "
            f"and promised {self.rule.promise:.0%}"
        )

    @property
    def _alarm(self) -> str:
        """More errors of the co-pilot than chance explains: of coins it was not seen at, or taken back."""
        back = sum(case.said == BACK for case in self.cases)
        wrong, of, bears = len(self.contradictions) - back, len(self.cases) - back, self.rule.bears
        if copilot.is_alarming(wrong, of, bears / 100):
            what = f"it was wrong about {wrong:,} of {of:,} coins that you decided without being told"
        elif copilot.is_alarming(back, max(back, self.settled), bears / 100):
            what = f"you took back {back:,} of {self.settled:,} coins that it settled"
        else:
            return ""
        return f"{what}, and it promised at most {bears:.3g} %"

    @property
    def sentence(self) -> str:
        """The comparison in words."""
        if self.agreement is None:
            return f"No decision of the last {self.days} days tells whether it is right."
        return (
            f"In the last {self.days} days it would have settled {len(self.cases):,} of {self.decisions:,} "
            f"decisions: {len(self.agreements):,} as people did, {len(self.contradictions):,} otherwise "
            f"({self.agreement:.1%})."
        )


def preview(reader: Reader, rule: Rule, *, days: int = DAYS, now: float | None = None) -> Preview:
    """What the rule would do after the others, now and in the last 1 to 3,650 days."""
    if not 1 <= days <= 3650:
        raise InvalidRecord("the days of a preview are from 1 to 3,650")
    others = [other for other in reader.rules.all().values() if other.name != rule.name]
    matches, meetings = matching.shared_out(reader, rule, others, matching.found(reader, rule))
    measured = measure(reader, rule, days=days, now=now)
    said = measured.limits
    if matching.asks_for_copies(rule) and (count := reader.duplicates.unexamined()):
        said = (
            *said,
            f"Not compared with the others yet: {count:,} coins. A rule leaves them until they are.",
        )
    return replace(measured, matches=tuple(matches), meetings=tuple(meetings), limits=said)


def measure(reader: Reader, rule: Rule, *, days: int = DAYS, now: float | None = None) -> Preview:
    """The rule beside people's decisions alone, without what it would do now."""
    since = (time.time() if now is None else now) - days * _A_DAY
    decided = past.decided(reader, since=since)
    said = list(past.limits(rule))
    if len(decided) == past.MOST:
        said.append(f"Only the latest {past.MOST:,} decisions are compared.")
    settled = matching.own_events(reader, rule, since=max(since, rule.saved_at))
    if rule.do == "judge":
        cases = [
            Case(one.address, one.was, one.actor, one.at, one.was == told)
            for one, told in copilot.compared(reader, rule, decided)
        ]
    else:
        meant = past.meant(reader, rule, decided) if rule.do != "hold" else set()
        tags = _tags_of(reader, meant) if rule.do == "tag" else {}
        cases = beside(rule, decided, meant, tags)
    if rule.do == "hold":
        said.append("Holding a coin decides nothing, so there is nothing to compare.")
    cases += _taken_back(reader, rule, settled)
    cases.sort(key=lambda case: -case.at)
    return Preview(rule, (), (), tuple(cases), len(decided), days, tuple(said), len(settled))


def beside(
    rule: Rule, decided: Sequence[Decided], meant: Collection[str], tags: Mapping[str, Collection[str]]
) -> list[Case]:
    """What people said of the coins that the rule would have settled; `tags` are those of coins by now."""
    cases = []
    for one in decided:
        if one.address not in meant:
            continue
        if rule.do == "tag":
            if own := tags.get(one.address):  # an untagged coin says nothing
                has_all = set(rule.tags) <= set(own)
                said = "tagged so" if has_all else "tagged otherwise"
                cases.append(Case(one.address, said, one.actor, one.at, has_all))
            continue
        expected: Literal["approved", "rejected"] = "rejected" if rule.do == "reject" else "approved"
        cases.append(Case(one.address, one.was, one.actor, one.at, one.was == expected))
    return cases


def _taken_back(reader: Reader, rule: Rule, settled: Sequence[sqlite3.Row]) -> list[Case]:
    """Coins that the rule settled since it was saved, and that are elsewhere by now."""
    if rule.do not in ("reject", "approve", "judge"):
        return []
    events = {row["address"]: row for row in settled}
    there = {record.address: record.tier for record in reader.records(list(events))}
    back = {"reject": ("pending", "approved", "library"), "approve": ("pending", "trash")}
    return [
        Case(address, BACK, row["who"], row["at"], False)
        for address, row in events.items()
        if there.get(address) in back.get(row["verb"], ())
    ]


def _tags_of(reader: Reader, addresses: Collection[str]) -> dict[str, tuple[str, ...]]:
    return {record.address: tuple(record.tags) for record in reader.records(list(addresses))}
