"""Folders of Markdown notes become memories and go back; what an editor changes comes back once."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from store.adopting.system import AdoptionReport, AdoptionRequest
from store.adopting.systems import adopt_texts, recognise
from store.memory.memory import Memory
from store.progress import Progress


@pytest.fixture
def memory(reopen: Callable[[], Memory]) -> Memory:
    return reopen()


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    (folder / "pond" / ".hidden").mkdir(parents=True)
    (folder / "pond" / ".hidden" / "a.md").write_text("hidden")
    (folder / "pond" / "Heron.md").write_text(
        "---\ntags: [bird, pond]\ncreated: 2026-05-01\nmood: calm\n---\n\nStands in the reeds.\n"
    )
    (folder / "Frog.md").write_text("# A frog\r\n\r\nSings at night.")
    (folder / "Broken.md").write_text("---\ntags: [\n---\nLost?")
    (folder / "Empty.md").write_text("---\ntags: none\n---\n")
    (folder / "README.md").write_text("about this folder")
    return folder


def adopted(memory: Memory, path: Path) -> AdoptionReport:
    (survey,) = recognise(path, system="notes")
    return adopt_texts(memory, [survey], AdoptionRequest("", "", ""), Progress())


def texts(memory: Memory) -> dict[str, str]:
    return {row["id"]: row["content"] for row in memory.kinds["memories"].find()}


def test_each_note_is_a_memory_with_its_tags_and_time(memory: Memory, vault: Path) -> None:
    (survey,) = recognise(vault)
    assert (survey.system, survey.found[0].count) == ("notes", 3)
    report = adopted(memory, vault)
    assert (len(report.taken), [one.item for one in report.refused]) == (3, ["Empty.md"])
    assert "Broken.md: its front matter is no YAML that can be read" in report.notes[0]
    frog, broken, heron = sorted(memory.kinds["memories"].find(), key=lambda row: row["content"])
    assert (broken["content"], broken["tags"]) == ("# Broken\n\nLost?", "[]")
    assert (heron["content"], json.loads(heron["tags"])) == (
        "# Heron\n\nStands in the reeds.",
        ["bird", "pond"],
    )
    assert heron["timestamp"].startswith("2026-05-01")
    assert frog["content"] == "# A frog\n\nSings at night."
    again = adopted(memory, vault)
    assert (again.taken, len(again.present), len(again.refused)) == ([], 3, 1)


def test_secrets_in_notes_are_masked_and_a_second_adoption_changes_nothing(
    memory: Memory, vault: Path
) -> None:
    (vault / "Keys.md").write_text(f"# Keys\n\nAKIA{'B2C3' * 4}")
    assert "1 secret is masked (1 AWS key)" in adopted(memory, vault).notes
    [(id, text)] = [(id, text) for id, text in texts(memory).items() if "Keys" in text]
    assert text == "# Keys\n\n[masked AWS key]"
    again = adopted(memory, vault)
    assert (again.taken, again.notes, id in again.present) == ([], [], True)
    (vault / "Keys.md").write_text(f"# Keys\n\nTwo: AKIA{'B2C3' * 4}")
    assert adopted(memory, vault).taken == [id]
    assert texts(memory)[id] == "# Keys\n\nTwo: [masked AWS key]"


def test_a_change_in_an_editor_is_a_new_version_once(memory: Memory, vault: Path) -> None:
    adopted(memory, vault)
    (vault / "Frog.md").write_text("---\ntags: night\n---\n# A frog\n\nSings at dawn.")
    (id,) = adopted(memory, vault).taken
    row = memory.kinds["memories"].get(id)
    assert (row["content"], json.loads(row["tags"])) == ("# A frog\n\nSings at dawn.", ["night"])
    assert len(memory.entries("memories").versions(id)) == 2
    assert memory.search("Sings at dawn")[0]["memory_id"] == id
    assert adopted(memory, vault).taken == []
    memory.undo()
    assert texts(memory)[id] == "# A frog\n\nSings at night."


def test_what_was_changed_on_both_sides_is_refused(memory: Memory, vault: Path) -> None:
    adopted(memory, vault)
    id = next(id for id, text in texts(memory).items() if "frog" in text)
    memory.memories.edit(id, content="# A frog\n\nSleeps.")
    assert not [one for one in adopted(memory, vault).refused if one.item == id and "Frog.md" in one.reason]
    (vault / "Frog.md").write_text("# A frog\n\nJumps.")
    report = adopted(memory, vault)
    assert (report.taken, [one.item for one in report.refused if one.item == id]) == ([], [id])
    assert texts(memory)[id] == "# A frog\n\nSleeps."


def test_memories_leave_as_notes_and_come_back(memory: Memory, vault: Path, tmp_path: Path) -> None:
    adopted(memory, vault)
    own = memory.memories.store_memory("Reeds grow: fast / tall", tags=["pond"])["memory_id"]
    before, out = texts(memory), tmp_path / "out"
    memory.export(out, kinds=["memories"], form="notes")
    assert (out / "pond" / "Heron.md").read_text().startswith("---\nid: note-")
    assert "mood: calm" in (out / "pond" / "Heron.md").read_text()
    assert (len(adopted(memory, out).present), texts(memory)) == (4, before)
    (note,) = out.glob("Reeds*.md")
    note.write_text(note.read_text().replace("fast", "slowly"))
    assert adopted(memory, out).taken == [own]
    assert texts(memory)[own] == "Reeds grow: slowly / tall"
    assert adopted(memory, out).taken == []


def test_a_folder_of_other_files_is_no_folder_of_notes(tmp_path: Path) -> None:
    (tmp_path / "guide.md").write_text("a guide")
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text("pass")
    assert recognise(tmp_path, system="notes") == []
