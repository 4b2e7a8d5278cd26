"""What a point's colour says: its category, a tag, when it was made, or how well it answers the question."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from store.reading import Reader

WAYS = ("category", "tag", "date", "score")
# Told apart by people who see colours differently too (Okabe and Ito 2008, its black left out).
PALETTE = ("#56b4e9", "#e69f00", "#009e73", "#f0e442", "#cc79a7", "#d55e00", "#0072b2")
OTHER = "#8b8f98"
_STEPS = 200  # colours of a range begin here: 0 to 55 above it, from low to high


@dataclass(frozen=True)
class Colours:
    """A number for each point: of the legend's entries, or 200 and above along a range."""

    values: NDArray[np.uint8]
    legend: list[tuple[str, str]] = field(default_factory=list)
    range: tuple[str, str] | None = None  # what the ends mean


def by(way: str, addresses: Sequence[str], library: Reader, *, scores: Mapping[str, float]) -> Colours:
    """Colours for these records, in their order."""
    if way == "date":
        made = library.created()
        times = [made.get(address, 0) for address in addresses]
        order = np.argsort(np.argsort(times, kind="stable"), kind="stable")
        return Colours(_along(order), range=(_day(min(times, default=0)), _day(max(times, default=0))))
    if way == "score":
        found = np.array([scores.get(address, np.nan) for address in addresses])
        known = found[~np.isnan(found)]
        if not len(known):
            return Colours(np.zeros(len(addresses), np.uint8), [("nothing is asked", OTHER)])
        low, high = float(known.min()), float(known.max())
        return Colours(_along(np.nan_to_num(found, nan=low)), range=(f"{low:.2f}", f"{high:.2f}"))
    labels = library.labels(way)
    counts = Counter(label for address in addresses for label in labels.get(address, ()))
    frequent = [label for label, _ in counts.most_common(len(PALETTE))]
    number = {label: place for place, label in enumerate(frequent)}
    other = len(frequent)
    # Of several, the rarest says most: nearly every coin has a style.
    told = ([number[label] for label in labels.get(address, ()) if label in number] for address in addresses)
    values = [max(own, default=other) for own in told]
    legend = [*zip(frequent, PALETTE, strict=False), ("others", OTHER)]
    return Colours(np.array(values, np.uint8), legend)


def _along(values: NDArray[np.generic]) -> NDArray[np.uint8]:
    numbers = np.asarray(values, np.float64)
    if not len(numbers):
        return np.zeros(0, np.uint8)
    spread = float(numbers.max() - numbers.min()) or 1.0
    return (_STEPS + np.rint((numbers - numbers.min()) / spread * 55)).astype(np.uint8)


def _day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")
