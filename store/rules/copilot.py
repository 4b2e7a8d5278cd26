"""The co-pilot: it learns from people's decisions, and says of coins in review what people would decide.

    keep_up     learn when enough was decided since the last time, and advise on what is new
    standing    what it promises, what that settles, and what it still lacks
    compared    what it said of coins that people decided without being told
    why         the signals that weigh most for a coin, and the decided coins that look most like it
    beside      the same next to a coin in review: never in its first week, nor of blind coins

It decides nothing: that does a rule whose `do` is "judge" (`rule.py`), as every rule does (`running.py`).
Everything stays in the library's catalog.
"""

import json
import random
import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, lgamma, log, log1p
from typing import Any

import numpy as np

from store.catalog import advice
from store.catalog.advice import Version
from store.catalog.catalog import next_derived, writing_errors
from store.catalog.filters import Filter
from store.errors import InvalidRecord, ModelUnavailable
from store.progress import Progress
from store.reading.reader import Reader
from store.records import Record
from store.rules import learning, past, signals
from store.rules.learning import Coin, Floats, Learner, Promise, Signal
from store.rules.past import Decided, Said
from store.rules.rule import COPILOT, Rule
from store.rules.signals import Moment

LEARNED = 8_000  # decisions, the latest: habits change
WATCHES = 7 * 86_400.0  # seconds beside people before it may do anything
FEW = 20  # decisions of people that it must have been compared with
MANY = 10  # coins of one decision, such as a wave: they are easier than what comes one by one
PROMISE = 0.98  # of one that nobody set
_NEW, _NEW_SHARE = 20, 0.05  # decisions since it learned, and as a share of those, from which it learns again
_MOVED = 0.2  # of what waited came or went since, from which it learns again
_BATCH = 2_000  # coins
_ALARM = 0.01  # how likely so many errors are by chance, below which the promise counts as broken
_NEAREST, _WEIGHTIEST = 3, 3
_LOOKED_AT = 24  # coins that look like one, of which people may have decided only some
_DULL = re.compile(  # words that say nothing to a person
    r"\d+|"
    "an?|about|all|and|are|as|at|be|been|but|by|can|did|do|for|from|had|has|have|he|"
    "her|his|i|if|in|into|is|it|its|just|me|my|no|not|of|on|only|or|our|she|so|"
    "some|than|that|the|their|them|then|there|they|this|to|up|was|we|were|what|when|"
    "which|who|will|with|would|you|your"
)
_TEXTS = ("name", "ticker", "text", "caption", "picture")
_COPY: Mapping[str, str] = {  # by the kind of a finding: what an earlier coin has
    "exact picture": "the same picture",
    "mirrored": "this picture mirrored",
    "near picture": "nearly the same picture",
    "similar embedding": "a picture that looks alike",
    "same name": "the same name",
    "confusable name": "a name that reads alike",
    "same ticker": "the same ticker",
    "confusable ticker": "a ticker that reads alike",
}


@dataclass(frozen=True, slots=True)
class Standing:
    """What the co-pilot can do by now."""

    version: Version | None
    missing: str  # decisions without which it promises nothing, in words
    promise: Promise | None
    waiting: int  # coins in review
    watches_until: float | None  # UNIX seconds; None before it learned
    agreed: int  # of …
    compared: int  # … decisions that people made without being told
    obstacle: str  # why it may only be shown; "" if it may act

    @property
    def sentence(self) -> str:
        """What it settles, in words."""
        if self.version is None or self.promise is None:
            return f"Too few decisions to learn from: {self.missing}." if self.missing else "It learns soon."
        if self.missing:
            return f"Promises nothing yet: {self.missing}."
        bears, decisions = f"{100 * self.promise.bears:.3g} % wrong", f"{self.promise.decisions:,} decisions"
        if self.promise.threshold is None:
            more = learning.lacking(self.version.scored, self.promise.bears, self.version.waiting)
            helps = f"decide some {more:,} more of a random sample, or bear more" if more else "bear more"
            return f"Settles nothing at no more than {bears}, on your last {decisions}: {helps}."
        low, high = self.promise.interval
        return (
            f"Settles {100 * self.promise.share:.0f} % ({100 * low:.0f} to {100 * high:.0f} %) of what waits "
            f"at no more than {bears}, on your last {decisions}."
        )


