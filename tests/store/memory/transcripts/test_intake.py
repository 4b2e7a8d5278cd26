"""Import: folders and files of several shapes, only what is new, resumed after a cancel."""

import json
from collections.abc import Sequence
from pathlib import Path
from shutil import make_archive
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
    messages = memory.transcripts.messages("b")
    assert [row["text_content"] for row in messages] == [f"b {one}" for one in said]
    assert sorted(messages, key=lambda row: row["id"]) == messages, "together in every index"
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


def texts(memory: Memory, id: str) -> list[str]:
    return [row["text_content"] for row in memory.transcripts.messages(id)]


def put(path: Path, *said: str) -> Path:
    """A file of a conversation, the user's and the assistant's turns alternating below a system message."""
    path.parent.mkdir(parents=True, exist_ok=True)
    roles = ["user", "assistant"] * len(said)
    messages = [{"role": role, "content": text} for role, text in zip(roles, said, strict=False)]
    lines(path, [{"role": "system", "content": "be brief"}, *messages])
    return path


def test_two_conversations_of_one_file_name_are_both_kept(memory: Memory, tmp_path: Path) -> None:
    put(tmp_path / "in" / "a" / "chat.jsonl", "why is the sky blue", "it scatters light")
    put(tmp_path / "in" / "b" / "chat.jsonl", "how do frogs sleep", "with open eyes")
    first, second = memory.transcripts.import_sessions([tmp_path / "in"]).sessions
    assert (first, second[:5]) == ("chat", "chat-")
    assert texts(memory, first)[1:] == ["why is the sky blue", "it scatters light"]
    assert texts(memory, second)[1:] == ["how do frogs sleep", "with open eyes"]
    report = memory.transcripts.import_sessions([tmp_path / "in"])
    assert (report.sessions, report.present, report.messages) == ([first, second], 6, 0)


@pytest.mark.parametrize("has_a_double", [False, True])
def test_a_conversation_that_grew_or_was_edited_is_still_the_same(
    memory: Memory, tmp_path: Path, has_a_double: bool
) -> None:
    if has_a_double:
        memory.transcripts.import_sessions([put(tmp_path / "chat.jsonl", "another", "conversation")])
    (id,) = memory.transcripts.import_sessions([put(tmp_path / "chat.jsonl", "one", "two", "three")]).sessions
    report = memory.transcripts.import_sessions([put(tmp_path / "chat.jsonl", "one", "2", "three", "four")])
    assert (report.sessions, report.changed, report.messages) == ([id], 1, 1)
    assert texts(memory, id)[1:] == ["one", "2", "three", "four"]


@pytest.mark.parametrize("opening", [("summarise the report",), ("hi", "hello!")])
def test_two_conversations_with_a_common_opening_are_both_kept(
    memory: Memory, tmp_path: Path, opening: tuple[str, ...]
) -> None:
    rest = {name: [f"{name} {number}" for number in range(len(opening))] for name in "ab"}
    for name in "abab":
        memory.transcripts.import_sessions([put(tmp_path / name / "chat.jsonl", *opening, *rest[name])])
    ids = [one["session_id"] for one in memory.transcripts.sessions()]
    assert sorted(texts(memory, id)[1:] for id in ids) == [[*opening, *rest["a"]], [*opening, *rest["b"]]]


def test_of_two_alike_sessions_the_one_is_continued_of_which_least_would_be_replaced(
    memory: Memory, tmp_path: Path
) -> None:
    put(tmp_path / "a" / "chat.jsonl", "one", "two", "three", "end of a", "and more")
    put(tmp_path / "b" / "chat.jsonl", "one", "two", "three", "end of b", "and on")
    first, second = memory.transcripts.import_sessions([tmp_path]).sessions
    assert first != second, "they share more than half, but both are of this import"
    put(tmp_path / "b" / "chat.jsonl", "one", "two", "three", "end of b", "and on", "and on")
    report = memory.transcripts.import_sessions([tmp_path / "b"])
    assert (report.sessions, report.messages, report.changed) == ([second], 1, 0)
    assert texts(memory, first)[1:] == ["one", "two", "three", "end of a", "and more"]


