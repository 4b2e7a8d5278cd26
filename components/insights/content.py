"""Figures of what is in the library: tags, categories, months and captions."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from components.insights import coin_sets, figures, numbers, spread
from components.insights.coin_sets import CoinSet
from components.shell import format
from components.shell.page import charts
from store import Filter, Library
from store.reading import statistics
from store.records import TIERS

_MOST = 15  # tags or categories that are drawn
_SUBJECTS = 6  # categories over time, as many as there are colours


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
            numbers.show(library, one, number, of[number])
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