def usual() -> Rule:
    """The rule of a co-pilot that nobody set."""
    return Rule(COPILOT, "judge", reason=COPILOT, promise=PROMISE)


def its_rule(reader: Reader) -> Rule | None:
    """The saved rule by which the co-pilot acts, the first if there are several; None if it is off."""
    return next((one for one in reader.rules.all().values() if one.do == "judge"), None)


def keep_up(reader: Reader, *, progress: Progress) -> int:
    """Learn again if enough was decided, and advise on coins that are new; returns on how many.

    Nothing while no rule asks for it. If it is cancelled, finished work stays.
    """
    rule = its_rule(reader)
    if rule is None:
        return 0
    with reader.catalog.reading() as db:
        version = advice.latest(db)
    if _is_due(reader, version, rule):
        version = learn(reader, rule, progress=progress) or version
    return advise(reader, version, progress=progress) if version else 0


def learn(reader: Reader, rule: Rule | None = None, *, progress: Progress | None = None) -> Version | None:
    """Learn from what people decided, and keep it as a version; None if that is too little, or cancelled.

    What waits for this rule, or for that of a co-pilot that nobody set, is compared with what was decided.
    """
    progress, rule = progress or Progress(), rule or usual()
    decided = past.decided(reader, since=0, most=LEARNED)[::-1]
    approved = np.array([one.was == "approved" for one in decided], np.bool_)
    if _missing(decided, rule.bears / 100):
        return None
    moments = [
        Moment(one.address, one.before.sidecar_hash, one.before.image_hash, one.event) for one in decided
    ]
    coins = []
    for start in range(0, len(moments), _BATCH):
        if progress.cancelled:
            return None
        coins += signals.of(reader, moments[start : start + _BATCH])
    vectors, model = signals.vectors(reader, [one.address for one in decided])
    counts = np.array(_alone(decided), np.bool_)
    scored = learning.in_time(coins, vectors, approved, counts=counts, go_on=lambda: not progress.cancelled)
    if progress.cancelled:
        return None
    learner = Learner.of(coins, vectors, approved)
    those = learning.measured(counts)[-learning.LATEST :].tolist()
    latest = Some([coins[at] for at in those], vectors[those], [score for score, _ in scored[-len(those) :]])
    waits = reader.count(rule.filter)
    apart = apart_from(latest, _waiting(reader, rule, learner), Promise.of(scored, rule.bears / 100, waits))
    newest = max(one.event for one in decided)
    with writing_errors("what the co-pilot learned"), reader.catalog.writing() as db:
        before = advice.latest(db)
        number = before.version + 1 if before else 1
        made = Version(number, time.time(), len(decided), newest, model, tuple(scored), waits, apart)
        advice.store_version(db, made, learner.as_bytes())
        next_derived(db)
    return made


@dataclass(frozen=True, slots=True)
class Some:
    """Some coins, with their vectors and scores."""

    coins: list[Coin]
    vectors: Floats
    scores: list[float]

    def where(self, chosen: Sequence[bool]) -> "Some":
        at = [number for number, is_chosen in enumerate(chosen) if is_chosen]
        return Some([self.coins[one] for one in at], self.vectors[at], [self.scores[one] for one in at])


def _waiting(reader: Reader, rule: Rule, learner: Learner) -> Some:
    """A random sample of what waits for the rule and was compared with the others."""
    addresses = reader.addresses(rule.filter)
    chosen = random.Random(1).sample(addresses, min(len(addresses), learning.LATEST))
    rows = reader.catalog.rows(
        "SELECT address, sidecar_hash, image_hash FROM records "
        "WHERE id NOT IN (SELECT record FROM unexamined) AND address IN (SELECT value FROM json_each(?))",
        [json.dumps(chosen)],
    )
    coins = signals.of(reader, [Moment(*row) for row in rows])
    vectors, _ = signals.vectors(reader, [row["address"] for row in rows])
    return Some(coins, vectors, learner.scores(coins, vectors).tolist())


