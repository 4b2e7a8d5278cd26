"""Import: folders and files of several shapes, only what is new, resumed after a cancel."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from store.embedding import embedding_cache
from store.embedding.embedding_cache import EmbeddingSource
from store.embedding.protocol import Embedder
from store.memory.memory import Memory
from store.memory.transcripts import intake, transcripts
from store.memory.transcripts.intake import TranscriptReport
from store.progress import Progress
from tests.store.memory.bags import Bags
from tests.store.memory.transcripts.sessions import EVENTS, MESSAGES, lines


def rows(memory: Memory, query: str) -> list[dict[str, Any]]:
    with memory.transcripts.entries.database.reading() as db:
        return [dict(row) for row in db.execute(query)]


# -- import --------------------------------------------------------------------------------------------------


def test_a_folder_is_imported_with_messages_chunks_and_events(imported: Memory) -> None:
    messages = imported.transcripts.messages("s1")
    assert [(row["sequence"], row["role"], row["user_id"], row["project_slug"]) for row in messages] == [
        (number, message["role"], "ann", "bridges") for number, message in enumerate(MESSAGES)
    ]
    assert [json.loads(row["content"]) for row in messages] == [message["content"] for message in MESSAGES]
    assert messages[1]["text_content"] == (
        "perhaps the relayer is offline\n\nThe relayer has stopped.\n\nbash\ncommand: systemctl status"
    )
    assert messages[0]["ts"] == "2026-01-31T10:00:00.000+00:00"
    chunks = imported.transcripts.entries.find(order="content_type")
    assert {(row["content_type"], row["source_text"]) for row in chunks} == {
        ("user_query", "why does the bridge fail"),
        ("assistant_thinking", "perhaps the relayer is offline"),
        ("assistant_response", "The relayer has stopped."),
        ("tool_output", "relayer: connection refused"),
        ("tool_output", "structured output"),
        ("tool_call", "bash\ncommand: systemctl status"),
    }
    for row in chunks:
        assert (row["chunk_index"], row["total_chunks"], row["span_start"]) == (0, 1, 0)
        assert row["span_end"] == len(row["source_text"])
        assert row["token_count"] > 0
        assert row["embedding_model"] == "bags"
    assert imported.transcripts.entries.without_vector() == 0


def test_a_message_of_which_an_earlier_memedex_read_less_is_read_again(
    imported: Memory, session: Path
) -> None:
    with imported.transcripts.entries.database.writing() as db:
        db.execute("UPDATE transcripts SET text_content = 'The relayer has stopped.' WHERE sequence = 1")
        db.execute("DELETE FROM transcript_vectors WHERE content_type = 'tool_call'")
    report = imported.transcripts.import_sessions([session])
    assert (report.messages, report.changed) == (0, 1)
    (hit,) = imported.transcripts.search("systemctl", mode="full_text", content_types=["tool_call"])
    assert hit.chunk is not None
    assert hit.chunk["embedding_model"] == "bags"


def test_a_second_import_adds_only_new_messages(imported: Memory, session: Path, bags: Bags) -> None:
    before = rows(imported, "SELECT * FROM transcripts"), rows(imported, "SELECT * FROM transcript_vectors")
    bags.requests.clear()
    report = imported.transcripts.import_sessions([session])
    assert (report.messages, report.changed, report.events, report.present) == (0, 0, 0, 8)
    assert bags.requests == []
    assert before == (
        rows(imported, "SELECT * FROM transcripts"),
        rows(imported, "SELECT * FROM transcript_vectors"),
    )
    lines(session / "transcript.jsonl", [*MESSAGES, {"role": "user", "content": "thanks"}])
    lines(session / "events.jsonl", [*EVENTS, EVENTS[0]])
    report = imported.transcripts.import_sessions([session])
    assert (report.messages, report.events, bags.requests) == (1, 1, ["thanks"])


def test_a_changed_message_is_replaced(imported: Memory, session: Path) -> None:
    lines(session / "transcript.jsonl", [{**MESSAGES[0], "content": "why is it slow"}, *MESSAGES[1:]])
    report = imported.transcripts.import_sessions([session])
    assert (report.messages, report.changed) == (0, 1)
    assert imported.transcripts.entries.count(words="fail") == 0
    assert imported.transcripts.search("why is it slow", mode="semantic")[0].cosine == pytest.approx(1)


NUMBERS = (42, 0.5, 1.0, 3.141592653589793, 0.1 + 0.2, 12345678901234567890123)


def test_a_message_whose_content_is_a_number_is_compared_like_any_other(
    memory: Memory, tmp_path: Path
) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        lines(tmp_path / folder / "x.jsonl", [{"role": "tool", "content": n} for n in NUMBERS])
    assert memory.transcripts.import_sessions([tmp_path / "one"]).messages == len(NUMBERS)
    report = memory.transcripts.import_sessions([tmp_path / "two"])
    assert (report.sessions, report.messages, report.changed) == (["x"], 0, 0)
    assert report.present == len(NUMBERS)
    lines(tmp_path / "two" / "x.jsonl", [{"role": "tool", "content": n} for n in (*NUMBERS, 7)])
    assert memory.transcripts.import_sessions([tmp_path / "two"]).messages == 1
    given = [[NUMBERS[0]], *NUMBERS[1:], 7]
    lines(tmp_path / "two" / "x.jsonl", [{"role": "tool", "content": n} for n in given])
    assert memory.transcripts.import_sessions([tmp_path / "two"]).changed == 1, "a list is no number"


def test_a_long_text_has_several_chunks_with_exact_spans(memory: Memory, tmp_path: Path) -> None:
    text = "".join(f"Sentence number {number} says so. " for number in range(1500))
    lines(tmp_path / "long.jsonl", [{"role": "user", "content": text}])
    memory.transcripts.import_sessions([tmp_path / "long.jsonl"])
    chunks = memory.transcripts.entries.find(order="chunk_index")
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
    assert (report.messages, report.embedded, memory.transcripts.entries.without_vector()) == (5, True, 0)


def test_a_large_import_is_found_by_words_and_not_awaited_until_it_is_embedded(
    memory: Memory, tmp_path: Path, bags: Bags
) -> None:
    many = transcripts.AWAITED + 1
    lines(tmp_path / "x.jsonl", [{"role": "user", "content": f"lamp {number}"} for number in range(many)])
    report = memory.transcripts.import_sessions([tmp_path / "x.jsonl"])
    assert (report.messages, report.embedded, bags.requests) == (many, False, [])
    assert memory.transcripts.search("lamp 7", mode="full_text")
    assert memory.transcripts.embed_new()
    assert (memory.transcripts.entries.without_vector(), len(bags.requests)) == (0, many)


def test_messages_of_several_transactions_keep_their_order(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "_MESSAGES", 2)
    monkeypatch.setattr(intake, "_LOOKED_UP", 2)
    said = [f"lamp {number}" for number in range(7)]
    for name in ("a", "b"):
        lines(tmp_path / f"{name}.jsonl", [{"role": "user", "content": f"{name} {one}"} for one in said])
    assert memory.transcripts.import_sessions([tmp_path]).messages == 14
    assert [row["text_content"] for row in memory.transcripts.messages("b")] == [f"b {one}" for one in said]
    again = memory.transcripts.import_sessions([tmp_path])
    assert (again.messages, again.changed, again.present) == (0, 0, 14)


def test_embedding_a_very_long_message_can_be_cancelled(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = "".join(f"Frogs count {number} brass lamps at night. " for number in range(5_000))
    lines(tmp_path / "long.jsonl", [{"role": "user", "content": long}])
    progress, embedded = Progress(), list[int]()
    embed = embedding_cache.embed

    def stopped_after_one(sources: Sequence[EmbeddingSource], embedder: Embedder) -> dict[str, bytes]:
        embedded.append(len(sources))
        progress.cancel()
        return embed(sources, embedder)

    monkeypatch.setattr(embedding_cache, "embed", stopped_after_one)
    report = memory.transcripts.import_sessions([tmp_path / "long.jsonl"], progress=progress)
    chunks = memory.kinds["transcript_vectors"].count()
    assert (len(embedded), report.embedded) == (1, False)
    assert embedded[0] == chunks - memory.transcripts.entries.without_vector() < chunks
    assert memory.transcripts.search("lamps", mode="full_text")


# -- events --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "messages", "reason"),
    [
        (b'\xef\xbb\xbf{"role":"user","content":"after a mark of byte order"}\r\n', 1, ""),
        (b'{"role":"user","content":"too large","turn":99999999999999999999,"ts":1e300}', 1, ""),
        (b'{"role":"us\\ud83d","content":"half a character in the role"}', 1, ""),
        ('{"role":"user","content":"wide"}'.encode("utf-16"), 1, ""),
        (b'{"role":"user","content":"caf\xe9"}', 1, ""),
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


def test_a_session_imported_concurrently_is_reported_as_present(
    memory: Memory, session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other import runs between the check for existing messages and the transaction."""
    cut = intake._chunks
    others: list[TranscriptReport] = []

    def overtaken(*arguments: Any) -> list[tuple[Any, ...]]:
        monkeypatch.setattr(intake, "_chunks", cut)
        others.append(memory.transcripts.import_sessions([session]))
        return cut(*arguments)

    monkeypatch.setattr(intake, "_chunks", overtaken)
    report = memory.transcripts.import_sessions([session])
    assert (others[0].messages, report.messages) == (5, 0)
    assert report.present == others[0].messages + others[0].events


