"""Transcripts: reference 5's tables, incremental imports, search by content type, events."""

import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from store.embedding.protocol import Embedder
from store.memory.engine import reembedding
from store.memory.engine.errors import InvalidInput
from store.memory.inspect.probe import probe_messages
from store.memory.memory import Memory
from store.memory.text.mmr import mmr_ranking
from store.memory.transcripts import intake
from store.memory.transcripts.events import EventFilter
from store.memory.transcripts.intake import TranscriptReport
from store.progress import Progress
from tests.store.memory.bags import Bags
from tests.store.memory.chroma_as_it_is import stored

MESSAGES: list[dict[str, Any]] = [
    {"role": "user", "content": "why does the bridge fail", "turn": 1, "ts": "2026-01-31T10:00:00Z"},
    {
        "role": "assistant",
        "turn": 1,
        "content": [
            {"type": "thinking", "thinking": "perhaps the relayer is offline"},
            {"type": "text", "text": "The relayer has stopped."},
            {"type": "tool_call", "name": "bash", "input": {"command": "unembedded"}},
        ],
    },
    {"role": "tool", "content": "relayer: connection refused"},
    {"role": "tool", "content": [{"type": "text", "text": "structured output"}]},
    {"role": "system", "content": "be brief"},
]
EVENTS: list[dict[str, Any]] = [
    {"event": "tool:pre", "ts": "2026-01-31T10:00:01Z", "lvl": "INFO", "data": {"tool_name": "bash"}},
    {
        "event": "tool:error",
        "ts": "2026-01-31T10:00:02Z",
        "lvl": "ERROR",
        "turn": 1,
        "data": {"tool_name": "bash", "error": {"type": "Timeout"}},
    },
    {"event": "llm:response", "ts": "2026-02-01T10:00:00Z", "lvl": "INFO", "data": {"model": "gpt-x"}},
]


def lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


@pytest.fixture
def session(tmp_path: Path) -> Path:
    folder = tmp_path / "sessions" / "s1"
    folder.mkdir(parents=True)
    fields = {"session_id": "s1", "user_id": "ann", "project_slug": "bridges"}
    (folder / "metadata.json").write_text(json.dumps(fields))
    lines(folder / "transcript.jsonl", MESSAGES)
    lines(folder / "events.jsonl", EVENTS)
    return folder


@pytest.fixture
def imported(memory: Memory, session: Path) -> Memory:
    memory.transcripts.import_sessions([session])
    return memory


def rows(memory: Memory, query: str) -> list[dict[str, Any]]:
    with memory.transcripts.passages.database.reading() as db:
        return [dict(row) for row in db.execute(query)]


# -- import --------------------------------------------------------------------------------------------------


def test_a_folder_is_imported_with_messages_chunks_and_events(imported: Memory) -> None:
    messages = imported.transcripts.messages("s1")
    assert [(row["sequence"], row["role"], row["user_id"], row["project_slug"]) for row in messages] == [
        (number, message["role"], "ann", "bridges") for number, message in enumerate(MESSAGES)
    ]
    assert [json.loads(row["content"]) for row in messages] == [message["content"] for message in MESSAGES]
    assert messages[1]["text_content"] == "perhaps the relayer is offline\n\nThe relayer has stopped."
    assert messages[0]["ts"] == "2026-01-31T10:00:00.000+00:00"
    chunks = imported.transcripts.passages.find(order="content_type")
    assert {(row["content_type"], row["source_text"]) for row in chunks} == {
        ("user_query", "why does the bridge fail"),
        ("assistant_thinking", "perhaps the relayer is offline"),
        ("assistant_response", "The relayer has stopped."),
        ("tool_output", "relayer: connection refused"),
    }
    for row in chunks:
        assert (row["chunk_index"], row["total_chunks"], row["span_start"]) == (0, 1, 0)
        assert row["span_end"] == len(row["source_text"])
        assert row["token_count"] > 0
        assert row["embedding_model"] == "bags"
    assert imported.transcripts.without_vector() == 0


def test_a_second_import_adds_only_new_messages(imported: Memory, session: Path, bags: Bags) -> None:
    before = rows(imported, "SELECT * FROM transcripts"), rows(imported, "SELECT * FROM transcript_vectors")
    bags.asked.clear()
    report = imported.transcripts.import_sessions([session])
    assert (report.messages, report.changed, report.events, report.present) == (0, 0, 0, 8)
    assert bags.asked == []
    assert before == (
        rows(imported, "SELECT * FROM transcripts"),
        rows(imported, "SELECT * FROM transcript_vectors"),
    )
    lines(session / "transcript.jsonl", [*MESSAGES, {"role": "user", "content": "thanks"}])
    lines(session / "events.jsonl", [*EVENTS, EVENTS[0]])
    report = imported.transcripts.import_sessions([session])
    assert (report.messages, report.events, bags.asked) == (1, 1, ["thanks"])


