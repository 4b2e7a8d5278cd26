"""Samples of pictures: random, or by their vectors diverse, typical, outliers or balanced; by a seed.

Groups of pictures are found by spherical k-means (Dhillon and Modha 2001) among a random part of them. A
diverse sample is Gonzalez' farthest-first traversal (1985) of such a part.
"""

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

Sample = Literal["random", "diverse", "typical", "outliers", "balanced"]
SAMPLES: tuple[Sample, ...] = get_args(Sample)

Numbers = NDArray[np.intp]
Matrix = NDArray[np.float32]

_PART = 8_192  # pictures among which groups and far ones are looked for
_DIVERSE = 240  # pictures of a diverse sample, as many as a page can have; others follow by chance
_GROUPS = 24
_ROUNDS = 8
_FEW = 200  # a group with less than this part of the pictures is one of outliers
_BLOCK = 1_024  # vectors that are compared at once


def sampled(count: int, vectors: Callable[[Numbers], Matrix], sample: Sample, *, seed: int) -> Numbers:
    """The numbers from 0 to `count` in the order of the sample; `vectors` gives rows (n, d) of length 1.

    `diverse`: each as unlike the ones before as possible. `typical`: what is in the middle of each group.
    `outliers`: what is farthest from the middle of every group. `balanced`: each group in turn, by chance.
    """
    random = np.random.default_rng(seed)
    if sample == "random":
        return random.permutation(count)
    part = np.sort(random.permutation(count)[:_PART])
    near = vectors(part)
    if sample == "diverse":
        first = part[_farthest_first(near, start=int(random.integers(max(1, len(part)))))]
        others = random.permutation(count)
        return np.concatenate([first, others[~np.isin(others, first)]])
    middles, sizes = _middles(near, random)
    if sample == "outliers":  # a group of a few is made of them
        middles = middles[sizes >= min(sizes.max(initial=0), max(2, len(near) // _FEW))]
    groups, closeness = _closest(count, vectors, middles)
    if sample == "outliers":
        return np.argsort(closeness, kind="stable")
    within = -closeness if sample == "typical" else random.random(count)
    return _in_turn(groups, within)


def _farthest_first(near: Matrix, *, start: int) -> Numbers:
    """The first of these, each as far as possible from those before it."""
    chosen = [start][: len(near)]
    closest = np.full(len(near), -2, np.float32)
    while len(chosen) < min(_DIVERSE, len(near)):
        np.maximum(closest, near @ near[chosen[-1]], out=closest)
        closest[chosen[-1]] = 2  # not again
        chosen.append(int(closest.argmin()))
    return np.array(chosen, np.intp)


def _middles(near: Matrix, random: np.random.Generator) -> tuple[Matrix, Numbers]:
    """(k, d): the middles of groups of these vectors, and how many are in each."""
    middles = near[random.permutation(len(near))[:_GROUPS]]
    groups = np.empty(0, np.intp)
    for _ in range(_ROUNDS if len(near) else 0):
        groups = (near @ middles.T).argmax(axis=1)
        for group in range(len(middles)):
            total = near[groups == group].sum(axis=0)
            if length := float(np.linalg.norm(total)):
                middles[group] = total / length
    return middles, np.bincount(groups, minlength=len(middles))


def _closest(
    count: int, vectors: Callable[[Numbers], Matrix], middles: Matrix
) -> tuple[Numbers, NDArray[np.float32]]:
    """The group of each, and its cosine with the middle of that."""
    groups, closeness = np.zeros(count, np.intp), np.zeros(count, np.float32)
    for start in range(0, count, _BLOCK):
        here = np.arange(start, min(start + _BLOCK, count))
        cosines = vectors(here) @ middles.T
        groups[here], closeness[here] = cosines.argmax(axis=1), cosines.max(axis=1)
    return groups, closeness


def _in_turn(groups: Numbers, within: NDArray[np.floating]) -> Numbers:
    """One of each group, then another of each; the largest groups first, the lowest `within` first."""
    order = np.lexsort([within, groups])
    sizes = np.bincount(groups, minlength=1)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    turn = np.arange(len(order)) - starts[groups[order]]
    return order[np.lexsort([-sizes[groups[order]], turn])]
