"""Databases of programs come in: their conversations with instructions and tools in order, and only once."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from store.memory.memory import Memory

EARLIER = """
CREATE TABLE conversations (id TEXT PRIMARY KEY, name TEXT, model TEXT);
CREATE TABLE responses (
    id TEXT PRIMARY KEY, model TEXT, prompt TEXT, system TEXT, response TEXT, conversation_id TEXT,
    datetime_utc TEXT
);
INSERT INTO conversations VALUES ('c1', 'Pond', 'm'), ('c2', 'Reeds', 'm');
INSERT INTO responses VALUES
    ('r3', 'm', 'And now?', 'Be brief.', 'Still a heron.', 'c1', '2026-05-01T08:00:02'),
    ('r1', 'm', 'Who lives here?', 'Be brief.', 'A heron.', 'c1', '2026-05-01T08:00:01'),
    ('r2', 'm', 'How many reeds?', NULL, 'Seven.', 'c2', '2026-05-01T09:00:00'),
    ('r4', 'm', 'Alone', NULL, 'Yes.', NULL, '2026-05-01T10:00:00');
"""
LATER = """
CREATE TABLE fragments (id INTEGER PRIMARY KEY, content TEXT);
CREATE TABLE prompt_fragments (response_id TEXT, fragment_id INTEGER, "order" INTEGER);
CREATE TABLE tool_calls (id INTEGER PRIMARY KEY, response_id TEXT, name TEXT, arguments TEXT);
CREATE TABLE tool_results (id INTEGER PRIMARY KEY, response_id TEXT, name TEXT, output TEXT);
INSERT INTO fragments VALUES (1, 'Reeds are grass.');
INSERT INTO prompt_fragments VALUES ('r2', 1, 0);
INSERT INTO tool_calls VALUES (1, 'r2', 'count', '{"what": "reeds"}');
INSERT INTO tool_results VALUES (1, 'r4', 'count', 'seven');
"""


@pytest.mark.parametrize("is_later", [False, True])
def test_conversations_come_in_in_the_order_of_their_time(
    memory: Memory, tmp_path: Path, is_later: bool
) -> None:
    with closing(sqlite3.connect(tmp_path / "logs.db")) as db:
        db.executescript(EARLIER + (LATER if is_later else ""))
    report = memory.transcripts.import_sessions([tmp_path])
    assert (report.refused, report.sessions) == ([], ["c1", "c2", "r4"])
    said = {
        id: [(row["role"], row["text_content"]) for row in memory.transcripts.messages(id)]
        for id in report.sessions
    }
    assert said["c1"] == [
        ("system", "Be brief."), ("user", "Who lives here?"), ("assistant", "A heron."),
        ("user", "And now?"), ("assistant", "Still a heron."),
    ]  # fmt: skip
    if is_later:
        assert said["c2"] == [
            ("user", "Reeds are grass.\n\nHow many reeds?"), ("assistant", "Seven.\n\ncount\nwhat: reeds"),
        ]  # fmt: skip
        assert said["r4"][0] == ("tool", "seven")
    assert memory.transcripts.messages("c1")[4]["ts"] == "2026-05-01T08:00:02.000+00:00"
    assert [one["models"] for one in memory.transcripts.sessions()] == [["m"]] * 3
    again = memory.transcripts.import_sessions([tmp_path / "logs.db"])
    assert (again.messages, again.changed, again.refused) == (0, 0, [])


def test_another_database_is_refused_by_its_name_and_passed_over_in_a_folder(
    memory: Memory, tmp_path: Path
) -> None:
    with closing(sqlite3.connect(tmp_path / "notes.db")) as db:
        db.execute("CREATE TABLE notes (text)")
    (refusal,) = memory.transcripts.import_sessions([tmp_path / "notes.db"]).refused
    assert refusal.reason.startswith("its tables are those of no known program")
    (tmp_path / "chat.jsonl").write_text('{"role": "user", "content": "hello"}')
    assert memory.transcripts.import_sessions([tmp_path]).refused == []


CURSOR = """
CREATE TABLE cursorDiskKV (key TEXT UNIQUE, value BLOB);
INSERT INTO cursorDiskKV VALUES
    ('composerData:k1', CAST('{"composerId": "k1", "name": "Pond", "createdAt": 1777622401000,
      "fullConversationHeadersOnly": [{"bubbleId": "b"}, {"bubbleId": "a"}, {"bubbleId": "c"}]}' AS BLOB)),
    ('composerData:k2', '{"composerId": "k2", "fullConversationHeadersOnly": []}'),
    ('composerData:k3', 'broken'),
    ('bubbleId:k1:a', '{"bubbleId": "a", "type": 2, "toolFormerData":
      {"name": "count", "rawArgs": "{\\"what\\": \\"reeds\\"}", "result": "seven"}}'),
    ('bubbleId:k1:b', '{"bubbleId": "b", "type": 1, "text": "Who lives here?"}'),
    ('bubbleId:k1:c', '{"bubbleId": "c", "type": 2, "text": "A heron."}');
"""
CURSOR_EARLIER = """
CREATE TABLE ItemTable (key TEXT UNIQUE, value BLOB);
INSERT INTO ItemTable VALUES ('workbench.panel.aichat.view.aichat.chatdata', '{"tabs": [{"tabId": "k1",
    "chatTitle": "Pond", "bubbles": [{"type": "user", "text": "Who lives here?"},
    {"type": "ai", "rawText": "A heron."}]}]}');
