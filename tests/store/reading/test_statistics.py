"""The lengths of captions, and the cost of language models."""

import json
from collections.abc import Sequence

import pytest

from store.catalog.filter_syntax import parsed, written_with_tier
from store.catalog.filters import Filter
from store.importing.candidate import Candidate
from store.jobs import job_rows
from store.library import Library
from store.operations import CaptionSource
from store.reading import statistics
from store.reading.statistics import (
    CaptionLengths,
    DraftsKept,
    MonthCount,
    ReviewSpeed,
    SourceCount,
    Spending,
    narrowed,
)
from tests.store.conftest import address, coin, written

pytestmark = pytest.mark.usefixtures("without_chroma")

DAY = 20_000
JANUARY, LAST_OF_JANUARY, FEBRUARY = 1_735_689_600, 1_738_367_999, 1_738_368_000  # 2025


def test_library_captions_are_counted_by_length(library: Library) -> None:
    library.add([coin(number, caption=written("x" * length)) for number, length in enumerate((5, 6, 40))])
    library.approve([address(number) for number in range(3)])
    assert len(library.promote([address(0), address(2)]).done) == 2
    assert [one for one in statistics.caption_lengths(library) if one.facet == "entity"] == [
        CaptionLengths("entity", 0, 1),  # "xxxxx entity" has 12 characters
        CaptionLengths("entity", 40, 1),
    ]
    assert sum(one.texts for one in statistics.caption_lengths(library)) == 6


def test_spending_is_summed_by_day_and_model(library: Library) -> None:
    note_job(library, {DAY: {"a/b.c": 0.5, "free": None}, DAY + 1: {"a/b.c": 0.25}})
    note_job(library, {DAY: {"a/b.c": 1.5}})
    assert statistics.spending(library) == [
        Spending(DAY, "a/b.c", 20, 2, 2.0),
        Spending(DAY, "free", 10, 1, None),
        Spending(DAY + 1, "a/b.c", 10, 1, 0.25),
    ]


