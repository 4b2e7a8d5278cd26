"""Figures of what is in the library: tags, categories, months, captions, and the numbers of coins."""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
import streamlit as st

from components.grid.fields import label
from components.insights import coin_sets, figures, spread
from components.insights.coin_sets import CoinSet
from components.shell import format
from components.shell.page import charts
from components.shell.session import safe_mode
from store import Filter, Library
from store.reading import statistics
from store.records import TIERS, Tier

_MOST = 15  # tags or categories that are drawn
_SUBJECTS = 6  # categories over time, as many as there are colours
_BY_TIER = "by tier"
_NUMBER, _OTHER = "insights-number", "insights-other-number"  # the keys of the controls
_CLASSES = 10  # about so many, where the scale is not logarithmic
_DOTS = 2_000  # coins that are drawn; of more, a sample

Numbers = dict[Tier, dict[str, tuple[float, ...]]]  # by address


def show(library: Library, sets: list[CoinSet]) -> None:
    """Labels of all sets together, months of each set, captions of the library."""
    grid = figures.grid()
    tags = [library.tag_counts(one.filter) for one in sets]
    with grid.cell():
        labels(tags, sets, what="tags", narrow=lambda filter, name: statistics.narrowed(filter, tag=name))
    categories = [library.category_counts(one.filter) for one in sets]
    with grid.cell():
        labels(
            categories,
            sets,
            what="categories",
            narrow=lambda filter, name: statistics.narrowed(filter, category=name),
        )
    with grid.cell():
        labels(
            [_scripts(library, one.filter) for one in sets], sets, what="scripts",
            narrow=lambda filter, name: statistics.narrowed(filter, language=name.lower()),
            about="By the letters of name, description and captions; a coin with two kinds counts twice. "
            "Latin letters alone serve many languages.",
        )  # fmt: skip
    of = [f" · {format.plain(one.label)}" if len(sets) > 1 else "" for one in sets]
    for number, one in enumerate(sets):  # a figure of each set next to that of the other
        with grid.cell():
            bars = by_month(statistics.tiers_by_month(library, one.filter), one, subject="tier")
            figures.show(
                charts.months(bars, title="Coins", colors=figures.present(bars, charts.TIERS)),
                title=f"Coins by month of creation{of[number]}", key=f"insights-months-{number}",
                alt="How many coins were created in each month, by where they are now",
            )  # fmt: skip
    for number, one in enumerate(sets):
        with grid.cell():
            _subjects(library, one, number, of[number])
    with grid.cell():
        spread.caption_lengths(library)
    for number, one in enumerate(sets if library.number_orders() else ()):
        with grid.cell():
            _numbers(library, one, number, of[number])
    with grid.cell():
        spread.similarity_of_coins(library)


def labels(
    counts: Sequence[Mapping[str, int]],
    sets: Sequence[CoinSet],
    *,
    what: str,
    narrow: Callable[[Filter, str], Filter],
    about: str | None = None,
) -> None:
    """The most frequent tags, scripts or reasons; of two sets as shares, since they differ in size."""
    bars = ranking(counts, sets, narrow=narrow)
    if not bars:
        st.caption(f"No coin has {what} yet.")
        return
    number = len(set().union(*counts))
    title = f"The {_MOST} most frequent of {number:,} {what}" if number > _MOST else what.capitalize()
    is_shared = len(sets) > 1
    figure = charts.bars(
        bars, title="Share of coins" if is_shared else "Coins",
        colors=coin_sets.colors([*sets]), form="share" if is_shared else "count",
    )  # fmt: skip
    alt = f"How many coins have which {what}"
    figures.show(figure, title=title, key=f"insights-{what}", alt=alt, about=about)


def ranking(
    counts: Sequence[Mapping[str, int]], sets: Sequence[CoinSet], *, narrow: Callable[[Filter, str], Filter]
) -> list[charts.Bar]:
    """The names that are most frequent in any set, with their counts; two sets have shares as values."""

    def share(name: str) -> float:
        return max(found.get(name, 0) / one.coins for found, one in zip(counts, sets, strict=True))

    names = sorted(set().union(*counts), key=lambda name: (-share(name), name))[:_MOST]
    bars = []
    for name in names:
        for found, one in zip(counts, sets, strict=True):
            coins = found.get(name, 0)
            value = coins / one.coins if len(sets) > 1 else coins
            text = f"{name or 'no reason given'}: {coins:,} of {one.coins:,}"
            line = figures.line_of(narrow(one.filter, name)) if coins else ""
            bars.append(charts.Bar(name or "no reason given", one.label, value, coins, text, line))
    return bars


def by_month(found: Sequence[statistics.MonthCount], one: CoinSet, *, subject: str) -> list[charts.Bar]:
    """Coins by month and kind, each with the line that finds them; `subject` is tier or category."""
    bars = []
    for month, kind, coins in found:
        label = format.TIERS[kind] if subject == "tier" else kind
        tier = next((tier for tier in TIERS if subject == "tier" and tier == kind), None)
        category = kind if subject == "category" else ""
        line = figures.line_of(statistics.narrowed(one.filter, month=month, tier=tier, category=category))
        text = f"{format.counted(coins, 'coin')}, {label}, {month}"
        bars.append(charts.Bar(month, label, coins, coins, text, line))
    return bars


def _scripts(library: Library, filter: Filter) -> dict[str, int]:
    return {name.capitalize(): coins for name, coins in statistics.languages(library, filter).items()}


def _subjects(library: Library, one: CoinSet, number: int, of: str) -> None:
    found = statistics.categories_by_month(library, one.filter)
    total: Counter[str] = Counter()
    for count in found:
        total[count.kind] += count.coins
    most = [kind for kind, _ in total.most_common(_SUBJECTS)]
    bars = by_month([count for count in found if count.kind in most], one, subject="category")
    if not bars:
        st.caption(f"No coin has a category yet{of}.")
        return
    figures.show(
        charts.months(bars, title="Coins", colors=charts.in_colors(most)),
        title=f"Subjects over time{of}", key=f"insights-subjects-{number}",
        alt="How many coins of each frequent category were created in each month",
        about=f"The {_SUBJECTS} most frequent categories. A coin counts in each of its categories.",
    )  # fmt: skip


def _numbers(library: Library, one: CoinSet, number: int, of: str) -> None:
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
