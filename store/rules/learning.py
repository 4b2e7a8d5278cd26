"""What the co-pilot computes: a linear head on signals of coins, and the threshold that keeps a promise.

    Coin            the signals of one coin: words, numbers, and how strongly each named thing holds
    Learner         logistic regression on them, by groups, so that a score can be taken apart
    in_time         the scores of the latest decisions, each by a learner of earlier ones alone
    told_apart      whether other coins are unlike those: then their scores say nothing of these
    Promise         the confidence from which at most a share of decisions is wrong, and how many that settles

Nothing here reads a library.
"""

import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from itertools import chain
from math import ceil, exp, floor, lgamma, sqrt
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Floats = NDArray[np.float32]

CALIBRATED = 2_000  # decisions, the latest, that the threshold comes from
LATEST = 500  # of these, on which it must hold as well
FEWEST = 20  # of each outcome
UNLIKE = 0.65  # how well what waits is told from what was decided, above which nothing is promised
_PARTS = 4  # of these, each scored by a learner of what came before it
_WORDS = 1 << 13  # columns that words share
_PIECES = 1 << 13  # … and pieces of names and tickers
_PIECE = 4  # letters of one; a name's beginning and end count as letters
_SPELT = 4.0  # how much the pieces of a coin count together beside its words together
_NAMES = ("name", "ticker")  # which are made of others: "babydoge", "dogwifhat" …
_DIGITS = re.compile(r"\d+")  # … and numbered
_PICTURE = 64  # directions of the pictures' vectors in which they differ most
_LOOKS = 1.0  # how much they count together beside the words together; more is learned by heart
_COLUMNS = 64  # numbers of sidecars, the most frequent …
_SHARE = 0.02  # … that so many coins have
_STEPS = 8  # ranges of one, with as many coins in each
_STRENGTH = 0.3  # of the fit, the inverse of its ridge
_BROKEN = 0.07  # how likely chance may break it at one threshold; one in ten at the lowest that is found
_NORMAL = 1.959964  # standard deviations of an interval of 95 %


@dataclass(frozen=True, slots=True)
class Coin:
    """The signals of one coin as it was at a moment."""

    words: tuple[str, ...] = ()  # each with where it stands: "name moon"
    numbers: Mapping[str, float] | None = None  # of its sidecar, by plain names
    holds: Mapping[str, float] | None = None  # what is found of it, and how surely, from 0


class Signal(NamedTuple):
    """What one signal adds to a coin's score: above 0 it speaks for approving."""

    name: str
    weight: float  # log-odds