def apart_from(decided: Some, waiting: Some, promise: Promise) -> float:
    """How surely waiting coins are told from decided ones, of those that are settled if enough."""
    settled = [some.where([promise.settles(score) for score in some.scores]) for some in (decided, waiting)]
    if min(len(some.coins) for some in settled) >= 2 * learning.FEWEST:
        decided, waiting = settled
    vectors = np.vstack([decided.vectors, waiting.vectors])
    return learning.told_apart(_alone_seen(decided.coins), _alone_seen(waiting.coins), vectors)


def _alone_seen(coins: Sequence[Coin]) -> list[Coin]:
    """The coins without what became of others like them."""
    fates = ("like a coin", "family")
    return [
        replace(coin, holds={name: sure for name, sure in holds.items() if not name.startswith(fates)})
        for coin in coins
        for holds in [coin.holds or {}]
    ]


def _missing(decided: Sequence[Decided], bears: float) -> str:
    """Decisions without which nothing can be promised, in words; "" if there are enough."""
    was = Counter(one.was for one, is_alone in zip(decided, _alone(decided), strict=True) if is_alone)
    return learning.missing(was["approved"], was["rejected"], bears)


def _alone(decided: Sequence[Decided]) -> list[bool]:
    """Whether each was decided with few others, and so tells how sure it is of coins that come one by one."""
    together = Counter(one.decision for one in decided)
    return [together[one.decision] < MANY for one in decided]


def advise(reader: Reader, version: Version, *, progress: Progress | None = None) -> int:
    """Say of new coins in review, once compared, what people would decide; of how many."""
    progress = progress or Progress()
    with reader.catalog.reading() as db:
        learner = Learner.from_bytes(advice.learner(db, version.version))
    after, done = 0, 0
    while not progress.cancelled:
        with reader.catalog.reading() as db:
            rows = advice.unadvised(db, version.version, after=after, most=_BATCH)
        if not rows:
            break
        after = rows[-1]["id"]
        vectors, model = signals.vectors(reader, [row["address"] for row in rows])
        if model != version.model:  # another one since: it learns again
            break
        seen = [at for at in range(len(rows)) if not model or vectors[at].any()]
        moments = [
            Moment(rows[at]["address"], rows[at]["sidecar_hash"], rows[at]["image_hash"]) for at in seen
        ]
        if not moments:
            continue
        scores = learner.scores(signals.of(reader, moments), vectors[seen]).tolist()
        found = [
            (rows[at]["address"], rows[at]["generation"], score)
            for at, score in zip(seen, scores, strict=True)
        ]
        with writing_errors("the co-pilot's advice"), reader.catalog.writing() as db:
            advice.store(db, version.version, found, at=time.time())
            next_derived(db)
        done += len(found)
    return done


def _is_due(reader: Reader, version: Version | None, rule: Rule) -> bool:
    if version is None:
        return True
    moved = abs(reader.count(rule.filter) - version.waiting)
    if moved > max(_NEW, _MOVED * version.waiting):  # so that what waits may be unlike what was decided
        return True
    try:
        model = reader.picture_index().embedder.fingerprint
    except ModelUnavailable:
        model = ""
    enough = max(_NEW, _NEW_SHARE * 2 * len(version.scored))  # of those that count, a half is scored
    with reader.catalog.reading() as db:
        changed = advice.decided_after(db, version.newest)
    if model == version.model and changed < enough:
        return False
    decided = past.decided(reader, since=0, most=LEARNED)
    news = sum(
        is_alone and one.event > version.newest
        for one, is_alone in zip(decided, _alone(decided), strict=True)
    )
    return model != version.model or news >= enough