def test_a_changed_message_is_replaced(imported: Memory, session: Path) -> None:
    lines(session / "transcript.jsonl", [{**MESSAGES[0], "content": "why is it slow"}, *MESSAGES[1:]])
    report = imported.transcripts.import_sessions([session])
    assert (report.messages, report.changed) == (0, 1)
    assert imported.transcripts.passages.count(words="fail") == 0
    assert imported.transcripts.search("why is it slow", mode="semantic")[0].cosine == pytest.approx(1)


def test_a_long_text_has_several_chunks_with_exact_spans(memory: Memory, tmp_path: Path) -> None:
    text = "".join(f"Sentence number {number} says so. " for number in range(1500))
    lines(tmp_path / "long.jsonl", [{"role": "user", "content": text}])
    memory.transcripts.import_sessions([tmp_path / "long.jsonl"])
    chunks = memory.transcripts.passages.find(order="chunk_index")
    assert len(chunks) > 8
    assert [row["chunk_index"] for row in chunks] == list(range(len(chunks)))
    assert {row["total_chunks"] for row in chunks} == {len(chunks)}
    assert all(text[row["span_start"] : row["span_end"]] == row["source_text"] for row in chunks)
    (hit,) = memory.transcripts.search("Sentence number 700 says so", mode="semantic")
    assert hit.chunk is not None
    assert len(hit.other_chunks) == len(chunks) - 1, "several chunks of one message are one hit"


def test_openai_and_anthropic_files_are_imported(memory: Memory, tmp_path: Path) -> None:
    body = {"model": "x", "system": "be kind", "messages": [{"role": "user", "content": "hello there"}]}
    (tmp_path / "anthropic.json").write_text(json.dumps(body))
    (tmp_path / "openai.json").write_text(json.dumps([{"role": "user", "content": "good day"}]))
    lines(
        tmp_path / "training.jsonl", [{"messages": [{"role": "user", "content": f"case {n}"}]} for n in "ab"]
    )
    report = memory.transcripts.import_sessions(sorted(tmp_path.glob("*.json*")))
    assert report.sessions == ["anthropic", "openai", "training-1", "training-2"]
    assert [row["role"] for row in memory.transcripts.messages("anthropic")] == ["system", "user"]
    assert report.refused == []


def test_broken_lines_are_reported_and_the_rest_is_imported(memory: Memory, tmp_path: Path) -> None:
    good = json.dumps({"role": "user", "content": "fine \ud83d"})
    (tmp_path / "x.jsonl").write_text(f'{good}\n{{"role": "us\n\n[1]\n{{"content": "no role"}}\n{good}\n')
    report = memory.transcripts.import_sessions([tmp_path / "x.jsonl", tmp_path / "missing.txt"])
    assert report.messages == 2
    items = {refusal.item.removeprefix(f"{tmp_path}/") for refusal in report.refused}
    assert items == {"x.jsonl, line 2", "x.jsonl, line 4", "x: message 2", "missing.txt"}


def test_session_folders_are_found_recursively(memory: Memory, session: Path) -> None:
    other = session.parent / "deeper" / "s2"
    other.mkdir(parents=True)
    lines(other / "transcript.jsonl", [{"role": "user", "content": "second session"}])
    assert memory.transcripts.import_sessions([session.parent]).sessions == ["s2", "s1"]


def test_a_cancelled_import_can_be_resumed(memory: Memory, session: Path) -> None:
    progress = Progress()
    progress.cancel()
    report = memory.transcripts.import_sessions([session], progress=progress)
    assert not report.embedded
    report = memory.transcripts.import_sessions([session])
    assert (report.messages, report.embedded, memory.transcripts.without_vector()) == (5, True, 0)


