"""Transcripts as a whole: undo, restart, and what Chroma gets."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from store.embedding.protocol import Embedder
from store.errors import ModelUnavailable
from store.memory.engine.inputs import UnknownEntry
from store.memory.memory import Memory
from tests.store.memory.chroma_as_it_is import stored
from tests.store.memory.transcripts.sessions import lines


def rows(memory: Memory, query: str) -> list[dict[str, Any]]:
    with memory.transcripts.entries.database.reading() as db:
        return [dict(row) for row in db.execute(query)]


# -- import --------------------------------------------------------------------------------------------------


def test_a_session_is_imported_while_the_model_is_away(tmp_path: Path, session: Path) -> None:
    def away(name: str) -> Embedder:
        raise ModelUnavailable(f"{name} is not on this machine")

    with Memory.open(tmp_path / "res", models=away) as memory:
        report = memory.transcripts.import_sessions([session])
        assert (report.messages, report.embedded) == (5, False)
        [note] = [one for one in report.notes if "is not on this machine" in one]
        assert note.startswith("meaning finds the new texts once they are embedded")
        assert not memory.transcripts.embed_imported(report)
        assert report.notes.count(note) == 1
        found = memory.transcripts.search("relayer", mode="semantic")
        assert found
        assert found.by_words_alone


def test_undo_restores_a_removed_session(imported: Memory) -> None:
    tables = ("transcripts", "transcript_vectors", "events")
    before = {table: rows(imported, f"SELECT * FROM {table} ORDER BY id") for table in tables}
    assert imported.transcripts.remove_session("s1") == 5
    assert all(rows(imported, f"SELECT * FROM {table}") == [] for table in tables)
    assert imported.transcripts.search("relayer") == []
    imported.undo()
    assert {table: rows(imported, f"SELECT * FROM {table} ORDER BY id") for table in tables} == before
    assert imported.transcripts.search("relayer")


def test_sessions_of_one_id_are_read_one_after_another(memory: Memory, tmp_path: Path) -> None:
    for user in ("bob", "ann"):
        said = [{"role": "user", "content": f"{user} {number}"} for number in range(2)]
        lines(tmp_path / "talk.jsonl", said)
        memory.transcripts.import_sessions([tmp_path / "talk.jsonl"], user_id=user)
    read = memory.transcripts.reading("talk")
    assert [one.parts[0][1] for one in read] == ["ann 0", "ann 1", "bob 0", "bob 1"]


@pytest.mark.usefixtures("chroma")
def test_chroma_gets_ids_vectors_and_columns_to_filter_by(imported: Memory) -> None:
    assert imported.wait_for_chroma(60)
    imported.close()
    entries = stored(imported.places.root, "transcript_vectors")
    assert len(entries) == 6
    for id, entry in entries.items():
        assert entry["document"] is None
        assert entry["metadata"].keys() == {
            "parent_id", "user_id", "session_id", "project_slug", "content_type", "chunk_index",
        }  # fmt: skip
        assert id.endswith(f"_{entry['metadata']['content_type']}_0")


# -- events --------------------------------------------------------------------------------------------------


def test_imported_messages_persist_after_a_restart(imported: Memory, reopen: Callable[[], Memory]) -> None:
    before = rows(imported, "SELECT * FROM transcripts")
    assert rows(reopen(), "SELECT * FROM transcripts") == before


def test_a_session_that_is_removed_again_by_the_same_decision_is_removed_once(imported: Memory) -> None:
    removed = [imported.transcripts.remove_session("s1", decision="a") for _ in range(2)]
    assert removed[0] == removed[1] > 0
    assert imported.undo().done
    assert imported.transcripts.remove_session("s1", decision="a") == removed[0]
    assert [one["session_id"] for one in imported.transcripts.sessions()] == ["s1"], "it stays undone"


def test_the_model_of_each_answer_is_shown_and_finds_its_session(memory: Memory, tmp_path: Path) -> None:
    def said(role: str, text: str, **more: object) -> dict[str, object]:
        message = {"role": role, "content": text, **more}
        return {"sessionId": "s9", "type": role, "uuid": text, "parentUuid": None, "message": message}

    lines(
        tmp_path / "claude.jsonl",
        [
            said("user", "Who guards the vault?"),
            said("assistant", "A heron.", model="claude-opus-4"),
            said("assistant", "Nothing came.", model="<synthetic>"),
            said("user", "And the bridge?"),
            said("assistant", "A goat.", model="claude-haiku-4"),
        ],
    )
    codex = [
        {"type": "session_meta", "payload": {"id": "s8", "cwd": "/home/u/pond"}},
        {"type": "turn_context", "payload": {"model": "gpt-5-codex"}},
        {
            "type": "response_item",
            "payload": {"type": "message", "role": "assistant", "content": "A heron too."},
        },
    ]
    lines(tmp_path / "rollout.jsonl", codex)
    for _ in range(2):
        memory.transcripts.import_sessions([tmp_path])
        found = {one["session_id"]: one["models"] for one in memory.transcripts.sessions()}
        assert found == {"s9": ["claude-opus-4", "claude-haiku-4"], "s8": ["gpt-5-codex"]}
    opus, haiku = "claude-opus-4", "claude-haiku-4"
    assert [one.model for one in memory.transcripts.reading("s9")] == ["", opus, opus, "", haiku]
    hits = memory.transcripts.search("heron", mode="full_text", model="gpt-5-codex")
    assert [hit.message["session_id"] for hit in hits] == ["s8"]
    with pytest.raises(UnknownEntry, match="gpt-5-codex"):
        memory.transcripts.check_known(model="gpt-5")
