"""`inspect` shows and asks what is at a place, and leaves every byte of it as it was."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from store.memory.memory import Memory
from tests.store.cli.program import Run


def content(path: Path) -> dict[str, bytes]:
    """Every file at this path with its bytes."""
    files = [path] if path.is_file() else [one for one in path.rglob("*") if one.is_file()]
    return {str(one): one.read_bytes() for one in files}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "left"
    folder.mkdir()
    said = [{"sender": "human", "text": "Who lives here?"}, {"sender": "assistant", "text": "A heron."}]
    conversation = {"uuid": "pond-1", "name": "Pond", "chat_messages": said}
    (folder / "conversations.json").write_text(json.dumps([conversation]))
    with closing(sqlite3.connect(folder / "sqlite_vec.db")) as db:
        db.execute("CREATE TABLE memories (content_hash TEXT, content TEXT)")
        db.execute("INSERT INTO memories VALUES ('h1', 'Likes frogs')")
        db.commit()
    return folder


def test_what_another_program_left_is_listed_and_asked_without_a_change(
    run: Run, source: Path, tmp_path: Path
) -> None:
    before = content(source)
    listed = run("inspect", source, "--json")
    assert listed.returncode == 0
    kinds = {one["kind"]: one["count"] for one in json.loads(listed.stdout)["kinds"]}
    assert kinds == {"memories": 1, "transcript_vectors": 2}
    asked = run("inspect", source, "Who lives here?")
    assert "A heron." in asked.stdout
    assert "h1 Likes frogs" in run("inspect", source, "Who likes frogs?").stdout
    assert run("inspect", source, "--words", "frogs").stdout.count("\n") == 2
    assert content(source) == before
    assert not (tmp_path / "res").exists()


def test_a_text_memory_of_ours_is_read_from_a_copy(run: Run, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    with Memory.open(mine) as memory:
        memory.memories.store_memory("Herons nest in April")
    before = content(mine)
    for place in (mine, mine / "memory", mine / "memory" / "memory.sqlite3"):
        assert "Herons nest in April" in run("inspect", place).stdout
    assert content(mine) == before


def test_what_is_not_known_is_said(run: Run, tmp_path: Path) -> None:
    (tmp_path / "frog.bin").write_bytes(b"frog")
    done = run("inspect", tmp_path / "frog.bin")
    assert done.returncode == 1
    assert "nothing that is known was found" in done.stderr
