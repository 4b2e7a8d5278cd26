"""The page Insights: its sets and its views; how coins are reviewed; the figures next to an evaluation."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from components.insights import coin_sets, content, figures, spread
from components.insights.coin_sets import CoinSet
from components.insights.content import labels
from components.search import scores
from components.shell import format
from components.shell.page import charts, local_time, places
from components.shell.session import presenter
from store import Filter, Library
from store.catalog import history
from store.evaluation import evaluation
from store.reading import audit, statistics
from store.records import TIERS, Tier

if TYPE_CHECKING:
    from streamlit.elements.lib.grid_container import GridContainer

_WEAKEST = 15  # tags that are drawn
_MOST = 12  # sources or people that are drawn
_DRAFTS = {"Saved as written": charts.GREEN, "Edited": charts.YELLOW, "Dismissed": charts.RED}
_FATES: dict[str, statistics.DraftFate] = {
    "Saved as written": "unchanged",
    "Edited": "edited",
    "Dismissed": "refused",
}
_DAYS = 90
_VERBS = {
    "approve": "Approved", "reject": "Rejected", "delete": "Rejected", "promote": "Promoted",
    "caption": "Edited", "captions": "Edited", "complete": "Edited", "replace": "Edited",
    "correct text": "Edited", "comment": "Edited", "flag": "Edited", "tag": "Edited", "rename tag": "Edited",
    "remove tag": "Edited",
}  # fmt: skip
_OTHER = "Other"
_COLORS = {
    "Approved": charts.TIERS["Approved"],
    "Rejected": charts.TIERS["Rejected"],
    "Promoted": charts.TIERS["Library"],
    "Edited": charts.PURPLE,
    _OTHER: charts.QUIET,
}


def show(library: Library, view: str) -> None:
    """The figures of this view alone, so that nothing is counted that is not looked at."""
    if not sum(library.counts().values()):
        st.info("There are no coins yet. Figures appear with the first.", icon=":material/insights:")
        st.page_link(**places.IMPORT, label="Import coins", icon=":material/download:")
        return
    sets = coin_sets.choose(library)
    if not sets:
        return
    st.caption("Click a bar to see its coins.")
    if view == "Reviewing":
        _reviewing(library, sets)
    else:
        content.show(library, sets)


def of_quality(library: Library, one: evaluation.Evaluation, k: int) -> tuple[Callable[[], None], ...]:
    """What draws the weakest tags of an evaluation, and how the gains of its queries spread."""
    best, answers = scores.best(one, k=k), evaluation.answers_of(library, one)
    weak = partial(_weak, evaluation.by_tag(library, one, best))
    return weak, partial(spread.query_gains, library, one.gains(best, k=k), answers, k=k)


def _weak(weakest: list[evaluation.TagScore]) -> None:
    found = weakest[:_WEAKEST]
    if not found:
        st.caption(f"No tag has {evaluation.FEWEST} golden queries or more.")
        return
    bars = by_tag(found)
    figure = charts.bars(bars, title=f"nDCG@{evaluation.TOP}", colors={"": charts.ACCENT}, form="score")
    rows = [
        {"tag": one.tag, "ndcg": one.ndcg.mean, "low": one.ndcg.low, "high": one.ndcg.high,
         "queries": one.queries, "line": bar.line}
        for one, bar in zip(found, bars, strict=True)
    ]  # fmt: skip
    figures.show(
        replace(figure, rows=rows),
        title="Weakest tags", key="insights-weak",
        alt="nDCG of the queries whose relevant coins have a tag, the worst tags first",
        about=f"Tags of at least {evaluation.FEWEST} golden queries, by the mean nDCG@{evaluation.TOP} of "
        "these queries with the best setting; hovering says the 95 % interval.",
    )  # fmt: skip


def by_tag(found: Sequence[evaluation.TagScore]) -> list[charts.Bar]:
    """The tags with the line of their library coins; `coins` is the number of queries."""
    bars = []
    for one in found:
        text = (
            f"{one.tag}: {one.ndcg.mean:.2f} ({one.ndcg.low:.2f} to {one.ndcg.high:.2f}), "
            f"{one.queries} queries"
        )
        line = figures.line_of(Filter(tier="library", tags=(one.tag,)))
        bars.append(charts.Bar(one.tag, "", one.ndcg.mean, one.queries, text, line))
    return bars


def _reviewing(library: Library, sets: list[CoinSet]) -> None:
    """Tiers, reasons and speed of all sets together; sources and drafts of each set."""
    grid = figures.grid()
    with grid.cell():
        _tiers([statistics.tiers(library, one.filter) for one in sets], sets)
    with grid.cell():
        labels(
            [statistics.rejection_reasons(library, one.filter) for one in sets], _rejected(library, sets),
            what="reasons for rejection",
            narrow=lambda filter, name: statistics.narrowed(filter, tier="trash", reason=name),
        )  # fmt: skip
    with grid.cell():
        bars = speeds([statistics.review_speed(library, one.filter) for one in sets], sets)
        if not bars:
            st.caption("None of these coins is approved or rejected yet.")
        else:
            figures.show(
                charts.bars(bars, title="Coins reviewed per hour", colors=coin_sets.colors(sets)),
                title="Coins reviewed per hour", key="insights-speed",
                alt="How many coins each person reviews per hour of work",
                about="Approvals and rejections that were not undone, divided by the hours in which the "
                "person made at least one.",
            )  # fmt: skip
    _by_day(library, grid)
    of = [f" · {format.plain(one.label)}" if len(sets) > 1 else "" for one in sets]
    for draw in (_sources, _drafts):  # the figure of a set next to that of the other
        for number, one in enumerate(sets):
            with grid.cell():
                draw(library, one, number, of[number])


def _rejected(library: Library, sets: Sequence[CoinSet]) -> list[CoinSet]:
    """The sets with the number of their rejected coins, of which reasons are a share."""
    return [replace(one, coins=max(1, statistics.tiers(library, one.filter)["trash"])) for one in sets]


def _tiers(counts: Sequence[Mapping[Tier, int]], sets: Sequence[CoinSet]) -> None:
    bars = []
    for tier in TIERS:
        for found, one in zip(counts, sets, strict=True):
            value = found[tier] / one.coins if len(sets) > 1 else found[tier]
            line = figures.line_of(statistics.narrowed(one.filter, tier=tier)) if found[tier] else ""
            text = f"{format.TIERS[tier]}: {found[tier]:,} of {one.coins:,}"
            bars.append(charts.Bar(format.TIERS[tier], one.label, value, found[tier], text, line))
    is_shared = len(sets) > 1
    figures.show(
        charts.bars(
            bars, title="Share of coins" if is_shared else "Coins",
            colors=coin_sets.colors([*sets]), form="share" if is_shared else "count",
        ),
        title="Where coins are", key="insights-tiers",
        alt="How many coins wait for review, are approved, in the library or rejected",
    )  # fmt: skip


def speeds(found: Sequence[Sequence[statistics.ReviewSpeed]], sets: Sequence[CoinSet]) -> list[charts.Bar]:
    """Coins reviewed per hour by each person and set, each with the line of the coins decided."""
    bars = []
    for people, one in zip(found, sets, strict=True):
        for person in people[:_MOST]:
            coins = person.approved + person.rejected
            text = (
                f"{person.an_hour:.1f} per hour: {person.approved:,} approved, {person.rejected:,} rejected "
                f"in {format.counted(person.hours, 'hour')}"
            )
            line = (
                ""
                if presenter.is_on()
                else figures.line_of(statistics.narrowed(one.filter, actor=person.actor))
            )
            bars.append(
                charts.Bar(presenter.name(person.actor), one.label, person.an_hour, coins, text, line)
            )
    return bars


def by_source(found: Sequence[statistics.SourceCount], one: CoinSet) -> list[charts.Bar]:
    """Coins by source and tier, the largest source first, with each source's approval rate."""
    counts: dict[str, dict[str, int]] = {}
    for source, tier, coins in found:
        counts.setdefault(source, {})[tier] = coins
    bars = []
    for source in sorted(counts, key=lambda source: (-sum(counts[source].values()), source))[:_MOST]:
        of = counts[source]
        approved = of.get("approved", 0) + of.get("library", 0)
        decided = approved + of.get("trash", 0)
        rate = f"{approved / decided:.0%} of {decided:,} approved" if decided else "none decided yet"
        for tier in TIERS:
            if coins := of.get(tier, 0):
                text = f"{format.TIERS[tier]}: {format.counted(coins, 'coin')} of {source} ({rate})"
                line = figures.line_of(statistics.narrowed(one.filter, source=source, tier=tier))
                bars.append(charts.Bar(source, format.TIERS[tier], coins, coins, text, line))
    return bars