@dataclass(frozen=True, slots=True)
class Learner:
    """Logistic regression, learned once; its columns are picture, words, holds, numbers and pieces of names.

    Pieces are letters in a row, of a name as a whole word and of a longer one alike (Bojanowski et al. 2017,
    arXiv 1607.04606).
    """

    directions: Floats  # (vector, picture): of the pictures' vectors
    middle: Floats  # (vector,)
    holds: tuple[str, ...]
    columns: tuple[str, ...]
    edges: Floats  # (columns, steps - 1): where the ranges meet, on the scale of logarithms
    weights: Floats
    usual: Floats  # each column's mean: what a signal is compared with
    offset: float

    @classmethod
    def of(cls, coins: Sequence[Coin], vectors: Floats, approved: NDArray[np.bool_]) -> Self:
        """Learn from decisions. `vectors` (n, d) are those of the pictures, zeros where there is none."""
        from sklearn.linear_model import LogisticRegression

        middle, directions = _directions(vectors)
        found = Counter(chain.from_iterable(coin.numbers or () for coin in coins))
        least = max(FEWEST, _SHARE * len(coins))
        columns = tuple(name for name, count in found.most_common(_COLUMNS) if count >= least)
        edges = np.zeros((len(columns), _STEPS - 1), np.float32)
        for at, name in enumerate(columns):
            values = [_log(coin.numbers[name]) for coin in coins if coin.numbers and name in coin.numbers]
            edges[at] = np.quantile(values, np.linspace(0, 1, _STEPS + 1)[1:-1])
        holds = tuple(sorted({name for coin in coins for name in coin.holds or ()}))
        empty = np.empty(0, np.float32)
        made = cls(directions, middle, holds, columns, edges, empty, empty, 0.0)
        rows = made._rows(coins, vectors)
        fit = LogisticRegression(C=_STRENGTH, max_iter=300, tol=1e-3).fit(rows, approved)
        weights = np.asarray(fit.coef_[0], np.float32)
        usual = np.asarray(rows.mean(axis=0), np.float32).ravel()
        return cls(directions, middle, holds, columns, edges, weights, usual, float(fit.intercept_[0]))

    def scores(self, coins: Sequence[Coin], vectors: Floats) -> NDArray[np.float64]:
        """How likely a person approves each coin, 0 to 1."""
        odds = self._rows(coins, vectors) @ self.weights.astype(np.float64) + self.offset
        return np.asarray(1 / (1 + np.exp(-odds)), np.float64)

    def signals(self, coin: Coin, vector: Floats) -> list[Signal]:
        """Everything that moves this coin's score, the heaviest first, each beside what is usual."""
        row = self._rows([coin], vector[None])
        given = (row.toarray().ravel() - self.usual) * self.weights
        found = []
        for name, places in self._groups(coin):
            weight = float(given[places].sum())
            found += [Signal(name, weight)] if abs(weight) > 1e-3 else []
        return sorted(found, key=lambda signal: -abs(signal.weight))

    def _groups(self, coin: Coin) -> Iterator[tuple[str, list[int]]]:
        """Each signal that the coin has, with its columns."""
        picture = self.directions.shape[1]
        yield "picture", list(range(picture))
        after_words = picture + _WORDS
        spelt = after_words + len(self.holds) + len(self.columns) * (_STEPS + 1)
        said = set[int]()
        for word in dict.fromkeys(coin.words):  # a piece counts for the first word that has it
            pieces = _pieces([word]) - said
            said |= pieces
            yield word, [picture + _place(word), *(spelt + piece for piece in pieces)]
        start = after_words
        for at, name in enumerate(self.holds):
            if coin.holds and name in coin.holds:
                yield name, [start + at]
        start += len(self.holds)
        for at, name in enumerate(self.columns):
            first = start + at * (_STEPS + 1)
            if coin.numbers and name in coin.numbers:
                yield f"{name} {coin.numbers[name]:g}", list(range(first, first + _STEPS + 1))

    def _rows(self, coins: Sequence[Coin], vectors: Floats) -> "csr_matrix":
        """(n, columns) of these coins."""
        from scipy.sparse import csr_matrix

        seen = np.asarray(np.abs(vectors).any(axis=1))
        looks = np.where(seen[:, None], (vectors - self.middle) @ self.directions, 0)
        picture, starts = self.directions.shape[1], [0]
        indices, values = list[int](), list[float]()
        after_words = picture + _WORDS
        of_hold = {name: after_words + at for at, name in enumerate(self.holds)}
        after_holds = after_words + len(self.holds)
        after_columns = after_holds + len(self.columns) * (_STEPS + 1)
        of_column = {name: at for at, name in enumerate(self.columns)}
        for coin, look in zip(coins, looks.tolist(), strict=True):
            indices += range(picture)
            values += look
            words = {_place(word) for word in coin.words}
            indices += [picture + place for place in words]
            values += [1 / sqrt(len(words))] * len(words) if words else []
            pieces = _pieces(coin.words)
            indices += [after_columns + piece for piece in pieces]
            values += [_SPELT / sqrt(len(pieces))] * len(pieces) if pieces else []
            for name, value in (coin.holds or {}).items():
                if name in of_hold:
                    indices.append(of_hold[name])
                    values.append(value)
            for name, value in (coin.numbers or {}).items():
                if name in of_column:
                    at = of_column[name]
                    step = int(np.searchsorted(self.edges[at], _log(value)))
                    first = after_holds + at * (_STEPS + 1)
                    indices += [first + step, first + _STEPS]
                    values += [1.0, 1.0]  # its range, and that it is known
            starts.append(len(indices))
        return csr_matrix((values, indices, starts), shape=(len(coins), after_columns + _PIECES))

    def as_bytes(self) -> bytes:
        """The learner, to be stored."""
        file = BytesIO()
        np.savez_compressed(
            file, directions=self.directions, middle=self.middle, holds=np.array(self.holds, np.str_),
            columns=np.array(self.columns, np.str_), edges=self.edges, weights=self.weights,
            usual=self.usual, offset=np.float64(self.offset),
        )  # fmt: skip
        return file.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        """The learner that `as_bytes` stored. Raises ValueError if it is none."""
        with np.load(BytesIO(content), allow_pickle=False) as kept:
            holds, columns = tuple(kept["holds"].tolist()), tuple(kept["columns"].tolist())
            width = kept["directions"].shape[1] + _WORDS + len(holds) + len(columns) * (_STEPS + 1) + _PIECES
            lacks = max(0, width - len(kept["weights"]))  # it learned before pieces were looked at
            weights, usual = (np.pad(kept[name], (0, lacks)) for name in ("weights", "usual"))
            return cls(
                kept["directions"], kept["middle"], holds, columns, kept["edges"], weights, usual,
                float(kept["offset"]),
            )  # fmt: skip


