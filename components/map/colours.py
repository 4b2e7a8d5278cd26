"""The colour of a point: by category, tag, age, or relevance to the query."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from components.shell.format import moment
from store.reading.reader import Reader

WAYS = ("category", "tag", "date", "score")
# Told apart by people who see colours differently too (Okabe and Ito 2008, its black left out).
PALETTE = ("#56b4e9", "#e69f00", "#009e73", "#f0e442", "#cc79a7", "#d55e00", "#0072b2")
OTHER = "#8b8f98"
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


def by(
    way: str,
    addresses: Sequence[str],
    library: Reader,
    *,
    scores: Mapping[str, float],
    before: Sequence[str] = (),
) -> Colours:
    """Colours for these records, in their order; labels that had one `before` keep it."""
    if way == "date":
        made = library.created()
        times = np.array([made.get(address, 0) for address in addresses])
        order = np.argsort(np.argsort(times, kind="stable"), kind="stable")
        ends = [moment(float(time)) for time in np.quantile(times, (0, 0.5, 1), method="nearest")]
        return Colours(addresses, _along(order), "made; as many in each colour", range=ends)
    if way == "score":
        found = np.array([scores.get(address, np.nan) for address in addresses])
        known = found[~np.isnan(found)]
        if not len(known):
            nothing = [("nothing is asked", OTHER)]
            return Colours(addresses, np.zeros(len(addresses), np.uint8), "score", nothing)
        low, high = float(known.min()), float(known.max())
        values = _along(np.nan_to_num(found, nan=low))
        return Colours(addresses, values, "score", range=(f"{low:.2f}", f"{high:.2f}"))
    return _by_label(way, addresses, library.labels(way), before)


def _by_label(
    way: str, addresses: Sequence[str], labelled: Sequence[tuple[str, str]], before: Sequence[str]
) -> Colours:
    row_of = {address: row for row, address in enumerate(addresses)}
    own = [(row_of[address], label) for address, label in labelled if address in row_of]
    counts = Counter(label for _, label in own)
    frequent = sorted(counts, key=lambda label: (-counts[label], label not in before, label))[: len(PALETTE)]
    labels = _keeping(before, frequent)
    place = {label: number for number, label in enumerate(labels) if label}
    # Of several, the rarest says most: nearly every coin has a style.
    values = np.full(len(addresses), -1, np.int16)
    rows = np.array([row for row, label in own if label in place], np.intp)
    np.maximum.at(values, rows, np.array([place[label] for _, label in own if label in place], np.int16))
    values[values < 0] = len(labels)
    worn = np.bincount(values, minlength=len(labels) + 1).tolist()
    named = [*zip(labels, PALETTE, strict=False), (f"no {way}" if not place else "something else", OTHER)]
    legend = [
        (f"{label} · {count:,}" if count else "", colour)
        for (label, colour), count in zip(named, worn, strict=True)
    ]
    return Colours(addresses, values.astype(np.uint8), f"rarest {way}", legend, labels=labels)


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