def test_a_file_that_was_dropped_twice_is_one_session(memory: Memory, tmp_path: Path) -> None:
    paths = [put(tmp_path / name / "chat.jsonl", "one", "two") for name in "ab"]
    assert memory.transcripts.import_sessions(paths).sessions == ["chat", "chat"]


def test_the_end_of_a_conversation_does_not_replace_its_beginning(memory: Memory, tmp_path: Path) -> None:
    memory.transcripts.import_sessions([put(tmp_path / "chat.jsonl", "hi", "hello!", "why", "because")])
    memory.transcripts.import_sessions([put(tmp_path / "chat.jsonl", "why", "because")])
    assert texts(memory, "chat")[1:] == ["hi", "hello!", "why", "because"]


def test_a_file_whose_own_name_ends_like_a_hash_is_a_session_of_its_own(
    memory: Memory, tmp_path: Path
) -> None:
    said = ("hi", "hello!", "how are you")
    put(tmp_path / "log-20240101.jsonl", *said, "well", "good")
    put(tmp_path / "log.jsonl", *said, "badly", "sorry")
    for name in ("log-20240101", "log", "log-20240101", "log"):
        assert memory.transcripts.import_sessions([tmp_path / f"{name}.jsonl"]).sessions == [name]
    assert texts(memory, "log-20240101")[4:] == ["well", "good"]


@pytest.mark.parametrize("first_is_removed", [False, True])
def test_a_session_to_which_version_1_1_1_gave_an_id_is_found(
    memory: Memory, tmp_path: Path, first_is_removed: bool
) -> None:
    memory.transcripts.import_sessions([put(tmp_path / "chat.jsonl", "another", "conversation")])
    given = "chat-2eaa7b92"  # what that version makes of it
    lines(tmp_path / "named.jsonl", [
        {"session_id": given, "role": role, "content": text}
        for role, text in (("system", "be brief"), ("user", "one"), ("assistant", "two"))
    ])  # fmt: skip
    memory.transcripts.import_sessions([tmp_path / "named.jsonl"])
    if first_is_removed:
        memory.transcripts.remove_session("chat")
    report = memory.transcripts.import_sessions([put(tmp_path / "chat.jsonl", "one", "two")])
    assert (report.sessions, report.messages, report.present) == ([given], 0, 3)


def test_a_conversation_of_which_version_1_0_0_read_less_is_still_the_same(
    memory: Memory, tmp_path: Path
) -> None:
    call = {"function_call": {"name": "bash", "arguments": "{}"}}
    asked, answered = {"role": "user", "content": "why"}, {"role": "assistant", "content": None}
    lines(tmp_path / "chat.jsonl", [asked, answered])
    memory.transcripts.import_sessions([tmp_path / "chat.jsonl"])
    lines(tmp_path / "chat.jsonl", [asked, {**answered, **call}])
    report = memory.transcripts.import_sessions([tmp_path / "chat.jsonl"])
    assert (report.sessions, report.changed) == (["chat"], 1)


def test_two_sessions_of_events_alone_are_both_kept(memory: Memory, tmp_path: Path) -> None:
    for project, rows in (("a", EVENTS[:2]), ("b", [{**row, "event": "b"} for row in EVENTS[:2]])):
        folder = tmp_path / "projects" / project / "sessions" / "1"
        folder.mkdir(parents=True)
        lines(folder / "events.jsonl", rows)
    report = memory.transcripts.import_sessions([tmp_path / "projects"])
    first, second = report.sessions
    assert (first, second[:2], report.events, report.present) == ("1", "1-", 4, 0)
    again = memory.transcripts.import_sessions([tmp_path / "projects"])
    assert (again.sessions, again.events, again.present) == ([first, second], 0, 4)
    lines(folder / "events.jsonl", [*({**row, "event": "b"} for row in EVENTS[:2]), EVENTS[2]])
    grown = memory.transcripts.import_sessions([tmp_path / "projects"])
    assert (grown.sessions, grown.events, grown.present) == ([first, second], 1, 4)
    put(folder / "transcript.jsonl", "what", "happened")
    assert memory.transcripts.import_sessions([folder]).sessions == [second], (
        "the events tell which one it is"
    )