def test_embedding_a_very_long_message_can_be_cancelled(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines(
        tmp_path / "long.jsonl", [{"role": "user", "content": "Frogs count brass lamps at night. " * 5_000}]
    )
    progress, embedded = Progress(), list[int]()
    embed = reembedding.embed_texts

    def stopped_after_one(texts: Sequence[str], embedder: Embedder) -> list[bytes]:
        embedded.append(len(texts))
        progress.cancel()
        return embed(texts, embedder)

    monkeypatch.setattr(reembedding, "embed_texts", stopped_after_one)
    report = memory.transcripts.import_sessions([tmp_path / "long.jsonl"], progress=progress)
    chunks = memory.passages["transcript_vectors"].count()
    assert (len(embedded), report.embedded) == (1, False)
    assert embedded[0] == chunks - memory.transcripts.without_vector() < chunks
    assert memory.transcripts.search("lamps", mode="full_text")


def test_undo_restores_a_removed_session(imported: Memory) -> None:
    tables = ("transcripts", "transcript_vectors", "events")
    before = {table: rows(imported, f"SELECT * FROM {table} ORDER BY id") for table in tables}
    assert imported.transcripts.remove_session("s1") == 5
    assert all(rows(imported, f"SELECT * FROM {table}") == [] for table in tables)
    assert imported.transcripts.search("relayer") == []
    imported.transcripts.passages.undo()
    assert {table: rows(imported, f"SELECT * FROM {table} ORDER BY id") for table in tables} == before
    assert imported.transcripts.search("relayer")


@pytest.mark.usefixtures("chroma")
def test_chroma_gets_ids_vectors_and_columns_to_filter_by(imported: Memory) -> None:
    assert imported.wait_for_chroma(60)
    imported.close()
    entries = stored(imported.places.root, "transcript_vectors")
    assert len(entries) == 4
    for id, entry in entries.items():
        assert entry["document"] is None
        assert entry["metadata"].keys() == {
            "parent_id", "user_id", "session_id", "project_slug", "content_type", "chunk_index",
        }  # fmt: skip
        assert id.endswith(f"_{entry['metadata']['content_type']}_0")


# -- search --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content_type", "text"),
    [
        ("user_query", "why does the bridge fail"),
        ("assistant_response", "The relayer has stopped."),
        ("assistant_thinking", "perhaps the relayer is offline"),
        ("tool_output", "relayer: connection refused"),
    ],
)
@pytest.mark.parametrize("mode", ["semantic", "hybrid"])
def test_search_can_be_limited_to_one_content_type(
    imported: Memory, mode: Any, content_type: Any, text: str
) -> None:
    (hit,) = imported.transcripts.search("relayer", mode=mode, content_types=[content_type])
    assert hit.chunk is not None
    assert (hit.chunk["content_type"], hit.chunk["source_text"]) == (content_type, text)


def test_full_text_covers_message_texts_and_chunk_texts(imported: Memory) -> None:
    found = imported.transcripts.search("relayer", mode="full_text")
    assert {hit.message["sequence"] for hit in found} == {1, 2}
    (hit,) = imported.transcripts.search("structured", mode="full_text")
    assert (hit.message["role"], hit.chunk) == ("tool", None), "a message text that is not embedded"
    assert imported.transcripts.search("structured", mode="full_text", content_types=["tool_output"]) == []
    assert imported.transcripts.search("unembedded", mode="full_text") == []
    assert imported.transcripts.search('re" OR (relay*', mode="full_text") == []


