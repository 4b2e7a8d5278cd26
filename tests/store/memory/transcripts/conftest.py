"""A session with messages of every kind and its events; where the database of transcripts lies."""

import json
from pathlib import Path

import pytest

from store.memory.engine.database import Places
from store.memory.memory import Memory
from tests.store.memory.transcripts.sessions import EVENTS, MESSAGES, lines


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


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return Places(tmp_path / "res").former("transcripts")
