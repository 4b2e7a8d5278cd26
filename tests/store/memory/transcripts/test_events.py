"""Events are found by their fields and never embedded."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from store.memory.engine.inputs import UnknownEntry
from store.memory.memory import Memory
from store.memory.transcripts.events import EventFilter
from tests.store.memory.bags import Bags
from tests.store.memory.transcripts.sessions import EVENTS, lines


def rows(memory: Memory, query: str) -> list[dict[str, Any]]:
    with memory.transcripts.entries.database.reading() as db:
        return [dict(row) for row in db.execute(query)]


@pytest.mark.parametrize(
    ("filter", "expected"),
    [
        (EventFilter(), ["llm:response", "tool:error", "tool:pre"]),
        (EventFilter(event="tool:pre"), ["tool:pre"]),
        (EventFilter(tool_name="bash"), ["tool:error", "tool:pre"]),
        (EventFilter(lvl="ERROR"), ["tool:error"]),
        (EventFilter(lvl="error"), ["tool:error"]),
        (EventFilter(error_type="timeout"), ["tool:error"]),
        (EventFilter(model_used="gpt-x"), ["llm:response"]),
        (EventFilter(model_used="gpt-y"), []),
        (EventFilter(since="2026-01-31T10:00:02Z", until="2026-01-31"), ["tool:error"]),
        (EventFilter(since="2026-02-01"), ["llm:response"]),
        (EventFilter(session_id="s1", user_id="ann", lvl="INFO"), ["llm:response", "tool:pre"]),
        (EventFilter(session_id="s2"), []),
        (EventFilter(user_id="bob"), []),
        (EventFilter(project_slug="bridges", event="tool:pre"), ["tool:pre"]),
        (EventFilter(project_slug=["bridges", "roads"], event="tool:pre"), ["tool:pre"]),
        (EventFilter(project_slug=["roads", "rivers"]), []),
        (EventFilter(project_slug="None"), []),
    ],
)
def test_events_are_found_by_their_fields(imported: Memory, filter: EventFilter, expected: list[str]) -> None:
    assert [row["event"] for row in imported.transcripts.find_events(filter)] == expected
    assert imported.transcripts.count_events(filter) == len(expected)


def test_events_list_the_available_filter_values(imported: Memory) -> None:
    transcripts = imported.transcripts
    assert transcripts.event_values("event") == ["llm:response", "tool:error", "tool:pre"]
    assert transcripts.event_values("tool_name") == ["bash"]
    assert transcripts.event_values("lvl") == ["ERROR", "INFO"]
    assert transcripts.event_values("error_type") == ["Timeout"]
    assert transcripts.event_values("model_used") == ["gpt-x"]
    transcripts.check_known_events(EventFilter(lvl="error", event="TOOL:PRE"))
    with pytest.raises(UnknownEntry, match="no level 'eror'; the nearest: 'ERROR'"):
        transcripts.check_known_events(EventFilter(lvl="eror"))
    assert transcripts.event_sessions() == transcripts.event_sessions(project_slug="bridges") == {"s1": 3}
    assert transcripts.event_sessions(project_slug=["bridges", "other"]) == {"s1": 3}
    assert transcripts.event_sessions(project_slug="other") == {}


def test_event_fields_are_extracted_and_not_embedded(imported: Memory, bags: Bags) -> None:
    found = {row["event"]: row for row in imported.transcripts.find_events()}
    assert found["tool:error"]["tool_name"] == "bash"
    assert found["tool:error"]["error_type"] == "Timeout"
    assert found["tool:error"]["turn"] == 1
    assert found["llm:response"]["model_used"] == "gpt-x"
    assert found["tool:pre"]["data_size_bytes"] == len('{"tool_name":"bash"}')
    assert not any("Timeout" in text for text in bags.requests)


def test_large_event_data_is_truncated_and_marked(memory: Memory, session: Path) -> None:
    lines(session / "events.jsonl", [{**EVENTS[0], "data": {"tool_name": "bash", "out": "x" * 500_000}}])
    memory.transcripts.import_sessions([session])
    (row,) = memory.transcripts.find_events()
    assert (row["data_truncated"], row["tool_name"]) == (1, "bash")
    assert row["data_size_bytes"] > 500_000
    assert len(row["data"]) < 2_000
    assert json.loads(row["data"]).startswith('{"tool_name"')


def test_data_that_an_earlier_version_cut_is_whole_after_another_import(
    memory: Memory, session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines(session / "events.jsonl", [{**EVENTS[0], "data": {"out": "x" * 200_000}}])
    with monkeypatch.context() as earlier:
        earlier.setattr("store.memory.transcripts.events.LARGEST", 100_000)
        assert memory.transcripts.import_sessions([session]).events == 1
    assert [memory.transcripts.import_sessions([session]).events for _ in range(2)] == [1, 0]
    (row,) = memory.transcripts.find_events()
    assert (row["data_truncated"], json.loads(row["data"])) == (0, {"out": "x" * 200_000})


def test_a_project_has_no_events_of_another_persons_session_of_that_name(
    imported: Memory, tmp_path: Path
) -> None:
    folder = tmp_path / "other" / "s1"
    folder.mkdir(parents=True)
    fields = {"session_id": "s1", "user_id": "bob", "project_slug": "roads"}
    (folder / "metadata.json").write_text(json.dumps(fields))
    lines(folder / "transcript.jsonl", [{"role": "user", "content": "where does the road lead"}])
    lines(folder / "events.jsonl", [{"event": "tool:road", "ts": "2026-01-31T10:00:00Z"}])
    imported.transcripts.import_sessions([folder])
    found = imported.transcripts.find_events(EventFilter(project_slug="roads"))
    assert [row["event"] for row in found] == ["tool:road"]


def test_event_filters_use_an_index(imported: Memory) -> None:
    with closing(sqlite3.connect(imported.places.database)) as db:
        for column in ("event", "tool_name", "lvl", "session_id"):
            plan = db.execute(
                f"EXPLAIN QUERY PLAN SELECT * FROM events WHERE user_id IN ('ann') AND {column} = 'x' "
                "ORDER BY ts DESC LIMIT 100"
            ).fetchall()
            assert "USING INDEX" in plan[0][3]
            assert not any("TEMP B-TREE" in step[3] for step in plan)