def test_a_session_of_events_does_not_take_in_the_events_of_a_conversation_of_its_name(
    memory: Memory, tmp_path: Path
) -> None:
    for name in "ab":
        (tmp_path / name / "1").mkdir(parents=True)
        lines(tmp_path / name / "1" / "events.jsonl", [{**row, "event": name} for row in EVENTS])
    put(tmp_path / "b" / "1" / "transcript.jsonl", "what", "happened")
    report = memory.transcripts.import_sessions([tmp_path])
    assert (report.events, report.present, len({*report.sessions})) == (6, 0, 2)


def test_what_is_stored_is_read_once_in_an_import_however_many_files_have_the_name(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = list[str]()
    piece = intake._piece
    monkeypatch.setattr(intake, "_piece", lambda message: read.append(message[1]) or piece(message))
    for number in range(12):
        put(tmp_path / "in" / str(number) / "chat.jsonl", f"question {number}", f"answer {number}")
    assert memory.transcripts.import_sessions([tmp_path / "in"]).messages == 36
    assert len(read) == 11 * 3 + 11 * 3, "of each file but the first, and of each session before the last"


def test_folders_of_one_name_in_two_projects_are_two_sessions(memory: Memory, tmp_path: Path) -> None:
    for project in ("bridges", "rivers"):
        put(
            tmp_path / "projects" / project / "sessions" / "1" / "transcript.jsonl",
            "hello",
            f"from {project}",
        )
    memory.transcripts.import_sessions([tmp_path / "projects"])
    found = {one["project_slug"]: one["session_id"] for one in memory.transcripts.sessions()}
    assert {project: texts(memory, id)[2] for project, id in found.items()} == {
        "bridges": "from bridges", "rivers": "from rivers",
    }  # fmt: skip


def test_two_files_that_say_one_id_and_contradict_each_other_are_both_kept(
    memory: Memory, tmp_path: Path
) -> None:
    for name, said in (("before", ("one", "two", "three", "four")), ("after", ("one", "two", "3", "4", "5"))):
        lines(
            tmp_path / f"{name}.jsonl", [{"session_id": "s1", "role": "user", "content": one} for one in said]
        )
    report = memory.transcripts.import_sessions([tmp_path / "before.jsonl"])
    assert report.notes == []
    report = memory.transcripts.import_sessions([tmp_path / "after.jsonl"])
    (other,) = report.sessions
    assert report.notes == [f"another conversation is stored as s1; this one is kept as {other}"]
    assert (report.messages, report.changed) == (5, 0)
    assert texts(memory, "s1") == ["one", "two", "three", "four"]
    assert texts(memory, other) == ["one", "two", "3", "4", "5"]
    again = memory.transcripts.import_sessions([tmp_path / "before.jsonl", tmp_path / "after.jsonl"])
    assert (again.sessions, again.messages, again.changed, again.notes) == (["s1", other], 0, 0, [])


def test_copies_that_were_continued_apart_late_are_both_kept(memory: Memory, tmp_path: Path) -> None:
    said = [f"message {number}" for number in range(500)]
    for name, tail in (
        ("a", "to the left"),
        ("b", "to the right"),
        ("a", "to the left"),
        ("b", "to the right"),
    ):
        memory.transcripts.import_sessions([put(tmp_path / name / "chat.jsonl", *said, tail)])
    sessions = memory.transcripts.sessions()
    assert [one["messages"] for one in sessions] == [502, 502]
    ends = [memory.transcripts.messages(one["session_id"], offset=501) for one in sessions]
    assert sorted(end["text_content"] for (end,) in ends) == ["to the left", "to the right"]


def test_other_events_at_the_places_of_stored_ones_are_kept_beside_them(
    memory: Memory, tmp_path: Path
) -> None:
    for name in "abab":
        folder = put(tmp_path / name / "1" / "transcript.jsonl", "what", "happened").parent
        lines(folder / "events.jsonl", [EVENTS[0], {**EVENTS[1], "event": f"only in {name}"}])
        report = memory.transcripts.import_sessions([folder])
    assert (report.events, report.messages, report.present) == (0, 0, 5)
    assert {"only in a", "only in b"} <= {*memory.transcripts.event_values("event")}


# -- Claude Code ---------------------------------------------------------------------------------------------

ORIGINAL, FORK = "11111111-2222-4333-8444-555555555555", "22222222-2222-4333-8444-555555555555"


def claude(path: Path, *said: tuple[str, str], **more: object) -> Path:
    """A file as Claude Code writes it: pairs of the id that a row repeats and what it says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines(path, [
        {
            "sessionId": id, "isSidechain": False, "uuid": text, "timestamp": "2026-03-01T10:00:00Z", **more,
            "type": ("user", "assistant")[place % 2],
            "message": {"role": ("user", "assistant")[place % 2], "content": text},
        }
        for place, (id, text) in enumerate(said)
    ])  # fmt: skip
    return path


@pytest.mark.parametrize("folder", [f"{ORIGINAL}/subagents", "."])
def test_sub_agents_are_sessions_of_their_own_named_after_their_parent(
    memory: Memory, tmp_path: Path, folder: str
) -> None:
    claude(tmp_path / "in" / f"{ORIGINAL}.jsonl", (ORIGINAL, "Find frogs"), (ORIGINAL, "Three coins match"))
    for agent in ("a1b2c3", "d4e5f6"):
        rows = [(ORIGINAL, f"Helper task of {agent}"), (ORIGINAL, f"Done by {agent}")]
        claude(tmp_path / "in" / folder / f"agent-{agent}.jsonl", *rows, agentId=agent, isSidechain=True)
    report = memory.transcripts.import_sessions([tmp_path / "in"])
    assert sorted(report.sessions) == [
        ORIGINAL, f"{ORIGINAL}/agent-a1b2c3", f"{ORIGINAL}/agent-d4e5f6",
    ]  # fmt: skip
    assert (report.messages, report.changed, report.refused) == (6, 0, [])
    assert texts(memory, ORIGINAL) == ["Find frogs", "Three coins match"]
    assert texts(memory, f"{ORIGINAL}/agent-d4e5f6") == ["Helper task of d4e5f6", "Done by d4e5f6"]
    packed = Path(make_archive(str(tmp_path / "packed"), "zip", tmp_path / "in"))
    for same in (tmp_path / "in", packed):
        again = memory.transcripts.import_sessions([same])
        assert (again.messages, again.changed, again.present) == (0, 0, 6)


def test_a_forked_session_is_another_one_than_its_original(memory: Memory, tmp_path: Path) -> None:
    common = ((ORIGINAL, "Where does Otto sleep?"), (ORIGINAL, "In the reeds."))
    original = claude(
        tmp_path / f"{ORIGINAL}.jsonl", *common, (ORIGINAL, "And Berta?"), (ORIGINAL, "On a bridge.")
    )
    fork = claude(tmp_path / f"{FORK}.jsonl", *common, (FORK, "What does Otto eat?"), (FORK, "Small fish."))
    for path in (fork, original):
        memory.transcripts.import_sessions([path])
    assert texts(memory, ORIGINAL)[2:] == ["And Berta?", "On a bridge."]
    assert texts(memory, FORK)[2:] == ["What does Otto eat?", "Small fish."]
    again = memory.transcripts.import_sessions([tmp_path])
    assert (again.messages, again.changed, again.present) == (0, 0, 8)


def test_a_file_that_was_renamed_is_still_the_session_that_it_says(memory: Memory, tmp_path: Path) -> None:
    memory.transcripts.import_sessions([claude(tmp_path / f"{ORIGINAL}.jsonl", (ORIGINAL, "Hi"))])
    report = memory.transcripts.import_sessions([claude(tmp_path / "otto.jsonl", (ORIGINAL, "Hi"))])
    assert (report.sessions, report.present) == ([ORIGINAL], 1)


@pytest.mark.parametrize("file", [f"{FORK}.jsonl", "agent-a1b2c3.jsonl"])
def test_what_version_1_1_2_stored_under_the_id_that_rows_repeat_is_found(
    memory: Memory, tmp_path: Path, file: str
) -> None:
    rows = ((ORIGINAL, "Helper task"), (ORIGINAL, "Done"))
    memory.transcripts.import_sessions([claude(tmp_path / "as_before.jsonl", *rows)])
    report = memory.transcripts.import_sessions([claude(tmp_path / file, *rows)])
    assert (report.sessions, report.messages, report.present) == ([ORIGINAL], 0, 2)