def _sources(library: Library, one: CoinSet, number: int, of: str) -> None:
    bars = by_source(statistics.sources(library, one.filter), one)
    if not bars:
        st.caption(f"No source is known of these coins{of}.")
        return
    figures.show(
        charts.bars(bars, title="Coins", colors=figures.present(bars, charts.TIERS), stacked=True),
        title=f"Coins by source{of}", key=f"insights-sources-{number}",
        alt="How many coins of each source are where; hovering says its approval rate",
        about="The approval rate of a source: coins approved or in the library, of those decided.",
    )  # fmt: skip


def _drafts(library: Library, one: CoinSet, number: int, of: str) -> None:
    bars = agreement(statistics.drafts_kept(library, one.filter))
    if not bars:
        st.caption(f"No draft of a model was saved or dismissed yet{of}.")
        return
    figures.show(
        charts.bars(bars, title="Texts", colors=_DRAFTS, stacked=True),
        title=f"Drafts kept, by model{of}", key=f"insights-drafts-{number}",
        alt="How many texts of each model people saved as written, edited or dismissed",
        coins=figures.stored(library, partial(_drafted, library, one.filter)),
    )  # fmt: skip


def agreement(found: Sequence[statistics.DraftsKept]) -> list[charts.Bar]:
    """Texts by model and what became of them, with the name of their coins: no filter finds them."""
    bars = []
    for one in found:
        model = format.model(one.model)
        for (kind, fate), texts in zip(_FATES.items(), (one.unchanged, one.edited, one.refused), strict=True):
            if texts:
                text = f"{kind}: {texts:,} texts of {model} ({one.agreement:.0%} saved as written)"
                bars.append(charts.Bar(model, kind, texts, texts, text, f"{figures.NAMED}{fate} {one.model}"))
    return bars


