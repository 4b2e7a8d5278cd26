"""Find repetitions and possible contradictions among texts that go to a model together.

Uses rules that a person can follow, without a model: two sentences that share most of their words are a
repetition; if they differ in a number, a name, a negation or a pair of opposites, they may contradict each
other. It shows what to check, and does not judge.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import combinations
from typing import Literal

ALIKE = 0.6  # of the shorter sentence's words that both have
_SAME = 0.9  # of the words of both: the same sentence in other words
_MOSTLY = 0.5  # of the words of both, where only a negation tells them apart
_LEAST = 2  # words that both sentences have besides what differs

_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")
_WRAPPED = re.compile(r"\n(?=[a-z])")  # a sentence that goes on in the next line
_WORD = re.compile(r"\w+(?:['’]\w+)?")
_NUMBER_WORDS = "zero one two three four five six seven eight nine ten eleven twelve"
_IDLE_WORDS = (
    "a an the of in on at to for and or by with from as is are was were be been has have had it its this "
    "that there their they he she his her you your i we our user ai"
)
_NEGATING_WORDS = "not no never none nobody nothing cannot without neither nor"
_OPPOSED_WORDS = (
    "alive/dead lives/died open/closed always/never enabled/disabled true/false won/lost first/last "
    "north/south east/west friend/enemy friends/enemies above/below before/after more/less rich/poor "
    "increases/decreases rises/falls up/down hot/cold light/dark likes/hates loves/hates safe/dangerous "
    "allowed/forbidden all/none young/old left/right began/ended"
)
_NUMBERS = {word: str(number) for number, word in enumerate(_NUMBER_WORDS.split())}
_IDLE, _NEGATIONS = frozenset(_IDLE_WORDS.split()), frozenset(_NEGATING_WORDS.split())
_OPPOSITES = [frozenset(pair.split("/")) for pair in _OPPOSED_WORDS.split()]

# For what is sure: who or what is meant is not said; verbs that state what holds; what stands before a value.
_UNNAMED_WORDS = (
    "he she it they his her its their him them this that these those there here who which what someone a an "
    "some one another each every"
)
_STATING_WORDS = (
    "is are has have costs takes lasts lives ends starts begins expires opens closes holds allows needs "
    "requires works goes contains weighs measures reports moves born"
)
_LEADING_WORDS = "in at on by to from for as out called named born based due the until every"
_OPPOSED_VERB_WORDS = "lives died likes loves hates increases decreases rises falls won lost began ended"
_UNNAMED, _STATING = frozenset(_UNNAMED_WORDS.split()), frozenset(_STATING_WORDS.split())
_LEADING, _OPPOSED_VERBS = frozenset(_LEADING_WORDS.split()), frozenset(_OPPOSED_VERB_WORDS.split())
_AUXILIARIES = frozenset(("do", "does", "always"))
_WEEKLY = frozenset(("mondays", "tuesdays", "wednesdays", "thursdays", "fridays", "saturdays", "sundays"))

Reason = Literal["says the same", "other number", "other name", "negation", "opposite"]


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two sentences of two texts, by their positions, that repeat or may contradict each other."""

    one: int
    other: int
    first: str
    second: str
    reason: Reason

    @property
    def is_repetition(self) -> bool:
        """Whether the other entry says the same."""
        return self.reason == "says the same"

    @property
    def is_sure(self) -> bool:
        """Whether one value alone differs in what both sentences state of one subject."""
        one, other = ([*map(str.lower, _WORD.findall(text))] for text in (self.first, self.second))
        if one[0] in _UNNAMED or other[0] in _UNNAMED:
            return False
        if self.reason == "negation":
            return _affirmed(one) == _affirmed(other)
        codes = SequenceMatcher(None, one, other, autojunk=False).get_opcodes()
        changes = [places for what, *places in codes if what != "equal"]
        if len(changes) != 1:
            return False
        [(start, end, other_start, other_end)] = changes
        verb = next((at for at in range(start - 1, 0, -1) if one[at] in _STATING), 0)
        left, right = set(one[start:end]), set(other[other_start:other_end])
        if self.reason == "opposite":
            return bool(verb) or left | right <= _OPPOSED_VERBS
        between = one[verb + 1 : start]
        is_direct = all(word in _LEADING or word.endswith("ed") for word in between)
        return bool(verb) and (self.reason == "other number" or is_direct) and not left & _WEEKLY


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    words: frozenset[str]  # without numbers, negations and idle words
    numbers: frozenset[str]
    names: frozenset[str]
    negated: bool


def compared(texts: Sequence[str]) -> list[Conflict]:
    """All sentences that repeat or may contradict one of another text, in their order."""
    by_text = [[_taken(sentence) for sentence in sentences(text)] for text in texts]
    found = []
    for (one, these), (other, those) in combinations(enumerate(by_text), 2):
        for first in these:
            for second in those:
                if reason := _reason(first, second):
                    found.append(Conflict(one, other, first.text, second.text, reason))
    return found


def _reason(first: _Sentence, second: _Sentence) -> Reason | None:
    shared = first.words & second.words
    fewer = min(len(first.words), len(second.words))
    if len(shared) < _LEAST or len(shared) < ALIKE * fewer:
        return None
    left, right = first.words - second.words, second.words - first.words
    mostly = len(shared) >= _MOSTLY * max(len(first.words), len(second.words))
    if mostly and first.negated != second.negated:
        return "negation"
    if any(left & pair and right & pair for pair in _OPPOSITES):
        return "opposite"
    if first.numbers and second.numbers and not first.numbers & second.numbers:
        return "other number"
    if left and right and left <= first.names and right <= second.names:
        return "other name"
    same = len(shared) >= _SAME * max(len(first.words), len(second.words))
    return "says the same" if same and first.numbers == second.numbers else None


def _affirmed(words: Sequence[str]) -> list[str]:
    """The words without what denies them, verbs without the endings that go with it."""
    plain = (re.sub(r"(?<=can)['’]t$|n['’]t$|(?<=can)not$", "", word) for word in words)
    kept = (word for word in plain if word not in _NEGATIONS and word not in _AUXILIARIES)
    return [re.sub(r"(?<=\w\w)(?:(?<=[ohx])e)?s$", "", word) for word in kept]


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text, in their order."""
    for match in _SENTENCE.finditer(_WRAPPED.sub(" ", text)):
        if sentence := match.group().strip():
            yield sentence


def _taken(sentence: str) -> _Sentence:
    found = _WORD.findall(sentence)
    lower = [word.lower() for word in found]
    numbers = {_NUMBERS.get(word, word) for word in lower if word in _NUMBERS or word[0].isdigit()}
    negated = any(word in _NEGATIONS or word.endswith(("n't", "n’t")) for word in lower)
    idle = _IDLE | _NEGATIONS | _NUMBERS.keys()
    kept = [
        (word, low)
        for word, low in zip(found, lower, strict=True)
        if low not in idle and not low[0].isdigit() and not low.endswith(("n't", "n’t"))
    ]
    return _Sentence(
        text=sentence,
        words=frozenset(low for _, low in kept),
        numbers=frozenset(numbers),
        names=frozenset(low for word, low in kept if word[0].isupper()),
        negated=negated,
    )