def _directions(vectors: Floats) -> tuple[Floats, Floats]:
    """The middle (d,) of the vectors that are there, and the directions (d, k) of most variance."""
    seen = vectors[np.abs(vectors).any(axis=1)]
    if len(seen) < 2:
        return np.zeros(vectors.shape[1], np.float32), np.zeros((vectors.shape[1], 0), np.float32)
    middle = seen.mean(axis=0)
    spread, axes = np.linalg.eigh(np.cov((seen - middle).T, dtype=np.float64))
    most = np.argsort(-spread)[: min(_PICTURE, len(seen) - 1)]
    scale = np.sqrt(np.maximum(spread[most].sum(), 1e-12))
    return middle, np.asarray(axes[:, most] * (_LOOKS / scale), np.float32)


def _log(value: float) -> float:
    """The logarithm of a number of any sign, 0 staying 0."""
    return float(np.sign(value) * np.log1p(min(abs(value), 1e300)))


def _place(word: str) -> int:
    return zlib.crc32(word.encode(errors="replace")) % _WORDS


def _pieces(words: Iterable[str]) -> set[int]:
    """The columns, from 0, of the pieces of the names among these words."""
    found = set[int]()
    for word in words:
        place, _, letters = word.partition(" ")
        if place in _NAMES and (plain := _DIGITS.sub("", letters)):
            whole = f"<{plain}>"
            pieces = (whole[at : at + _PIECE] for at in range(len(whole) - _PIECE + 1))
            found |= {zlib.crc32(piece.encode(errors="replace")) % _PIECES for piece in pieces}
    return found


Scored = Sequence[tuple[float, bool]]  # how likely each was said to be approved, and whether it was


def in_time(
    coins: Sequence[Coin],
    vectors: Floats,
    approved: NDArray[np.bool_],
    *,
    counts: NDArray[np.bool_] | None = None,
    go_on: Callable[[], bool],
) -> Scored:
    """Score the latest decisions of these (oldest first), each part by a learner of all before it.

    Only those that count are scored, if `counts` says which. No decision is scored by one that learned from
    it, or from a later one. Ends early if `go_on` says so.
    """
    latest = measured(np.ones(len(coins), np.bool_) if counts is None else counts)
    scored = list[tuple[float, bool]]()
    for part in np.array_split(latest, _PARTS):
        if not len(part) or not go_on():
            break
        start = int(part[0])
        before = approved[:start]
        if before.all() or not before.any():  # nothing to tell apart yet
            scores = np.full(len(part), 0.5)
        else:
            learner = Learner.of(coins[:start], vectors[:start], before)
            scores = learner.scores([coins[at] for at in part], vectors[part])
        scored += zip(scores.tolist(), approved[part].tolist(), strict=True)
    return scored


