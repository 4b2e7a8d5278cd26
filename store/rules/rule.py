"""A rule as a value: which coins it means, what it does with them, how far it may go by itself.

Rule        the value; `sentence` says it in words
saved       `library.rules`: the rules of a library by name
as_yaml, from_yaml   rules as a file that people exchange
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, get_args

import yaml

from store.catalog import filter_syntax
from store.catalog.advice import Version
from store.catalog.catalog import Catalog
from store.catalog.filters import Filter
from store.catalog.named_values import MAX_NAME, NamedValues
from store.errors import BadSource, InvalidRecord
from store.records import MAX_TAG
from store.rules.learning import UNLIKE, Promise

Act = Literal["reject", "approve", "tag", "keep", "hold", "judge"]
Level = Literal["shown", "one click", "by itself"]
Comparison = Literal[
    "", "older", "larger", "more holders", "approved before",
    "younger", "smaller", "fewer holders", "not approved before",
]  # fmt: skip
ACTS: tuple[Act, ...] = get_args(Act)
LEVELS: tuple[Level, ...] = get_args(Level)
COMPARISONS: tuple[Comparison, ...] = get_args(Comparison)
HELD = "second look"  # the tag of coins that wait for a person; no rule touches them
COPILOT = "co-pilot"  # who decides in the history, and the name of its rule
NEW = "New rule"  # what the page calls one that has no name yet
_SAID: Mapping[Comparison, str] = {
    "older": "is older",
    "larger": "has the larger market value",
    "more holders": "has more holders",
    "approved before": "was approved before",
    "younger": "is younger",
    "smaller": "has the smaller market value",
    "fewer holders": "has fewer holders",
    "not approved before": "was not approved before it",
}
_MAX_REASON = 200
LEAST_SURE, MOST_SURE = 0.8, 0.999  # what the co-pilot can promise
_OF_LIBRARY = ("saved_by", "saved_at", "told")  # what a file does not say


@dataclass(frozen=True, slots=True)
class Rule:
    """Which coins are meant, and what is done with each."""

    name: str
    do: Act
    when: str = ""  # a filter line; without `tier:`, of coins in review
    other: Comparison = ""  # what a coin that looks like it must be; "": it need not have one
    sure: float = 0.9  # that the two are one coin or a copy, 0 to 1
    reason: str = ""  # of a rejection
    tags: tuple[str, ...] = ()  # to add
    level: Level = "shown"
    priority: int = 0  # where rules meet, the higher one has the coin
    exceptions: tuple[str, ...] = ()  # addresses of coins that it leaves alone
    promise: float = 0.95  # the share of people's decisions that it agrees with, 0 to 1, at least
    saved_by: str = ""
    saved_at: float = 0.0  # UNIX seconds
    told: str = ""  # why it went back to "shown" by itself

    @property
    def filter(self) -> Filter:
        """The filter of its line."""
        found = filter_syntax.parsed(self.when, actor=self.saved_by or filter_syntax.ME).filter
        return found if found.tier else replace(found, tier="pending")

    @property
    def is_usable(self) -> bool:
        """Whether this version understands all of it; one that it does not means no coin."""
        try:
            checked(plain(self))
        except InvalidRecord:
            return False
        return True

    @property
    def sentence(self) -> str:
        """The rule in words."""
        which = f"“{self.when}” finds a coin" if self.when else "a coin is in review"
        if self.do == "judge":
            return f"If {which} and the co-pilot is sure enough, {self.act}."
        pair = f" and a coin like it ({self.sure:.0%} sure) {_SAID[self.other]}" if self.other else ""
        return f"If {which}{pair}, {self.act}."

    @property
    def act(self) -> str:
        """What it does, in words."""
        match self.do:
            case "reject":
                return f"reject it as “{self.reason}”" if self.reason else "reject it"
            case "approve":
                return "approve it"
            case "tag":
                return f"tag it {', '.join(self.tags)}"
            case "keep":
                return "keep it, give it what the other knows, and reject the other"
            case "hold":
                return "hold it for a second look"
            case "judge":
                return f"approve or reject it, at most {self.bears:.3g} % wrong"

    @property
    def actor(self) -> str:
        """Who decides in the history when it acts by itself."""
        return COPILOT if self.do == "judge" else f"rule {self.name}"

    @property
    def bears(self) -> float:
        """The share of errors that its promise bears, in percent."""
        return round(100 * (1 - self.promise), 6)

    def promised(self, version: Version) -> Promise:
        """What its promise settles by what the co-pilot learned: nothing where what waits is unlike that."""
        promise = Promise.of(version.scored, self.bears / 100, version.waiting)
        return promise if version.apart <= UNLIKE else replace(promise, threshold=None, settled=0, wrong=0)


def checked(values: Mapping[str, Any]) -> Rule:
    """The rule that these values say. Raises InvalidRecord, naming the rule and what to change."""
    name = " ".join(str(values.get("name") or "").split())
    title = f"rule {name!r}" if name else "a rule without a name"

    def refuse(why: str) -> InvalidRecord:
        return InvalidRecord(f"{title}: {why}")

    if name.casefold() == NEW.casefold():
        raise refuse("a new rule is called so; choose another name")
    if not name or len(name) > MAX_NAME:
        raise refuse(f"give it a name of 1 to {MAX_NAME} characters")
    if unknown := sorted(set(map(str, values)) - {field.name for field in fields(Rule)}):
        raise refuse(f"it has no field {unknown[0]!r}; there are {', '.join(_names())}")
    for field, known in (("do", ACTS), ("level", LEVELS), ("other", COMPARISONS)):
        value = values.get(field, "" if field != "level" else "shown")
        if value not in known:
            raise refuse(f"{field}: {value!r} is none of {', '.join(filter(None, known))}")
    for field in ("when", "reason", "saved_by", "told"):
        if not isinstance(values.get(field, ""), str):
            raise refuse(f"{field}: give a text")
    for field in ("sure", "promise"):
        share = values.get(field, 0.9)
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
            raise refuse(f"{field}: give a share from 0 to 1, such as 0.95")
    if type(values.get("priority", 0)) is not int or abs(values.get("priority", 0)) > 1_000_000:
        raise refuse("priority: give a whole number up to 1,000,000")
    saved_at = values.get("saved_at", 0.0)
    if not isinstance(saved_at, int | float) or not math.isfinite(saved_at):
        raise refuse("saved_at: give a moment in UNIX seconds")
    lists = {field: values.get(field) or () for field in ("tags", "exceptions")}
    for field, given in lists.items():
        if isinstance(given, str) or not all(isinstance(one, str) and one.strip() for one in given):
            raise refuse(f"{field}: give a list of texts")
        lists[field] = tuple(dict.fromkeys(one.strip() for one in given))
    made = Rule(**{**values, "name": name, **lists})
    _check_together(made, refuse)
    return made


def _check_together(rule: Rule, refuse: Any) -> None:
    line = filter_syntax.parsed(rule.when, actor=rule.saved_by or filter_syntax.ME)
    if line.faults:
        raise refuse(f"when: {line.faults[0]}")
    if len(rule.reason) > _MAX_REASON:
        raise refuse(f"reason: give at most {_MAX_REASON} characters")
    if rule.do == "tag" and not rule.tags:
        raise refuse("tags: name the tags that it adds")
    if wrong := next((tag for tag in rule.tags if "," in tag or len(tag) > MAX_TAG), None):
        raise refuse(f"tags: {wrong!r} has a comma or more than {MAX_TAG} characters")
    if rule.do == "keep" and not rule.other:
        raise refuse("other: say which coin of a pair is kept, for example that the other is younger")
    if rule.do == "judge" and rule.other:
        raise refuse("other: the co-pilot looks at coins like it anyway; leave it out")
    if rule.do == "judge" and not MOST_SURE >= rule.promise >= LEAST_SURE:
        raise refuse(f"promise: give {LEAST_SURE} to {MOST_SURE}, which is 20 to 0.1 % of errors to bear")
    if not rule.when and not rule.other and rule.do != "judge":
        raise refuse("when: say which coins it means; without a filter it would mean all")
    tier = rule.filter.tier
    if rule.do == "judge" and tier != "pending":
        raise refuse("when: the co-pilot decides coins in review alone; leave tier: out")
    if tier == "trash" or (tier != "pending" and rule.do == "approve"):
        raise refuse(
            f"when: coins in the tier {tier} cannot be {'approved' if rule.do == 'approve' else 'changed'}"
        )
    if tier == "library" and rule.do == "reject":
        raise refuse("when: coins of the library cannot be rejected; name tier:pending or tier:approved")


def _names() -> list[str]:
    return [field.name for field in fields(Rule) if field.name not in _OF_LIBRARY]


def plain(rule: Rule) -> dict[str, Any]:
    """The rule as JSON values."""
    return {**asdict(rule), "tags": list(rule.tags), "exceptions": list(rule.exceptions)}


def _read(values: Mapping[str, Any]) -> Rule:
    """A stored rule; one that this version cannot use, saved by a later one, is only shown."""
    try:
        return checked(values)
    except InvalidRecord as error:
        return Rule(str(values.get("name")), "hold", when=str(values.get("when", "")), told=str(error))


def saved(catalog: Catalog) -> NamedValues[Rule]:
    """`library.rules`: the rules by name."""
    return NamedValues(
        catalog, "rules", noun="rule", read=_read, written=lambda one: plain(checked(plain(one)))
    )


def as_yaml(rules: Iterable[Rule]) -> str:
    """The rules as YAML, without what only this library knows of them."""
    written = []
    for rule in rules:
        values = plain(rule)
        usual = plain(Rule(rule.name, rule.do))
        written.append(
            {name: values[name] for name in _names() if name in ("name", "do") or values[name] != usual[name]}
        )
    return str(yaml.safe_dump({"rules": written}, allow_unicode=True, sort_keys=False))


def from_yaml(text: str) -> list[Rule | InvalidRecord]:
    """The rules of a YAML file, or why one cannot be used. Raises BadSource if it is no list."""
    try:
        value = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BadSource(f"it is not YAML: {' '.join(str(error).split())[:200]}") from error
    listed = value.get("rules") if isinstance(value, dict) else None
    if not isinstance(listed, list):
        raise BadSource("it has no list `rules:`; `memedex rules export` shows one")
    found: list[Rule | InvalidRecord] = []
    for number, one in enumerate(listed, 1):
        try:
            if not isinstance(one, dict):
                raise InvalidRecord("give its fields, such as name: and do:")
            found.append(checked({key: value for key, value in one.items() if key not in _OF_LIBRARY}))
        except InvalidRecord as error:
            found.append(InvalidRecord(f"rule {number} of the file: {error}"))
    return found