def standing(reader: Reader, rule: Rule, *, now: float | None = None) -> Standing:
    """What the co-pilot can do by now, at the promise of this rule."""
    now = time.time() if now is None else now
    with reader.catalog.reading() as db:
        version, first = advice.latest(db), advice.first_at(db)
    waiting = reader.count(Filter(tier="pending"))
    if version is None or first is None:
        decided = past.decided(reader, since=0, most=LEARNED)
        lacks = _missing(decided, rule.bears / 100)
        why = f"it has too few decisions to learn from: {lacks}" if lacks else "it has not learned yet"
        return Standing(None, lacks, None, waiting, None, 0, 0, why)
    decided = past.decided(reader, since=first)
    cases = compared(reader, rule, decided)
    agreed = sum(one.was == said for one, said in cases)
    until = first + WATCHES
    obstacle = ""
    if now < until:
        obstacle = f"it watches beside you for a week, until {_day(until)}"
    elif len(cases) < FEW:
        obstacle = (
            f"{FEW - len(cases)} more decisions of yours are needed about coins that it would have settled"
        )
    promise, lacks = rule.promised(version), ""
    if version.apart > learning.UNLIKE:
        count = min(learning.LATEST, promise.decisions)
        lacks = f"what waits is unlike what was decided; decide up to {count:,} more of a random sample"
    return Standing(version, lacks, promise, waiting, until, agreed, len(cases), obstacle)


def is_behind(reader: Reader, rule: Rule) -> bool:
    """Whether so much was decided, or came, since it learned that it learns again by this saved rule."""
    with reader.catalog.reading() as db:
        version = advice.latest(db)
    if version is None or not _is_due(reader, version, rule):
        return False
    return not _missing(past.decided(reader, since=0, most=LEARNED), rule.bears / 100)


def least_sure(reader: Reader, addresses: Sequence[str]) -> list[str]:
    """Those of these coins that it advised on, the least sure first."""
    with reader.catalog.reading() as db:
        said = advice.of(db, addresses)
    return sorted(said, key=lambda address: abs(said[address].score - 0.5))


def is_watching(reader: Reader, *, now: float | None = None) -> bool:
    """Whether it says nothing next to coins yet, so that people's decisions measure it."""
    with reader.catalog.reading() as db:
        first = advice.first_at(db)
    return first is None or (time.time() if now is None else now) < first + WATCHES


def compared(reader: Reader, rule: Rule, decided: Sequence[Decided]) -> list[tuple[Decided, Said]]:
    """What it had said of those of these coins that it would settle now, where people were not told."""
    with reader.catalog.reading() as db:
        version, first = advice.latest(db), advice.first_at(db)
        said = advice.of(db, [one.address for one in decided])
    if version is None or first is None:
        return []
    promise = rule.promised(version)
    found: list[tuple[Decided, Said]] = []
    for one, is_alone in zip(decided, _alone(decided), strict=True):
        told = said.get(one.address)
        if told is None or told.at >= one.at or not is_alone or not promise.settles(told.score):
            continue
        if one.at < first + WATCHES or advice.is_blind(one.address):
            found.append((one, "approved" if told.is_good else "rejected"))
    return found


def is_alarming(wrong: int, of: int, bears: float) -> bool:
    """Whether so many errors, two at least, are no chance if the share `bears` is wrong: the drift alarm."""
    if wrong < 2 or not 0 < bears < 1:
        return wrong > 1
    fewer = (
        exp(
            lgamma(of + 1) - lgamma(count + 1) - lgamma(of - count + 1)
            + count * log(bears) + (of - count) * log1p(-bears)
        )
        for count in range(wrong)
    )  # fmt: skip
    return 1 - sum(fewer) < _ALARM


@dataclass(frozen=True, slots=True)
class Why:
    """What the co-pilot says of a coin, and why."""

    said: Said
    confidence: float  # 0.5 to 1
    signals: tuple[str, ...]  # the weightiest, in words, each with what it speaks for
    nearest: tuple[Decided, ...]  # the decided coins that look most like it

    @property
    def sentence(self) -> str:
        """What it would do, in words."""
        return f"would {'approve' if self.said == 'approved' else 'reject'}, {percent(self.confidence)} sure"

    def as_json(self) -> dict[str, Any]:
        """Its fields as scripts and agents read them."""
        return {
            "said": "approve" if self.said == "approved" else "reject",
            "confidence": self.confidence,
            "signals": [*self.signals],
            "nearest": [
                {"token_address": one.address, "was": one.was, "by": one.actor} for one in self.nearest
            ],
        }