def measured(counts: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Which decisions (oldest first) a promise is measured on: the later half of those that count."""
    own = np.flatnonzero(counts)
    return own[len(own) - min(CALIBRATED, len(own) // 2) :]


def told_apart(decided: Sequence[Coin], waiting: Sequence[Coin], vectors: Floats) -> float:
    """How surely a learner tells waiting coins from decided ones, which it did not see: 1 always, 0.5 never.

    `vectors` are those of both, in this order. A classifier as a two-sample test (Lopez-Paz and Oquab 2017,
    arXiv 1610.06545): the area under its curve, less two of the standard errors that it has by chance.
    """
    few, many = len(decided), len(waiting)
    if min(few, many) < FEWEST:
        return 0.5
    from sklearn.metrics import roc_auc_score

    coins = [*decided, *waiting]
    waits = np.arange(few + many) >= few
    scores = np.zeros(few + many)
    halves = np.random.default_rng(1).permutation(few + many) % 2 == 0
    for half in (halves, ~halves):
        seen, others = np.flatnonzero(half).tolist(), np.flatnonzero(~half).tolist()
        learner = Learner.of([coins[at] for at in seen], vectors[seen], waits[seen])
        scores[others] = learner.scores([coins[at] for at in others], vectors[others])
    error = sqrt((few + many + 1) / (12 * few * many))
    return max(0.5, float(roc_auc_score(waits, scores)) - 2 * error)


@dataclass(frozen=True, slots=True)
class Promise:
    """What a share of errors to bear (0 to 1) settles, by decisions that were scored in time."""

    bears: float
    decisions: int
    settled: int  # of these decisions
    wrong: int  # of the settled ones
    threshold: float | None  # the confidence, 0.5 to 1, from which a coin is settled; None: none is

    @classmethod
    def of(cls, scored: Scored, bears: float, waiting: int = 0) -> Self:
        """Conformal risk control (Angelopoulos et al. 2022, arXiv 2208.02814, equation 4).

        λ̂ = inf {λ : n/(n+1) · R̂ₙ(λ) + B/(n+1) ≤ α}, where R̂ₙ is the mean of the losses Lᵢ(λ) ≤ B of n
        decisions. Of the settled coins at most the share `bears` may be wrong, E[wrong | settled] ≤ bears.
        That is the loss Lᵢ(λ) = settledᵢ(λ) · (wrongᵢ - bears) with α = 0 and B = 1 - bears, since
        E[L] ≤ 0 says the same. For it the condition becomes

            (wrong(λ) + 1) / (settled(λ) + 1) ≤ bears.

        It holds for decisions that could have come in any order. This loss does not fall with every λ, so
        it is promised for many decisions, not for each number of them (section 2.3 there). Of so many coins
        that are waiting, N = waiting · settled/n would be settled, and more than bears · N (and than one) of
        these may be wrong in one case of ten: decided and waiting coins could have come in any order, so the
        wrong ones among them are spread by the hypergeometric distribution. Since habits change, λ̂ is the
        higher one of this and of the first condition on the latest decisions alone.
        """
        lowest = [_lowest(tuple(scored), bears, waiting), _lowest(tuple(scored[-LATEST:]), bears, 0)]
        if None in lowest:
            return cls(bears, len(scored), 0, 0, None)
        threshold = max(one for one in lowest if one is not None)
        settled = [(score >= 0.5) == approved for score, approved in scored if _sure(score) >= threshold]
        return cls(bears, len(scored), len(settled), settled.count(False), threshold)

    def settles(self, score: float) -> bool:
        """Whether a coin with this score is settled."""
        return self.threshold is not None and _sure(score) >= self.threshold

    @property
    def share(self) -> float:
        """The share of these decisions that it would have settled, 0 to 1."""
        return self.settled / self.decisions if self.decisions else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Where that share lies, by 95 of 100 (Wilson 1927)."""
        return wilson(self.settled, self.decisions)


def _sure(score: float) -> float:
    return max(score, 1 - score)


@lru_cache(16)
def _lowest(scored: tuple[tuple[float, bool], ...], bears: float, waiting: int) -> float | None:
    """The lowest confidence from which few enough of these decisions are wrong; None if there is none."""
    ordered = sorted(scored, key=lambda one: _sure(one[0]))  # the least sure first
    errors = sum((score >= 0.5) != approved for score, approved in ordered)
    before = 0.0
    for at, (score, approved) in enumerate(ordered):
        settled, sure = len(ordered) - at, _sure(score)
        if sure > before and (errors + 1) / (settled + 1) <= bears:  # the first of equal ones
            others = ceil(waiting * settled / len(ordered))
            if _chance(errors, settled, max(1, floor(bears * others)) + 1, others) <= _BROKEN:
                return sure
        before = sure
        errors -= (score >= 0.5) != approved
    return None


def _chance(wrong: int, of: int, others_wrong: int, others: int) -> float:
    """How likely at most `wrong` of so many are, if so many of the others are: hypergeometric."""
    marked, all_of_them = wrong + others_wrong, of + others
    if others_wrong > others:
        return 0.0
    part = exp(
        _choices(marked, wrong) + _choices(all_of_them - marked, of - wrong) - _choices(all_of_them, of)
    )
    total = part
    for less in range(wrong, max(0, marked - others), -1):
        part *= less * (others - marked + less) / ((marked - less + 1) * (of - less + 1))
        total += part
    return total


def _choices(of: int, count: int) -> float:
    """The logarithm of the number of ways to choose so many."""
    return lgamma(of + 1) - lgamma(count + 1) - lgamma(of - count + 1)


def wilson(count: int, of: int) -> tuple[float, float]:
    """The interval of 95 % of a share that was counted `count` times in `of`; 0 to 1 of nothing."""
    if not of:
        return 0.0, 1.0
    square, share = _NORMAL**2, count / of
    middle = (share + square / (2 * of)) / (1 + square / of)
    half = _NORMAL / (1 + square / of) * sqrt(share * (1 - share) / of + square / (4 * of**2))
    return max(0.0, middle - half), min(1.0, middle + half)


def lacking(scored: Scored, bears: float, waiting: int) -> int | None:
    """Of how many more decisions like these some would be settled, about; None: more of them do not help.

    As if as many again had been scored alike: more decisions leave less to chance. Half of them is scored.
    """
    for times in (1.5, 2, 3, 5):
        count = ceil(times * len(scored))
        more = (tuple(scored) * 5)[:count]
        if scored and Promise.of(more, bears, waiting).threshold is not None:
            return 2 * (count - len(scored))
    return None


def missing(approved: int, rejected: int, bears: float) -> str:
    """How many decisions are missing before anything can be promised; "" if there are enough.

    Without a single error a promise needs 1/bears settled decisions to calibrate on, and half of all
    decisions are calibrated on; a co-pilot that settles one in two then needs four times as many.
    """
    needed = ceil(4 / bears)
    lacks = [
        f"{count:,} more {what}"
        for count, what in (
            (needed - approved - rejected, "decisions"),
            (FEWEST - approved, "approved coins"),
            (FEWEST - rejected, "rejected coins"),
        )
        if count > 0
    ]
    return " and ".join(lacks)