def test_only_the_newest_matches_of_a_common_word_are_ranked(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("store.memory.transcripts.search.RANKED", 2)
    lines(tmp_path / "x.jsonl", [{"role": "user", "content": f"common word {n}"} for n in range(5)])
    memory.transcripts.import_sessions([tmp_path / "x.jsonl"])
    found = memory.transcripts.search("common", mode="full_text")
    assert {hit.message["sequence"] for hit in found} == {3, 4}
    assert len(memory.transcripts.search("common", mode="full_text", session_id="x")) == 5, (
        "a filter ranks all"
    )


def test_hybrid_search_ranks_the_best_by_words_and_meaning_first(imported: Memory) -> None:
    best, *_ = imported.transcripts.search("relayer connection refused")
    assert best.message["sequence"] == 2
    assert (best.score, best.words_rank) == (1.0, 1)
    assert best.cosine == pytest.approx(1)


def test_search_returns_ten_results_by_default(memory: Memory, tmp_path: Path) -> None:
    lines(tmp_path / "x.jsonl", [{"role": "user", "content": f"bridge {n}"} for n in range(30)])
    memory.transcripts.import_sessions([tmp_path / "x.jsonl"])
    for mode in ("full_text", "semantic", "hybrid"):
        assert len(memory.transcripts.search("bridge", mode=mode)) == 10  # type: ignore[arg-type]


def test_search_filters_by_session_user_and_project(imported: Memory, tmp_path: Path) -> None:
    lines(tmp_path / "s2.jsonl", [{"role": "user", "content": "why does the bridge fail"}])
    imported.transcripts.import_sessions([tmp_path / "s2.jsonl"], user_id="bob")
    for mode in ("full_text", "semantic", "hybrid"):
        for where in ({"session_id": "s2"}, {"user_id": "bob"}):
            found = imported.transcripts.search("bridge fail", mode=mode, **where)  # type: ignore[arg-type]
            assert {hit.message["session_id"] for hit in found} == {"s2"}
        found = imported.transcripts.search("bridge fail", mode=mode, project_slug="bridges")  # type: ignore[arg-type]
        assert {hit.message["session_id"] for hit in found} == {"s1"}


@pytest.mark.parametrize(
    "wrong", [{"mode": "fuzzy"}, {"content_types": ["dreams"]}, {"n": 0}, {"mmr": 1.5}], ids=str
)
def test_invalid_search_arguments_are_refused(imported: Memory, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        imported.transcripts.search("relayer", **wrong)
    with pytest.raises(ValueError, match="the question"):
        imported.transcripts.search(" ")


# -- marginal relevance --------------------------------------------------------------------------------------


def angle(degrees: float) -> list[float]:
    return [float(np.cos(np.radians(degrees))), float(np.sin(np.radians(degrees)))]


def test_mmr_prefers_diverse_results_and_ranks_all_when_k_is_large() -> None:
    vectors = np.array([angle(0), angle(1), angle(40)], np.float32)
    relevance = [1.0, 0.99, 0.8]
    assert mmr_ranking(relevance, vectors, k=3, trade_off=1.0) == [0, 1, 2]
    assert mmr_ranking(relevance, vectors, k=3, trade_off=0.5) == [0, 2, 1]
    assert mmr_ranking(relevance, vectors, k=2, trade_off=0.5) == [0, 2]
    assert mmr_ranking(relevance, vectors, k=9, trade_off=0.0) == [0, 2, 1]
    assert mmr_ranking([], vectors[:0], k=3, trade_off=0.5) == []


def test_search_with_mmr_returns_diverse_results(memory: Memory, tmp_path: Path) -> None:
    texts = [
        "bridge fails today",
        "bridge fails today now",
        "bridge fails today again",
        "bridge paint colour",
    ]
    lines(tmp_path / "x.jsonl", [{"role": "user", "content": text} for text in texts])
    memory.transcripts.import_sessions([tmp_path / "x.jsonl"])
    plain = memory.transcripts.search("bridge fails today", mode="semantic", n=2)
    varied = memory.transcripts.search("bridge fails today", mode="semantic", n=2, mmr=0.3)
    assert [hit.message["sequence"] for hit in plain] == [0, 1]
    assert [hit.message["sequence"] for hit in varied] == [0, 3]
    assert len(memory.transcripts.search("bridge fails today", mode="semantic", n=4, mmr=0.3)) == 4


def test_a_transcript_probe_reports_why_messages_were_excluded(imported: Memory) -> None:
    def kept_out(question: str = "relayer", **asked: Any) -> list[tuple[int, str]]:
        given = {"mode": "semantic", "n": 2, **asked}
        found = probe_messages(imported.passages["transcript_vectors"], question, **given)
        return [(told.hit.message["sequence"], told.kept_out) for told in found]

    assert kept_out() == [(2, ""), (1, ""), (0, "n")], "thinking and answer of one message are one hit"
    assert kept_out(floor=0.4) == [(2, ""), (1, ""), (0, "threshold")]
    assert kept_out(where={"content_type": ["tool_output"]}) == [(2, ""), (1, "filter"), (0, "filter")]
    assert kept_out(budget=30) == [(2, ""), (1, "budget"), (0, "budget")]
    assert [kept for _, kept in kept_out(mode="hybrid", mmr=0.5)] == ["", "", "n"]
    assert kept_out("brief", mode="full_text") == [(4, "")], "the text of a message without any chunk"
    assert kept_out("connection relayer", mode="hybrid", floor=0.9)[0][1] == "threshold"
    first = probe_messages(imported.passages["transcript_vectors"], "the relayer has", mode="hybrid", n=1)[0]
    assert first.hit.cosine is not None
    assert first.calibrated is not None


# -- events --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("filter", "expected"),
    [
        (EventFilter(), ["llm:response", "tool:error", "tool:pre"]),
        (EventFilter(event="tool:pre"), ["tool:pre"]),
        (EventFilter(tool_name="bash"), ["tool:error", "tool:pre"]),
        (EventFilter(lvl="ERROR"), ["tool:error"]),
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
    assert not any("bash" in text or "Timeout" in text for text in bags.asked)


def test_large_event_data_is_truncated_and_marked(memory: Memory, session: Path) -> None:
    lines(session / "events.jsonl", [{**EVENTS[0], "data": {"tool_name": "bash", "out": "x" * 200_000}}])
    memory.transcripts.import_sessions([session])
    (row,) = memory.transcripts.find_events()
    assert (row["data_truncated"], row["tool_name"]) == (1, "bash")
    assert row["data_size_bytes"] > 200_000
    assert len(row["data"]) < 2_000
    assert json.loads(row["data"]).startswith('{"tool_name"')


def test_event_filters_use_an_index(imported: Memory) -> None:
    with closing(sqlite3.connect(imported.places.database("transcripts"))) as db:
        for column in ("event", "tool_name", "lvl", "session_id"):
            plan = db.execute(
                f"EXPLAIN QUERY PLAN SELECT * FROM events WHERE user_id IN ('ann') AND {column} = 'x' "
                "ORDER BY ts DESC LIMIT 100"
            ).fetchall()
            assert "USING INDEX" in plan[0][3]
            assert not any("TEMP B-TREE" in step[3] for step in plan)


def test_imported_messages_persist_after_a_restart(imported: Memory, reopen: Callable[[], Memory]) -> None:
    before = rows(imported, "SELECT * FROM transcripts")
    assert rows(reopen(), "SELECT * FROM transcripts") == before


@pytest.mark.parametrize(
    ("lines", "messages", "reason"),
    [
        (b'\xef\xbb\xbf{"role":"user","content":"after a mark of byte order"}\r\n', 1, ""),
        (b'{"role":"user","content":"too large","turn":99999999999999999999,"ts":1e300}', 1, ""),
        (b'{"role":"us\\ud83d","content":"half a character in the role"}', 1, ""),
        ('{"role":"user","content":"wide"}'.encode("utf-16"), 0, "it is not written in UTF-8"),
        (b'{"role":"user","content":"caf\xe9"}', 0, "it is not written in UTF-8"),
        (b'{"role":"user","content":' + b"[" * 5_000 + b"]" * 5_000 + b"}", 0, "it is nested too deeply"),
        (b"", 0, "it holds no message and no event"),
        (b"\xff\n" * 50, 0, "45 more lines that are no JSON objects"),
    ],
    ids=["mark", "numbers", "half", "utf-16", "latin-1", "nested", "empty", "picture"],
)
def test_an_unusual_file_is_imported_or_refused_with_a_reason(
    lines: bytes, messages: int, reason: str, memory: Memory, tmp_path: Path
) -> None:
    path = tmp_path / "odd.jsonl"
    path.write_bytes(lines)
    report = memory.transcripts.import_sessions([path])
    assert (report.messages, len(report.sessions)) == (messages, messages)
    assert any(reason in refusal.reason for refusal in report.refused) is bool(reason)


def test_a_missing_path_is_refused(memory: Memory, tmp_path: Path) -> None:
    report = memory.transcripts.import_sessions([tmp_path / "nowhere.jsonl"])
    assert report.sessions == []
    assert [refusal.reason for refusal in report.refused] == ["there is nothing at this path"]


@pytest.mark.parametrize("since", ["yesterday", "2025-13-01", ""])
def test_an_invalid_since_date_is_refused(since: str, imported: Memory) -> None:
    with pytest.raises(InvalidInput, match="no date or time"):
        imported.transcripts.find_events(EventFilter(since=since))


def test_a_session_imported_concurrently_is_reported_as_present(
    memory: Memory, session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other import runs between the check for existing messages and the transaction."""
    cut = intake._vector_rows
    others: list[TranscriptReport] = []

    def overtaken(*arguments: Any) -> list[dict[str, Any]]:
        monkeypatch.setattr(intake, "_vector_rows", cut)
        others.append(memory.transcripts.import_sessions([session]))
        return cut(*arguments)

    monkeypatch.setattr(intake, "_vector_rows", overtaken)
    report = memory.transcripts.import_sessions([session])
    assert (others[0].messages, report.messages) == (5, 0)
    assert report.present == others[0].messages + others[0].events