def test_spending_includes_deleted_jobs(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    note_job(library, {DAY: {"m": 0.5}})
    monkeypatch.setattr(job_rows, "KEPT", 0)
    job_rows.JobRepository(library.catalog).add("letters", "Letters", [], {}, actor="ann")
    assert library.jobs.all() == [] or all(job.kind != "draft" for job in library.jobs.all())
    assert statistics.spending(library) == [Spending(DAY, "m", 10, 1, 0.5)]


def test_spending_of_an_older_job_counts_on_its_start_day(library: Library) -> None:
    with library.catalog.writing() as db:
        note = {"prompt_tokens": 7, "completion_tokens": 3, "cost": 0.1}
        add_job(db, note, variants=[["m", "caption", 1], ["n", "caption", 1], ["m", "short", 1]])
        add_job(db, {}, variants=[["m", "caption", 1]])
    assert statistics.spending(library) == [Spending(DAY, "m, n", 7, 3, 0.1)]


def note_job(library: Library, costs: dict[int, dict[str, float | None]]) -> None:
    spent = {
        str(day): {
            model: {"prompt_tokens": 10, "completion_tokens": 1} | ({} if cost is None else {"cost": cost})
            for model, cost in models.items()
        }
        for day, models in costs.items()
    }
    with library.catalog.writing() as db:
        add_job(db, {"prompt_tokens": 99, "spent": spent}, variants=[["m", "caption", 1]])


def add_job(db, note: object, *, variants: list[list[object]]) -> None:  # type: ignore[no-untyped-def]
    db.execute(
        "INSERT INTO jobs (kind, name, who, decision, state, options, note, made_at) "
        "VALUES ('draft', 'Draft', 'ann', '', 'done', ?, ?, ?)",
        [json.dumps({"variants": variants}), json.dumps(note), DAY * 86_400.0 + 5],
    )


@pytest.fixture
def reviewed(library: Library) -> Library:
    """Five coins: dog and cat of January, moon of February, from two sources; one approved, two rejected."""
    moments = (JANUARY, LAST_OF_JANUARY, FEBRUARY, FEBRUARY, FEBRUARY)
    tags: Sequence[list[str]] = (["dog"], ["cat", "moon"], ["moon"], [], [])
    coins = [
        coin(number, created_at=moment, tags=labels)
        for number, (moment, labels) in enumerate(zip(moments, tags, strict=True))
    ]
    import_from(library, coins[:3], "first list")
    import_from(library, coins[3:], "second list")
    library.approve([address(0)], actor="ann")
    library.reject([address(1)], reason="scam", actor="ann")
    library.reject([address(3)], actor="bob")
    return library


def import_from(library: Library, coins: list[Candidate], source: str) -> None:
    library.add(coins, source=source)


def test_coins_are_counted_by_month_and_tier(reviewed: Library) -> None:
    assert statistics.tiers_by_month(reviewed, Filter()) == [
        MonthCount("2025-01", "approved", 1),
        MonthCount("2025-01", "trash", 1),
        MonthCount("2025-02", "pending", 2),
        MonthCount("2025-02", "trash", 1),
    ]


def test_a_coin_counts_in_each_of_its_categories(reviewed: Library) -> None:
    assert statistics.categories_by_month(reviewed, Filter()) == [
        MonthCount("2025-01", "animals", 2),
        MonthCount("2025-01", "space", 1),
        MonthCount("2025-02", "space", 1),
    ]


def test_coins_are_counted_by_source_and_tier(reviewed: Library) -> None:
    assert statistics.sources(reviewed, Filter()) == [
        SourceCount("first list", "approved", 1),
        SourceCount("first list", "pending", 1),
        SourceCount("first list", "trash", 1),
        SourceCount("second list", "pending", 1),
        SourceCount("second list", "trash", 1),
    ]


def test_review_speed_counts_what_was_not_undone_of_these_coins(reviewed: Library) -> None:
    assert statistics.review_speed(reviewed, Filter()) == [
        ReviewSpeed("ann", 1, 1, 1),
        ReviewSpeed("bob", 0, 1, 1),
    ]
    assert statistics.review_speed(reviewed, Filter(tags=("cat",))) == [ReviewSpeed("ann", 0, 1, 1)]
    assert reviewed.undo(actor="bob")
    assert statistics.review_speed(reviewed, Filter()) == [ReviewSpeed("ann", 1, 1, 1)]
    assert ReviewSpeed("ann", 4, 2, 3).an_hour == 2


def test_drafts_are_counted_as_saved_edited_or_refused(reviewed: Library) -> None:
    assert statistics.drafts_kept(reviewed, Filter()) == []
    reviewed.caption(
        address(0),
        caption=written("frog"),
        sources={
            "entity": CaptionSource("m", "caption v1", edited=False),
            "context": CaptionSource("m", "caption v1", edited=True),
        },
    )
    reviewed.suggestions.save(address(2), {"visual": "green", "tags": "dog"}, model="m")
    reviewed.suggestions.resolve([one.id for one in reviewed.suggestions.of(address(2))], "refused")
    (found,) = statistics.drafts_kept(reviewed, Filter())
    assert found == DraftsKept("m", 1, 1, 1), "refused tags are no text"
    assert found.agreement == pytest.approx(1 / 3)
    assert statistics.drafts_kept(reviewed, Filter(tags=("moon",))) == [DraftsKept("m", 0, 0, 1)]
    for name in ("Up", "Down"):
        reviewed.suggestions.save(address(1), {"visual": name}, model=f"nearest · offline · {name}")
    reviewed.suggestions.resolve([one.id for one in reviewed.suggestions.of(address(1))], "refused")
    (borrowed,) = statistics.drafts_kept(reviewed, Filter())[1:]
    assert borrowed.refused == 2, "texts of similar coins are counted together"
    assert statistics.drafted(reviewed, Filter(), "m", "edited") == [address(0)]
    assert statistics.drafted(reviewed, Filter(), "m", "refused") == [address(2)]
    assert statistics.drafted(reviewed, Filter(), borrowed.model, "refused") == [address(1)]
    assert statistics.drafted(reviewed, Filter(tags=("moon",)), "m", "edited") == []


@pytest.mark.parametrize("criteria", [Filter(), Filter(source="first list"), Filter(tags=("moon",))])
def test_the_line_of_each_count_finds_exactly_the_coins_that_it_counts(
    reviewed: Library, criteria: Filter
) -> None:
    def found(filter: Filter) -> int:
        line = parsed(written_with_tier(filter))
        assert not line.faults
        return reviewed.count(line.filter)

    counts = [
        (narrowed(criteria, month=one.month, tier=one.kind), one.coins)  # type: ignore[arg-type]
        for one in statistics.tiers_by_month(reviewed, criteria)
    ]
    counts += [
        (narrowed(criteria, month=one.month, category=one.kind), one.coins)
        for one in statistics.categories_by_month(reviewed, criteria)
    ]
    counts += [
        (narrowed(criteria, source=one.source, tier=one.tier), one.coins)
        for one in statistics.sources(reviewed, criteria)
    ]
    counts += [
        (narrowed(criteria, language=language), coins)
        for language, coins in statistics.languages(reviewed, criteria).items()
    ]
    assert counts
    assert [found(filter) for filter, _ in counts] == [coins for _, coins in counts]


def test_a_month_stays_within_the_dates_of_the_filter() -> None:
    found = narrowed(Filter(since=JANUARY + 5, until=FEBRUARY + 5), month="2025-01")
    assert (found.since, found.until) == (JANUARY + 5, LAST_OF_JANUARY)
    assert narrowed(Filter(), month="2025-12").until == 1_767_225_599  # 2025-12-31 23:59:59


def test_a_line_of_alternatives_keeps_its_meaning_beside_a_tier() -> None:
    criteria = parsed("tag:dog OR tag:cat").filter
    line = written_with_tier(narrowed(criteria, tier="trash"))
    assert parsed(line).filter == narrowed(criteria, tier="trash")
