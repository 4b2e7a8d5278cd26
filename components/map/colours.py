"""The colour of a point: by subject, tag, likeness to the question, age, approval, reviewer or a number."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from components.grid.fields import label as field_label
from components.shell.format import moment, short
from components.shell.page import charts
from store import Filter, Reader

WAYS = ("subject", "tag", "likeness", "age", "approval", "person")
# Told apart by people who see colours differently too (Okabe and Ito 2008, its black left out).
PALETTE = ("#56b4e9", "#e69f00", "#009e73", "#f0e442", "#cc79a7", "#d55e00", "#0072b2", "#a78bfa")
OTHER = "#8b8f98"
_TIERS = ((10, "#f0e442"), (50, "#e69f00"), (200, "#cc79a7"))  # so many coins closest to the question
_FURTHER = "#56b4e9"
_STEPS = 200  # colours of a range begin here: 0 to 55 above it, from low to high


@dataclass(frozen=True)
class Colours:
    """A number for each point: its place in the legend, or 200 and above along a range."""

    addresses: Sequence[str]
    values: NDArray[np.uint8]
    title: str = ""
    legend: Sequence[tuple[str, str]] = ()  # a label and its colour; no label where no point has it
    range: Sequence[str] = ()  # what the ends mean, and what lies between them
    labels: tuple[str, ...] = ()  # that have colours of their own


def numbers(library: Reader) -> dict[str, str]:
    """The fields of numbers that came with coins, by names that go with `WAYS`."""
    named = {field_label(field).lower(): field for field in library.number_orders()}
    return {name: field for name, field in named.items() if name not in WAYS}


def by(
    way: str,
    addresses: Sequence[str],
    library: Reader,
    *,
    scores: Mapping[str, float],
    before: Sequence[str] = (),
) -> Colours:
    """Colours for these records, in their order; labels that had one `before` keep it.

    A way that is none of `WAYS` is one of `numbers`.
    """
    if way not in WAYS:
        return _by_number(addresses, library, way)
    if way == "age":
        return _by_age(addresses, library)
    if way == "likeness":
        return _by_likeness(addresses, scores)
    if way in ("approval", "person"):
        approvers = library.approvers()
        decided = [(one, "approved here" if way == "approval" else who) for one, who in approvers.items()]
        without = "came in without review"
        return _by_label(addresses, decided, before, title=way.capitalize(), rest=without, none=without)
    found = library.subjects() if way == "subject" else library.labels("tag")
    title = "Main subject" if way == "subject" else "Rarest frequent tag"
    return _by_label(addresses, found, before, title=title, rest="something else", none=f"no {way}")


def _by_age(addresses: Sequence[str], library: Reader) -> Colours:
    made = library.created()
    times = np.array([made.get(address, 0) for address in addresses])
    order = np.argsort(np.argsort(times, kind="stable"), kind="stable")
    ends = [moment(float(time)) for time in np.quantile(times, (0, 0.5, 1), method="nearest")]
    return Colours(addresses, _along(order), "Created; as many in each colour", range=ends)


def _by_number(addresses: Sequence[str], library: Reader, name: str) -> Colours:
    """A sequential scale, logarithmic where it is wide; coins without the number are grey."""
    field = numbers(library).get(name, name)
    found = library.numbers(Filter(tier="library"), field)
    known = np.array([row for row, address in enumerate(addresses) if address in found], np.intp)
    without = len(addresses) - len(known)
    legend = [(f"no {name} · {without:,}" if without else "", OTHER)]
    values, title = np.zeros(len(addresses), np.uint8), field_label(field)
    if not len(known):
        return Colours(addresses, values, title, legend)
    scale = np.array([found[addresses[row]][0] for row in known], np.float64)
    if is_wide := charts.is_wide(scale.tolist()):
        scale, title = np.log(np.maximum(scale, scale[scale > 0].min())), f"{title}, logarithmic"
    values[known] = _along(scale)
    middle = (scale.min() + scale.max()) / 2
    ends = [math.exp(end) if is_wide else end for end in (scale.min(), middle, scale.max())]
    return Colours(addresses, values, title, legend, range=[short(end) for end in ends])


def _by_likeness(addresses: Sequence[str], scores: Mapping[str, float]) -> Colours:
    """Tiers by the rank of the score, which mean the same for each question and model."""
    if not scores:
        return _unasked(addresses)
    ranked = sorted(scores, key=lambda address: -scores[address])
    tier_of = {address: sum(rank >= last for last, _ in _TIERS) for rank, address in enumerate(ranked)}
    values = np.array([tier_of.get(address, len(_TIERS)) for address in addresses], np.uint8)
    counts = np.bincount(values, minlength=len(_TIERS) + 1).tolist()
    starts = (1, *(last + 1 for last, _ in _TIERS))
    names = [f"closest {_TIERS[0][0]}"] + [
        f"rank {start} to {last}" for start, (last, _) in zip(starts[1:], _TIERS[1:], strict=False)
    ]
    labels = [*names, "further"]
    colours = [*(colour for _, colour in _TIERS), _FURTHER]
    legend = [
        (f"{label} · {count:,}" if count else "", colour)
        for label, colour, count in zip(labels, colours, counts, strict=True)
    ]
    return Colours(addresses, values, "Likeness to the question", legend)


def _unasked(addresses: Sequence[str]) -> Colours:
    nothing = [("ask a question above", OTHER)]
    return Colours(addresses, np.zeros(len(addresses), np.uint8), "Likeness to the question", nothing)


def _by_label(
    addresses: Sequence[str],
    labelled: Iterable[tuple[str, str]],
    before: Sequence[str],
    *,
    title: str,
    rest: str,
    none: str,
) -> Colours:
    """The most frequent labels; a coin of several gets the rarest of them, which says most."""
    row_of = {address: row for row, address in enumerate(addresses)}
    own = [(row_of[address], label) for address, label in labelled if address in row_of]
    counts = Counter(label for _, label in own)
    frequent = sorted(counts, key=lambda label: (-counts[label], label not in before, label))[: len(PALETTE)]
    labels = _keeping(before, frequent)
    place = {label: number for number, label in enumerate(labels) if label}
    telling = sorted(place, key=lambda label: -counts[label])
    rank = {label: number for number, label in enumerate(telling)}
    ranks = np.full(len(addresses), -1, np.int16)
    rows = np.array([row for row, label in own if label in place], np.intp)
    np.maximum.at(ranks, rows, np.array([rank[label] for _, label in own if label in place], np.int16))
    places = np.array([*(place[label] for label in telling), len(labels)], np.uint8)  # -1 is the last
    values: NDArray[np.uint8] = places[ranks]
    worn = np.bincount(values, minlength=len(labels) + 1).tolist()
    named = [*zip(labels, PALETTE, strict=False), (rest if place else none, OTHER)]
    legend = [
        (f"{label} · {count:,}" if count else "", colour)
        for (label, colour), count in zip(named, worn, strict=True)
    ]
    return Colours(addresses, values, title, legend, labels=labels)


def _keeping(before: Sequence[str], labels: Sequence[str]) -> tuple[str, ...]:
    """The labels, earlier ones at their old places; "" for a place that is free now."""
    new = iter([label for label in labels if label not in before])
    names = [label if label in labels else next(new, "") for label in before]
    return (*names, *new)[: len(PALETTE)]


def _along(values: NDArray[np.generic]) -> NDArray[np.uint8]:
    numbers = np.asarray(values, np.float64)
    if not len(numbers):
        return np.zeros(0, np.uint8)
    spread = float(numbers.max() - numbers.min()) or 1.0
    steps: NDArray[np.float64] = np.rint((numbers - numbers.min()) / spread * 55)
    return (_STEPS + steps).astype(np.uint8)
