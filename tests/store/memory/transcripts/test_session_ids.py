"""Sessions whose files do not say their id: none overwrites another conversation of the same name."""

from pathlib import Path

import pytest

from store.memory.memory import Memory
from tests.store.memory.transcripts.sessions import lines


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
    (id,) = memory.transcripts.import_sessions([put(tmp_path / "chat.jsonl", "one", "two")]).sessions
    report = memory.transcripts.import_sessions([put(tmp_path / "chat.jsonl", "one", "2", "three", "four")])
    assert (report.sessions, report.changed, report.messages) == ([id], 1, 2)
    assert texts(memory, id)[1:] == ["one", "2", "three", "four"]


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


def test_a_session_that_says_its_id_is_updated_whatever_changed(memory: Memory, tmp_path: Path) -> None:
    for said in ("before", "after"):
        row = {"session_id": "s1", "role": "user", "content": said}
        lines(tmp_path / f"{said}.jsonl", [row])
        memory.transcripts.import_sessions([tmp_path / f"{said}.jsonl"])
    assert texts(memory, "s1") == ["after"]
