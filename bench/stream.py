"""A made stream of coins and of decisions about them, whose habits drift.

Every coin has a theme, which its name, text and picture follow, numbers that a launch platform sends, faults
of its picture and copies before it. One person decides by all of it, with doubt near the border and a slip of
the hand now and then. In the course of the stream themes come and go, the numbers of the whole market grow
threefold, and the person changes their mind about some themes.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from store.rules.learning import Coin, Floats

THEMES, DIMENSIONS = 60, 768
SLIPS = 0.005  # of the decisions are not meant
_WORDS = 12  # of each theme
_DOUBT = 0.35  # of what the person sees in a coin, at the border


@dataclass(frozen=True, slots=True)
class Stream:
    """Coins in the order in which they were decided."""

    coins: list[Coin]
    vectors: Floats
    approved: NDArray[np.bool_]


def made(count: int, *, seed: int = 1) -> Stream:
    """So many coins; the same seed makes the same ones."""
    random = np.random.default_rng(seed)
    when = np.linspace(0, 1, count)
    peaks, tastes = random.uniform(-0.2, 1.2, THEMES), random.normal(-0.9, 1.6, THEMES)
    turns = random.uniform(0, 1, THEMES)  # when the person changes their mind …
    later = np.where(random.random(THEMES) < 0.2, random.normal(-0.9, 1.6, THEMES), tastes)  # … about some
    popular = np.exp(-((when[:, None] - peaks) ** 2) / 0.02) + 0.01
    popular = np.cumsum(popular / popular.sum(axis=1, keepdims=True), axis=1)
    theme = np.minimum((random.random((count, 1)) > popular).sum(axis=1), THEMES - 1)
    centres = random.normal(size=(THEMES, DIMENSIONS)) / np.sqrt(DIMENSIONS)
    vectors = centres[theme] + random.normal(size=(count, DIMENSIONS)) / np.sqrt(DIMENSIONS)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    lives = random.normal(size=count)
    growth = np.log(3) * when
    logs = {
        "volume": 8 + 2.0 * lives + random.normal(size=count) * 0.6 + growth,
        "marketcap": 10 + 1.5 * lives + random.normal(size=count) * 0.8 + growth,
        "holders": 4 + 1.3 * lives + random.normal(size=count) * 0.6,
        "replies": 2 + random.normal(size=count),
    }
    copy = np.where(random.random(count) < 0.25, random.uniform(0.4, 1, count), 0)
    of_approved = random.random(count) < 0.6
    blank = random.random(count) < 0.06
    letters = (copy > 0) & (random.random(count) < 0.15)
    taste = np.where(when > turns[theme], later[theme], tastes[theme])
    seen = (
        1.8 * lives + taste - 7 * np.maximum(copy - 0.5, 0) * (1 + of_approved) - 4 * blank - 3 * letters
    ) + _DOUBT * random.normal(size=count)
    approved = (seen > 0) ^ (random.random(count) < SLIPS)
    coins = []
    for at in range(count):
        own = random.integers(0, _WORDS, 3)
        holds: dict[str, float] = {}
        if copy[at]:
            holds |= {
                "copy": float(copy[at]),
                "like approved" if of_approved[at] else "like rejected": float(copy[at]),
            }
        holds |= {"blank": 1.0} if blank[at] else {}
        holds |= {"letters": 1.0} if letters[at] else {}
        words = (
            *(f"name t{theme[at]}w{word}" for word in own[:2]), f"text t{theme[at]}w{own[2]}",
            f"text common{random.integers(0, 40)}", f"name unique{at}",
        )  # fmt: skip
        numbers = {name: float(np.exp(values[at])) for name, values in logs.items()}
        if random.random() < 0.1:
            numbers.pop("holders")
        coins.append(Coin(words, numbers, holds))
    return Stream(coins, vectors.astype(np.float32), approved)
