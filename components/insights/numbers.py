"""Figures of the numbers that came with coins: one by tier, or one against another."""

import itertools
import math
from collections.abc import Sequence
from functools import partial

import numpy as np
import streamlit as st

from components.grid.fields import label
from components.insights import figures
from components.insights.coin_sets import CoinSet
from components.shell import format
from components.shell.page import charts
from components.shell.session import safe_mode
from store import Filter, Library
from store.reading import statistics
from store.records import TIERS, Tier

_BY_TIER = "by tier"
_NUMBER, _OTHER = "insights-number", "insights-other-number"  # the keys of the controls
_CLASSES = 10  # about so many, where the scale is not logarithmic
_DOTS = 2_000  # coins that are drawn; of more, a sample

Numbers = dict[Tier, dict[str, tuple[float, ...]]]  # by address


def show(library: Library, one: CoinSet, number: int, of: str) -> None:
    """The figure of a set of coins by the numbers that are chosen next to the first title."""
    fields = list(library.number_orders())
    x, y = (_chosen(key, fields) for key in (_NUMBER, _OTHER))
    axes = [x or fields[0], *([y] if y else [])]
    control = None if number else partial(_choose, fields)
    found = numbers(library, one.filter, axes)
    values = [of_coin for of_tier in found.values() for of_coin in of_tier.values()]
    names = " and ".join(label(field).lower() for field in axes)
    if not values:
        if control:
            control()
        st.caption(f"None of these coins has {names}{of}.")
        return
    about = f"{len(values):,} of {format.counted(one.coins, 'coin')} have {names}."
    if y:
        logarithmic = [charts.is_wide([of_coin[at] for of_coin in values]) for at in (0, 1)]
        dots = by_coin(library, found, axes, logarithmic)
        if len(dots) < len(values):
            about += f" {len(dots):,} are drawn: {_DOTS:,} at most, and above 0 on a logarithmic axis."
        figure = charts.dots(
            dots,
            x=label(axes[0]),
            y=label(axes[1]),
            colors=figures.present(dots, charts.TIERS),
            logarithmic=logarithmic,
        )
    else:
        bars = by_class(found, one.filter, axes[0], limits([value for (value,) in values]))
        figure = charts.bars(bars, title="Coins", colors=figures.present(bars, charts.TIERS), stacked=True)
    figures.show(
        figure, title=f"Numbers{of}", key=f"insights-numbers-{number}",
        control=control, about=about,
        alt=f"{names} of each coin" if y else f"How many coins have how much {names}, by where they are now",
    )  # fmt: skip


def numbers(library: Library, filter: Filter, fields: Sequence[str]) -> Numbers:
    """These numbers of the coins that have all of them, by tier."""
    return {
        tier: library.numbers(statistics.narrowed(filter, tier=tier), *fields)
        for tier in TIERS
        if filter.tier in (None, tier)
    }


def limits(values: Sequence[float]) -> list[float]:
    """Round numbers from which classes of these go: powers of ten and 0, or steps of one size."""
    if charts.is_wide(values):
        powers = [math.floor(math.log10(value)) for value in values if value > 0]
        zero = [0.0] if min(values) == 0 else []
        return [*zero, *(10.0**power for power in range(min(powers), max(powers) + 2))]
    size = (max(values) - min(values)) / _CLASSES or abs(values[0]) or 1.0
    power = 10.0 ** math.floor(math.log10(size))
    step = next(times * power for times in (1, 2, 5, 10) if times * power >= size * (1 - 1e-9))
    first, last = math.floor(min(values) / step + 1e-9), math.floor(max(values) / step + 1e-9) + 1
    return [float(f"{number * step:.12g}") for number in range(first, last + 1)]


def by_class(found: Numbers, filter: Filter, field: str, limits: Sequence[float]) -> list[charts.Bar]:
    """Coins by class and tier, each with the line that finds them; empty classes between others, too."""
    bars = []
    for low, high in itertools.pairwise(limits):
        name = f"{format.short(low)} to {format.short(high)}"
        for tier, numbers in found.items():
            if not numbers:
                continue
            coins = sum(low <= value < high for (value,) in numbers.values())
            behind = statistics.narrowed(filter, tier=tier, between=(field, low, high))
            line = figures.line_of(behind) if coins else ""
            text = f"{format.TIERS[tier]}: {format.counted(coins, 'coin')} of {name}"
            bars.append(charts.Bar(name, format.TIERS[tier], coins, coins, text, line))
    return bars


def by_coin(
    library: Library, found: Numbers, fields: Sequence[str], logarithmic: Sequence[bool]
) -> list[charts.Dot]:
    """A dot for each coin that has a place on both axes; of too many, a sample."""
    coins = [
        (address, tier, numbers)
        for tier, of_tier in found.items()
        for address, numbers in of_tier.items()
        if all(value > 0 or not is_log for value, is_log in zip(numbers, logarithmic, strict=True))
    ]
    if len(coins) > _DOTS:
        drawn = np.random.default_rng(0).choice(len(coins), _DOTS, replace=False)
        coins = [coins[at] for at in sorted(drawn.tolist())]
    unfit = library.unfit.pictures()
    records = {record.address: record for record in library.records(address for address, *_ in coins)}
    dots = []
    for address, tier, (x, y) in coins:
        if address in records:  # else it was deleted this moment
            name = charts.shortened(safe_mode.shown(library, records[address], unfit=unfit).name)
            said = (f"{label(field)} {value:,.15g}" for field, value in zip(fields, (x, y), strict=True))
            text = "\n".join((name, *said))
            dots.append(charts.Dot(format.TIERS[tier], x, y, text, figures.line_of(Filter(address=address))))
    return dots


def _chosen(key: str, fields: Sequence[str]) -> str:
    chosen: str = st.session_state.get(key, "")
    return chosen if chosen in fields else ""


def _choose(fields: Sequence[str]) -> None:
    st.selectbox("Number", fields, key=_NUMBER, width=130, format_func=label, label_visibility="collapsed")
    st.selectbox(
        "Against", [_BY_TIER, *fields], key=_OTHER, width=160, label_visibility="collapsed",
        format_func=lambda field: field if field == _BY_TIER else f"against {label(field).lower()}",
    )  # fmt: skip