"""
OPENCODE = """
CREATE TABLE session (id TEXT, parent_id TEXT, title TEXT, directory TEXT, time_created INTEGER);
CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, data TEXT);
INSERT INTO session VALUES ('k1', NULL, 'Pond', '/home/ada/pond', 1);
INSERT INTO message VALUES
    ('m2', 'k1', 2, '{"role": "assistant", "time": {"created": 1777622402000}}'),
    ('m1', 'k1', 1, '{"role": "user", "time": {"created": 1777622401000}}');
INSERT INTO part VALUES
    ('p3', 'm2', 'k1', '{"type": "text", "text": "A heron."}'),
    ('p2', 'm2', 'k1', '{"type": "tool", "tool": "count",
      "state": {"input": {"what": "reeds"}, "output": "seven"}}'),
    ('p1', 'm1', 'k1', '{"type": "text", "text": "Who lives here?"}');
"""
GOOSE = """
CREATE TABLE sessions (id TEXT, description TEXT, working_dir TEXT, created_at TEXT);
CREATE TABLE messages (
    id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content_json TEXT, created_timestamp INTEGER
);
INSERT INTO sessions VALUES ('k1', 'Pond', '/home/ada/pond', '2026-05-01 08:00:01');
INSERT INTO messages (session_id, role, content_json, created_timestamp) VALUES
    ('k1', 'user', '[{"type": "text", "text": "Who lives here?"}]', 1777622401),
    ('k1', 'assistant', '[{"type": "toolRequest", "id": "c", "toolCall":
      {"status": "success", "value": {"name": "count", "arguments": {"what": "reeds"}}}}]', 1777622401),
    ('k1', 'user', '[{"type": "toolResponse", "id": "c", "toolResult":
      {"status": "success", "value": [{"type": "text", "text": "seven"}]}}]', 1777622401),
    ('k1', 'assistant', '[{"type": "text", "text": "A heron."}]', 1777622402);
"""
HERMES = """
CREATE TABLE sessions (id TEXT, title TEXT, system_prompt TEXT, started_at REAL);
CREATE TABLE messages (
    id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, tool_calls TEXT, reasoning TEXT,
    timestamp REAL
);
INSERT INTO sessions VALUES ('k1', 'Pond', NULL, 1777622401.0);
INSERT INTO messages (session_id, role, content, tool_calls, timestamp) VALUES
    ('k1', 'user', 'Who lives here?', NULL, 1777622401.0),
    ('k1', 'assistant', NULL,
     '[{"function": {"name": "count", "arguments": "{\\"what\\": \\"reeds\\"}"}}]', 1777622401.0),
    ('k1', 'tool', 'seven', NULL, 1777622401.0), ('k1', 'assistant', 'A heron.', NULL, 1777622402.0);
"""
CRUSH = """
CREATE TABLE sessions (id TEXT, parent_session_id TEXT, title TEXT, created_at INTEGER);
CREATE TABLE messages (id TEXT, session_id TEXT, role TEXT, parts TEXT, model TEXT, created_at INTEGER);
INSERT INTO sessions VALUES ('k1', NULL, 'Pond', 1777622401);
INSERT INTO messages VALUES
    ('4', 'k1', 'assistant', '[{"type": "text", "data": {"text": "A heron."}},
      {"type": "finish", "data": {"reason": "stop"}}]', 'm', 1777622404),
    ('1', 'k1', 'user', '[{"type": "text", "data": {"text": "Who lives here?"}}]', '', 1777622401),
    ('2', 'k1', 'assistant', '[{"type": "tool_call", "data":
      {"id": "c", "name": "count", "input": "{\\"what\\": \\"reeds\\"}"}}]', 'm', 1777622402),
    ('3', 'k1', 'tool', '[{"type": "tool_result", "data":
      {"tool_call_id": "c", "name": "count", "content": "seven"}}]', '', 1777622403);
"""
CALLED = [("assistant", "count\nwhat: reeds"), ("tool", "seven")]


@pytest.mark.parametrize(
    ("name", "tables", "called"),
    [
        ("state.vscdb", CURSOR, CALLED),
        ("state.vscdb", CURSOR_EARLIER, []),
        ("opencode.db", OPENCODE, CALLED),
        ("sessions.db", GOOSE, CALLED),
        ("state.db", HERMES, CALLED),
        ("crush.db", CRUSH, CALLED),
    ],
)
def test_each_known_database_gives_its_messages_in_order_and_only_once(
    memory: Memory, tmp_path: Path, name: str, tables: str, called: list[tuple[str, str]]
) -> None:
    with closing(sqlite3.connect(tmp_path / name)) as db:
        db.executescript(tables)
    report = memory.transcripts.import_sessions([tmp_path])
    assert (report.refused, report.sessions) == ([], ["k1"])
    said = [(row["role"], row["text_content"]) for row in memory.transcripts.messages("k1")]
    assert said == [("user", "Who lives here?"), *called, ("assistant", "A heron.")]
    assert [one["title"] for one in memory.transcripts.sessions()] == ["Pond"]
    again = memory.transcripts.import_sessions([tmp_path / name])
    assert (again.messages, again.changed, again.present) == (0, 0, len(said))