# -- secrets -------------------------------------------------------------------------------------------------


def test_secrets_are_masked_and_told_once(memory: Memory, tmp_path: Path) -> None:
    key = "ghp_0123456789abcdefghij"
    said = [
        {"role": "user", "content": f"push with {key}"},
        {"role": "assistant", "content": [{"type": "tool_use", "name": "sh", "input": {"command": key}}]},
    ]
    folder = tmp_path / "s1"
    folder.mkdir()
    lines(folder / "transcript.jsonl", said)
    event = {"event": "tool", "ts": "2026-01-31T10:00:00Z", "data": {"password": "pondpond"}}
    lines(folder / "events.jsonl", [event])
    report = memory.transcripts.import_sessions([folder])
    assert report.notes == ["3 secrets are masked (2 GitHub tokens, 1 password)"]
    for table in ("transcripts", "transcript_vectors", "events"):
        assert all(
            key not in str(row) and "pondpond" not in str(row)
            for row in rows(memory, f"SELECT * FROM {table}")
        )
    assert memory.transcripts.messages("s1")[0]["text_content"] == "push with [masked GitHub token]"
    again = memory.transcripts.import_sessions([folder])
    assert (again.messages, again.changed, again.events, again.present, again.notes) == (0, 0, 0, 3, [])
