"""Decisions of all people: undone, one or all since a date, but not by a viewer; counts, rates, charts."""

import csv
import io
from datetime import UTC, datetime, timedelta

from components.activity import timeline
from components.memory import open_memory
from store.catalog.history import AuditFilter
from store.library import Library
from store.memory.memory import Memory
from store.reading import audit
from tests.browser.coins import PENDING, UNCAPTIONED
from tests.pages.conftest import finish_jobs, opened, rerun, send, words


def test_a_decision_of_somebody_else_can_be_undone(library: Library) -> None:
    library.reject([PENDING.address], actor="bob")
    library.send_back([UNCAPTIONED.address], actor="ann")
    [decision] = library.log.find(AuditFilter(actor="bob"))
    app = opened("activity")
    send(app, f"take-back-{decision.id}")
    assert library.get(PENDING.address).tier == "pending"
    assert library.get(UNCAPTIONED.address).tier == "pending"
    assert library.log.find(AuditFilter(verb="undo"))[0].actor == "tester"


def test_decisions_about_texts_are_listed_among_those_about_coins_and_undone_there(
    library: Library, empty_memory: Memory
) -> None:
    memories = empty_memory.memories
    library.reject([PENDING.address], actor="bob")
    memories.store_memory("Ann prefers short tickers", actor="ann")
    [stored] = memories.entries.find()
    library.send_back([UNCAPTIONED.address], actor="bob")
    [decision] = empty_memory.log.find()
    app = opened("activity")
    said = words(app)
    assert said.index("Returned") < said.index("Stored 1 memory") < said.index("Rejected New Fish")
    send(app, f"take-back-{decision.id}")
    assert memories.entries.find() == []
    assert "Undid: stored 1 memory" in words(app)
    [undo, _] = empty_memory.log.find()
    send(app, f"take-back-{undo.id}")
    assert memories.entries.find() == [stored]
    assert library.get(PENDING.address).tier == "trash"
    mine = opened("activity", history_who="ann")
    assert "1 decision" in words(mine)
    [*_, line] = csv.DictReader(io.StringIO(_csv(library, AuditFilter(actor="ann"))))
    assert (line["who"], line["what"], line["name"], line["taken back"]) == ("ann", "store", "1 memory", "")


def test_the_key_takes_back_the_last_decision_about_coins_or_texts_and_redoes_it(
    library: Library, empty_memory: Memory
) -> None:
    memories = empty_memory.memories.entries
    library.reject([PENDING.address])
    empty_memory.memories.store_memory("Ann prefers short tickers")
    for form, left, tier in (
        ("undo-memory", 0, "trash"), ("undo", 0, "pending"), ("redo", 0, "trash"),
        ("undo", 0, "pending"), ("redo", 0, "trash"),
    ):  # fmt: skip
        app = opened("activity")
        send(app, form)
        assert (memories.count(), library.get(PENDING.address).tier) == (left, tier), form
    empty_memory.redo()
    send(opened("activity"), "undo-memory")
    send(opened("activity"), "redo-memory")
    assert memories.count() == 1


def test_texts_and_coins_are_taken_back_to_one_moment(library: Library, empty_memory: Memory) -> None:
    empty_memory.memories.store_memory("Ann prefers short tickers", actor="ann")
    app = opened("activity")
    app.date_input(key="history-since-day").set_value(datetime.now(UTC).date() - timedelta(days=1))
    rerun(app)
    send(app, "undo-since")
    assert [toast.value for toast in app.toast] == ["Undone for 1 text and 6 coins."]
    assert empty_memory.memories.entries.find() == []
    assert library.counts()["trash"] == 6


def _csv(library: Library, filter: AuditFilter) -> str:
    memory = open_memory.existing(library)
    return audit.as_csv(library, filter, others=timeline.csv_lines(memory, filter))


def test_a_library_without_decisions_says_so(empty: Library) -> None:
    assert "Nothing in this time line" in words(opened("activity"))


def test_jobs_and_decisions_are_in_one_time_line_by_time(library: Library) -> None:
    library.jobs.start("map", name="Compute the map", options={"space": "entity", "from_scratch": True})
    finish_jobs()
    library.reject([PENDING.address], actor="bob")
    message = words(opened("activity"))
    assert message.index("Rejected New Fish") < message.index("Compute the map") < message.index("Promoted 4")
    jobs = words(opened("activity", history_what="Jobs"))
    assert "Compute the map" in jobs
    assert "Rejected New Fish" not in jobs
    assert "Compute the map" not in words(opened("activity", history_what="reject"))
    assert "Compute the map" not in words(opened("activity", history_who="bob"))