def _drafted(library: Library, filter: Filter, name: str) -> list[str]:
    """The coins of a bar of drafts by its name."""
    fate, model = name.split(" ", 1)
    found = next(known for known in _FATES.values() if known == fate)
    return statistics.drafted(library, filter, model, found)


def _by_day(library: Library, grid: "GridContainer") -> None:
    """Both figures of the last days, of all coins; nothing if nothing was decided then."""
    zone, name = local_time.zone(), local_time.zone_name()
    first = local_time.now().date() - timedelta(days=_DAYS - 1)
    filter = history.AuditFilter(since=local_time.midnight(first))
    decisions = audit.decisions_by_day(library, filter, zone)
    if not decisions:
        return
    with grid.cell():
        st.caption(f"Decisions about coins per day ({name}), last {_DAYS} days")
        figure = charts.days(by_kind(decisions), title="Decisions", colors=_COLORS)
        charts.show(figure, key="decisions-by-day", alt="Decisions about coins per day, by kind")
    reviews = audit.reviews_by_day(library, filter, zone)
    if not reviews:
        return
    with grid.cell():
        st.caption(f"Approval rate per day ({name}), last {_DAYS} days")
        figure = charts.shares(approval(reviews), title="Approved", over=[one.day for one in decisions])
        alt = "Share of reviewed coins that were approved, by day"
        charts.show(figure, key="approval-by-day", alt=alt)


def by_kind(decisions: Sequence[audit.DecisionsOfDay]) -> list[tuple[int, str, int]]:
    """The number of decisions by day and kind."""
    counts: Counter[tuple[int, str]] = Counter()
    for one in decisions:
        counts[one.day, _VERBS.get(one.verb, _OTHER)] += one.decisions
    return [(day, kind, count) for (day, kind), count in counts.items()]


def approval(reviews: Sequence[audit.ReviewsOfDay]) -> list[tuple[int, float, str]]:
    """Each day's share of reviewed coins that were approved, with its text."""
    shares = []
    for day, approved, rejected in reviews:
        total = approved + rejected
        text = f"{approved / total:.0%} approved\n{approved:,} of {format.counted(total, 'coin')}"
        shares.append((day, approved / total, text))
    return shares
