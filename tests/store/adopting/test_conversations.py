"""Conversations of other programs are named in the preview and come in as one decision."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from store.adopting.system import AdoptionReport, AdoptionRequest
from store.adopting.systems import adopt_texts, recognise
from store.memory.memory import Memory
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
