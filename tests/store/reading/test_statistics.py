"""The lengths of captions, and the cost of language models."""

import json

import pytest

from store.jobs import job_rows
from store.library import Library
from store.reading import statistics
from store.reading.statistics import CaptionLengths, Spending
from tests.store.conftest import address, coin, written

pytestmark = pytest.mark.usefixtures("without_chroma")

DAY = 20_000


def test_library_captions_are_counted_by_length(library: Library) -> None:
    library.add([coin(number, caption=written("x" * length)) for number, length in enumerate((5, 6, 40))])
    library.approve([address(number) for number in range(3)])
    assert len(library.promote([address(0), address(2)]).done) == 2
    assert [one for one in statistics.caption_lengths(library) if one.facet == "entity"] == [
        CaptionLengths("entity", 0, 1),  # "xxxxx entity" has 12 characters
        CaptionLengths("entity", 40, 1),
    ]
    assert sum(one.texts for one in statistics.caption_lengths(library)) == 6
    assert statistics.caption_lengths(library, "approved")[-1].texts == 1


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
