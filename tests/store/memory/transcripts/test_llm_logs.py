"""The database of `llm` comes in: its conversations with instructions, fragments and tools, and only once."""

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
    again = memory.transcripts.import_sessions([tmp_path / "logs.db"])
    assert (again.messages, again.changed, again.refused) == (0, 0, [])


def test_another_database_is_refused_by_its_name_and_passed_over_in_a_folder(
    memory: Memory, tmp_path: Path
) -> None:
    with closing(sqlite3.connect(tmp_path / "notes.db")) as db:
        db.execute("CREATE TABLE notes (text)")
    (refusal,) = memory.transcripts.import_sessions([tmp_path / "notes.db"]).refused
    assert refusal.reason.startswith("it is no database of `llm`")
    (tmp_path / "chat.jsonl").write_text('{"role": "user", "content": "hello"}')
    assert memory.transcripts.import_sessions([tmp_path]).refused == []