def percent(sure: float) -> str:
    """How sure it is, in words; it is never certain."""
    return f"{min(99, round(100 * sure))} %"


def why(reader: Reader, address: str) -> Why:
    """Why it says what it says of this coin. Raises InvalidRecord before it learned, and of blind ones."""
    state = reader.get(address)
    if state.tier == "pending" and advice.is_blind(address):
        raise InvalidRecord(
            f"{state.name} is one of five in a hundred coins that come to people without advice, "
            "which measures the co-pilot"
        )
    with reader.catalog.reading() as db:
        version = advice.latest(db)
        learned = advice.learner(db, version.version) if version else b""
        row = db.execute("SELECT sidecar_hash FROM records WHERE address = ?", [address]).fetchone()
    vectors, model = signals.vectors(reader, [address])
    if version is None or model != version.model:
        raise InvalidRecord("it has not learned yet; `copilot train` does so")
    (coin,) = signals.of(reader, [Moment(address, row["sidecar_hash"], state.image_hash)])
    learner = Learner.from_bytes(learned)
    (score,) = learner.scores([coin], vectors).tolist()
    weighty = [one for one in learner.signals(coin, vectors[0]) if not _is_dull(one)][:_WEIGHTIEST]
    nearest: list[Decided] = []
    if model and vectors.any():
        others = [one for one in past.latest(reader, most=LEARNED) if one != address]
        alike = reader.by_appearance(others, "like", like=address).addresses[:_LOOKED_AT]
        decided = {one.address: one for one in past.decided(reader, since=0, among=alike)}
        nearest = [decided[one] for one in alike if one in decided][:_NEAREST]
    return Why(
        "approved" if score >= 0.5 else "rejected",
        max(score, 1 - score),
        tuple(map(_in_words, weighty)),
        tuple(nearest),
    )


def beside(reader: Reader, record: Record) -> Why | str:
    """What it says next to this coin; while it watches, until when; else "".

    It says something of coins in review that it looked at, while it is on, and nothing of blind ones.
    """
    if record.tier != "pending" or its_rule(reader) is None:
        return ""
    with reader.catalog.reading() as db:
        first, said = advice.first_at(db), advice.of(db, [record.address])
    if first is not None and time.time() < first + WATCHES:
        return f"It watches beside you until {_day(first + WATCHES)}, and says nothing next to coins."
    if not said or advice.is_blind(record.address):
        return ""
    try:
        return why(reader, record.address)
    except InvalidRecord:  # it learns again, by another model
        return ""


def _day(at: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(at))


def _number(text: str) -> str:
    try:
        value = float(text)
    except ValueError:  # words, as in "letters in disguise"
        return text
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:g}"


def _is_dull(signal: Signal) -> bool:
    """Whether it is a stop word or a number that stands in a text."""
    place, _, word = signal.name.partition(" ")
    return place in _TEXTS and _DULL.fullmatch(word) is not None


def _in_words(signal: Signal) -> str:
    """One signal: what it is, and what it speaks for."""
    place, _, word = signal.name.partition(" ")
    match place:
        case "picture" if not word:
            what = "what its picture looks like"
        case _ if place in _TEXTS:
            what = f"“{word}” in its {place}"
        case "tag":
            what = f"tag {word}"
        case "copy:":
            what = f"an earlier coin has {_COPY.get(word, word)}"
        case "like":
            what = f"an earlier coin like it is {word.removeprefix('a coin ')}"
        case "family":
            what = f"others of its family are {word}"
        case "bytes" | "width" | "height":
            what = f"{place} of its picture: {_number(word)}"
        case _:
            what = f"{place} {_number(word)}"
    return f"{what}: for {'approving' if signal.weight > 0 else 'rejecting'}"
