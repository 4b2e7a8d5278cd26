"""Conversations of other programs are named in the preview and come in as one decision."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from store.adopting.system import AdoptionReport, AdoptionRequest
from store.adopting.systems import adopt_texts, recognise
from store.memory import doctor
from store.memory.memory import Memory
from store.memory.transcripts import reader
from store.memory.transcripts.files import is_recording
from store.progress import Progress

EXPORT = [
    {
        "uuid": id, "name": id, "chat_messages": [
            {"uuid": "1", "sender": "human", "text": f"Who lives in {id}?"},
            {"uuid": "2", "sender": "assistant", "text": "A heron."},
        ],
    }
    for id in ("pond", "lake")
]  # fmt: skip


@pytest.fixture
def memory(reopen: Callable[[], Memory]) -> Memory:
    return reopen()


def write(folder: Path) -> Path:
    folder.mkdir()
    (folder / "conversations.json").write_text(json.dumps(EXPORT))
    (folder / "rollout-1.jsonl").write_text(
        '{"type": "session_meta", "payload": {"id": "x1"}}\n{"type": "response_item", "payload": '
        '{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Count reeds."}]}}\n'
    )
    (folder / "settings.json").write_text('{"messages": "off"}')
    return folder


def adopted(memory: Memory, path: Path) -> AdoptionReport:
    return adopt_texts(memory, recognise(path), AdoptionRequest("", "", ""), Progress())


def said(memory: Memory) -> dict[str, list[tuple[str, str]]]:
    ids = sorted(one["session_id"] for one in memory.transcripts.sessions())
    return {id: [(row["role"], row["text_content"]) for row in memory.transcripts.messages(id)] for id in ids}


def test_each_program_is_named_with_its_number_of_conversations(tmp_path: Path) -> None:
    (survey,) = recognise(write(tmp_path / "in"))
    assert [(one.what, one.count, one.where) for one in survey.found] == [
        ("conversations", 2, "Claude.ai's export"), ("conversations", 1, "Codex"),
    ]  # fmt: skip
    assert survey.refused == ()


def test_an_agent_of_letta_without_messages_is_no_conversation(tmp_path: Path) -> None:
    agent = {"name": "Mira", "messages": [], "in_context_message_ids": []}
    block = {"label": "human", "value": "Likes frogs"}
    (tmp_path / "mira.af").write_text(json.dumps({"agents": [agent], "blocks": [block]}))
    (survey,) = recognise(tmp_path)
    assert [(one.what, one.count) for one in survey.found] == [("memories", 1)]


def test_they_come_in_once_and_one_undo_takes_them_back(memory: Memory, tmp_path: Path) -> None:
    path = write(tmp_path / "in")
    report = adopted(memory, path)
    assert (len(report.taken), report.refused) == (5, [])
    assert report.notes == ["1 line without a message (session_meta)"]
    assert said(memory) == {
        "lake": [("user", "Who lives in lake?"), ("assistant", "A heron.")],
        "pond": [("user", "Who lives in pond?"), ("assistant", "A heron.")],
        "x1": [("user", "Count reeds.")],
    }
    assert len(memory.transcripts.search("reeds", mode="full_text")) == 1
    again = adopted(memory, path)
    assert (again.taken, len(again.present), again.refused) == ([], 5, [])
    by_files = memory.transcripts.import_sessions([path])
    assert (by_files.messages, by_files.changed, by_files.present) == (0, 0, 5)
    memory.undo()
    assert memory.transcripts.sessions() == []


def test_a_large_adoption_is_undone_redone_and_made_again_row_for_row(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "_LARGE", 0)
    path, transcripts = write(tmp_path / "in"), memory.transcripts
    assert len(adopted(memory, path).taken) == 5
    came, titles = said(memory), [one["title"] for one in transcripts.sessions()]
    assert sorted(titles) == ["", "lake", "pond"]
    undone = memory.undo()
    assert (len(undone.done), undone.refused, transcripts.sessions()) == (5, [], [])
    assert not transcripts.search("reeds", mode="full_text")
    memory.redo()
    assert (said(memory), len(transcripts.search("reeds", mode="full_text"))) == (came, 1)
    memory.undo()
    assert (len(adopted(memory, path).taken), said(memory)) == (5, came)
    assert doctor.damaged_rows(memory.database) == []


def test_what_was_changed_since_an_adoption_survives_its_undo(memory: Memory, tmp_path: Path) -> None:
    adopted(memory, write(tmp_path / "in"))
    (hit,) = memory.transcripts.search("reeds", mode="full_text")
    assert hit.chunk
    memory.transcripts.entries.edit(hit.chunk["id"], source_text="Count rushes.")
    decision = next(one for one in memory.log.find() if one.verb == "adopt")
    undone = memory.undo_decisions([decision.id])
    assert [one.item for one in undone.refused] == [hit.chunk["id"]]
    assert [row["source_text"] for row in memory.transcripts.entries.find()] == ["Count rushes."]


def test_a_session_that_was_removed_here_does_not_come_back(memory: Memory, tmp_path: Path) -> None:
    path = write(tmp_path / "in")
    adopted(memory, path)
    memory.transcripts.remove_session("pond")
    again = adopted(memory, path)
    assert (again.taken, len(again.present)) == ([], 3)
    assert {one.reason for one in again.refused} == {"it was removed here after an earlier adoption"}


def test_a_message_that_says_otherwise_by_now_stays_as_it_is_here(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "rollout-2.jsonl"
    given = ["One reed.", "Two reeds.", "Three reeds."]

    def put(*texts: str) -> None:
        rows = [{"role": "user", "content": [{"type": "input_text", "text": one}]} for one in texts]
        items = [{"type": "response_item", "payload": {"type": "message", **row}} for row in rows]
        head = {"type": "session_meta", "payload": {"id": "x2"}}
        path.write_text("\n".join(json.dumps(one) for one in (head, *items)))

    put(*given)
    memory.transcripts.import_sessions([path])
    put(given[0], "Two herons.", given[2])
    report = adopted(memory, path)
    assert (report.taken, len(report.present), len(report.refused)) == ([], 2, 1)
    assert said(memory)["x2"] == [("user", one) for one in given]


def test_recordings_of_sessions_are_not_read_as_tables_of_coins(tmp_path: Path) -> None:
    path = write(tmp_path / "in")
    table = path / "coins.jsonl"
    table.write_text('{"name": "Pond", "image": "pond.png", "token_address": "0x1"}\n')
    assert [is_recording(one) for one in (path / "rollout-1.jsonl", table)] == [True, False]
