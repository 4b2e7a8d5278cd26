"""What the metadata of another program's Chroma mean."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from store.adopting.chroma_texts import ENTRIES, tags_of
from store.adopting.system import AdoptionReport, AdoptionRequest
from store.adopting.systems import adopt_texts, recognise
from store.memory import doctor
from store.memory.memory import Memory
from store.progress import Progress
from tests.store.adopting import reference_chroma
from tests.store.memory.bags import Bags

ROOT = Path(__file__).resolve().parents[4]
TEXTS = ["User prefers TypeScript over JavaScript", "The team meets on Mondays", "Tickers stay short"]
LORE = {
    "crimson_peaks_mountain_lore_1": "The Crimson Peaks were forged in dragon fire",
    "crimson_peaks_base_lore_0": "A range of red mountains",
}


@pytest.mark.parametrize(
    ("given", "tags"),
    [
        (["dog", " moon ", "dog", 7], ["dog", "moon"]),
        ('["dog", "moon"]', ["dog", "moon"]),
        ("dog, moon", ["dog", "moon"]),
        ("dog;moon", ["dog", "moon"]),
        ("[dog, moon", ["[dog", "moon"]),
        ("[" * 100_000, ["[" * 100_000]),
        (None, []),
    ],
)
def test_tags_of_every_form_are_read(given: object, tags: list[str]) -> None:
    assert tags_of(given) == tags


TODAY = "2026-11-26 10:00:00"  # when Chroma got it


@pytest.mark.parametrize(
    ("id", "metadata", "timestamp"),
    [
        ("a", {"timestamp": "2026-01-31T10:00:00Z"}, "2026-01-31T10:00:00Z"),
        ("a", {"timestamp": "2026-01-31"}, "2026-01-31"),
        ("a", {"created_at": "2026-01-31T10:00:00+02:00"}, "2026-01-31T10:00:00+02:00"),
        ("a", {"created_at": 1769853600.0}, "2026-01-31T10:00:00Z"),
        ("a", {"createdAt": "1769853600000"}, "2026-01-31T10:00:00Z"),
        ("a", {"timestamp": "Sat, 31 Jan 2026 10:00:00 GMT"}, "2026-01-31T10:00:00Z"),
        ("a", {"timestamp": "", "created_at": "2026-01-31"}, "2026-01-31"),
        ("mem_1769853600", {"tags": "a"}, "2026-01-31T10:00:00Z"),
        ("mem_1769853600", {"created_at": "2025-01-31"}, "2025-01-31"),
        ("a", {"tags": "a"}, TODAY),
    ],
)
def test_a_memory_counts_since_it_was_stored_under_whichever_name_that_is(
    id: str, metadata: dict[str, Any], timestamp: str
) -> None:
    entry = ENTRIES["memories"](id, "text", metadata, TODAY)
    assert (entry.row["timestamp"], entry.unread) == (timestamp, ())


@pytest.mark.parametrize("name", ["timestamp", "created_at"])
def test_a_time_that_cannot_be_read_is_named_and_not_replaced(name: str) -> None:
    entry = ENTRIES["memories"]("mem_1769853600", "text", {name: "yesterday"}, TODAY)
    assert (entry.row["timestamp"], entry.metadata) == ("", {name: "yesterday"})
    assert entry.unread == (f"its {name} 'yesterday' is no date or time",)
    exchange = ENTRIES["session_memory"]("hero_1", "text", {"session_id": "hero", name: "yesterday"}, TODAY)
    assert (exchange.row["at"], len(exchange.unread)) == (0.0, 1)
    lore = ENTRIES["world_lore"]("peaks_1", "text", {"world_id": "peaks", name: "yesterday"}, TODAY)
    assert len(lore.unread) == 1


def test_an_exchange_has_the_time_that_its_metadata_say() -> None:
    metadata = {"session_id": "hero", "created_at": "2026-01-31T10:00:00Z"}
    assert ENTRIES["session_memory"]("hero_1", "text", metadata, TODAY).row["at"] == 1769853600
    assert ENTRIES["session_memory"]("hero_1", "text", {"session_id": "hero"}, TODAY).row["at"] > 1769853600


def test_the_calendar_of_a_story_is_no_time() -> None:
    metadata = {"world_id": "peaks", "date": "the third age", "time": "dusk"}
    assert ENTRIES["world_lore"]("peaks_1", "text", metadata, TODAY).unread == ()


def memories(model: Bags) -> reference_chroma.Rows:
    vectors = model.embed_texts(TEXTS)
    return {
        f"mem_{1706745600 + n}": (
            text,
            {"timestamp": f"2026-01-31T10:00:0{n}Z", "tags": ["preference,language", "", "naming"][n]},
            vectors[n].tolist(),
        )
        for n, text in enumerate(TEXTS)
    }


def story(model: Bags) -> dict[str, reference_chroma.Rows]:
    lore = model.embed_texts([*LORE.values()])
    message = "User: Who forged them?\nAI: Dragons."
    return {
        "world_lore": {
            id: (text, {"world_id": "crimson_peaks", "category": "geography"}, lore[n].tolist())
            for n, (id, text) in enumerate(LORE.items())
        },
        "session_memory": {
            "hero_s1_9f": (message, {"session_id": "hero_s1"}, model.embed_texts([message])[0].tolist())
        },
    }


def adopted(memory: Memory, path: Path, *, vectors: str = "") -> AdoptionReport:
    (survey,) = recognise(path, system="chroma-texts")
    return adopt_texts(memory, [survey], AdoptionRequest("", "", vectors), Progress())


@pytest.fixture
def memory(reopen: Callable[[], Memory]) -> Memory:
    return reopen()


@pytest.mark.slow
def test_memories_come_with_ids_times_tags_and_vectors(memory: Memory, bags: Bags, tmp_path: Path) -> None:
    reference_chroma.write(tmp_path / "app/data/chroma", {"memories": memories(Bags())})
    report = adopted(memory, tmp_path / "app")
    assert (len(report.taken), report.reused, report.embedded, report.refused) == (3, 3, 0, [])
    row = memory.memories.entries.get("mem_1706745600")
    assert (row["content"], row["tags"], row["timestamp"]) == (
        TEXTS[0],
        '["preference", "language"]',
        "2026-01-31T10:00:00Z",
    )
    (found,) = memory.memories.search_memory("TypeScript over JavaScript", limit=1)["results"]
    assert found["memory_id"] == "mem_1706745600"
    assert set(bags.requests) == {*TEXTS, "TypeScript over JavaScript"}  # the sample, and the question


@pytest.mark.slow
def test_adopting_again_changes_nothing_and_one_undo_takes_all_of_it_back(
    memory: Memory, tmp_path: Path
) -> None:
    reference_chroma.write(tmp_path / "chroma_db", story(Bags()))
    (tmp_path / "assets/worlds").mkdir(parents=True)
    (tmp_path / "assets/worlds/crimson_peaks.yaml").write_text("name: Peaks\nlore: A range of red mountains")
    report = adopted(memory, tmp_path)
    assert sorted(report.taken) == sorted([*LORE, "hero_s1_9f", "world crimson_peaks"])
    assert report.embedded == 0
    again = adopted(memory, tmp_path)
    assert (again.taken, len(again.present), again.refused) == ([], 4, [])
    assert len({row["world_id"] for row in memory.lore.entries.find()}) == 1
    assert (memory.places.worlds / "crimson_peaks.yaml").exists()

    outcome = memory.undo()
    assert outcome.refused == []
    assert [memory.lore.entries.count(), memory.session_memory.entries.count()] == [0, 0]
    assert memory.lore.worlds() == []
    assert not (memory.places.worlds / "crimson_peaks.yaml").exists()
    assert len(adopted(memory, tmp_path).taken) == 4  # after undo it comes again


@pytest.mark.slow
def test_chunks_in_chroma_that_a_worlds_file_does_not_have_stay(memory: Memory, tmp_path: Path) -> None:
    texts = ["A range of red mountains", "An older chapter"]
    rows = {
        f"crimson_peaks_base_lore_{n}": (text, {"world_id": "crimson_peaks"}, vector.tolist())
        for n, (text, vector) in enumerate(zip(texts, Bags().embed_texts(texts), strict=True))
    }
    reference_chroma.write(tmp_path / "chroma_db", {"world_lore": rows})
    (tmp_path / "worlds").mkdir()
    (tmp_path / "worlds/crimson_peaks.yaml").write_text("name: Peaks\nlore: A range of red mountains")
    adopted(memory, tmp_path)
    assert [row["text"] for row in memory.lore.entries.find()] == texts
    assert adopted(memory, tmp_path).taken == []
    memory.lore.put_file("crimson_peaks.yaml", b"name: Peaks\nlore: Green mountains")
    memory.lore.load_worlds()
    assert [row["text"] for row in memory.lore.entries.find()] == ["Green mountains"]  # as the file says now


@pytest.mark.slow
def test_vectors_of_another_model_are_kept_beside_and_the_texts_are_embedded(
    memory: Memory, bags: Bags, tmp_path: Path
) -> None:
    reference_chroma.write(tmp_path / "c", {"memories": memories(Bags(name="other"))})
    report = adopted(memory, tmp_path)
    assert report.embedded == 3
    assert any("not those of bags" in note for note in report.notes)
    assert memory.memories.search_memory(TEXTS[1], limit=1)["results"][0]["content"] == TEXTS[1]
    models = {one.model: one.count for one in memory.memories.entries.vectors_by_model()}
    assert models == {"bags": 3, "unknown": 3}


@pytest.mark.slow
def test_a_memory_of_the_same_second_here_keeps_its_id_and_the_other_gets_one(
    memory: Memory, clock: Callable[[], float], tmp_path: Path
) -> None:
    clock.now = 1706745600  # type: ignore[attr-defined]
    memory.memories.store_memory("Something else altogether")
    reference_chroma.write(tmp_path / "c", {"memories": memories(Bags())})
    for _ in range(2):
        report = adopted(memory, tmp_path)
        assert not report.refused
        assert {row["content"] for row in memory.memories.entries.find()} == {
            *TEXTS,
            "Something else altogether",
        }


@pytest.mark.slow
def test_what_somebody_removed_or_edited_since_stays_so(memory: Memory, tmp_path: Path) -> None:
    reference_chroma.write(tmp_path / "c", {"memories": memories(Bags())})
    adopted(memory, tmp_path)
    memory.memories.edit("mem_1706745601", content="The team meets on Tuesdays")
    memory.memories.entries.remove(["mem_1706745602"])
    report = adopted(memory, tmp_path)
    assert [one.item for one in report.refused] == ["mem_1706745602"]
    assert {row["content"] for row in memory.memories.entries.find()} == {
        TEXTS[0],
        "The team meets on Tuesdays",
    }


@pytest.mark.slow
def test_the_source_is_not_changed_and_entries_without_text_are_refused(
    memory: Memory, tmp_path: Path
) -> None:
    rows = {**memories(Bags()), "mem_9": ("", {"tags": "a"}, np.eye(1, 384)[0].tolist())}
    reference_chroma.write(tmp_path / "c", {"memories": rows})
    before = {path: path.read_bytes() for path in (tmp_path / "c").rglob("*") if path.is_file()}
    report = adopted(memory, tmp_path)
    assert [(one.item, one.reason) for one in report.refused] == [("mem_9", "the text is empty")]
    assert before == {path: path.read_bytes() for path in (tmp_path / "c").rglob("*") if path.is_file()}


_ADOPT_AND_DIE = """
import os, sys
from pathlib import Path
from store.adopting import chroma_texts, texts
from tests.store.adopting.test_chroma_texts import adopted
from store.memory.memory import Memory
from tests.store.memory.bags import Bags

chroma_texts._BATCH = 1
batches = []
def die_before_the_third(adoption, *given, take=texts.Adoption.take, **more):
    batches.append(given)
    if len(batches) == 3:
        os.kill(os.getpid(), 9)
    take(adoption, *given, **more)
texts.Adoption.take = die_before_the_third
adopted(Memory.open(Path(sys.argv[1]), embedder=Bags()), Path(sys.argv[2]))
"""


@pytest.mark.kills
def test_an_adoption_that_was_killed_goes_on_as_the_same_decision(
    reopen: Callable[[], Memory], tmp_path: Path
) -> None:
    reference_chroma.write(tmp_path / "c", {"memories": memories(Bags())})
    command = [sys.executable, "-W", "ignore", "-c", _ADOPT_AND_DIE, tmp_path / "res", tmp_path / "c"]
    assert subprocess.run(command, cwd=ROOT, check=False).returncode == -9
    memory = reopen()
    assert memory.memories.entries.count() == 2
    report = adopted(memory, tmp_path / "c")
    assert (len(report.taken), report.present) == (3, [])
    assert [decision.verb for decision in memory.log.find()] == ["adopt"]
    memory.undo()
    assert memory.memories.entries.count() == 0


@pytest.mark.slow
def test_a_chroma_moved_aside_is_offered_and_adopted_from_there(
    reopen: Callable[[], Memory], tmp_path: Path, chroma: None
) -> None:
    reference_chroma.write(tmp_path / "res/memory/chroma", story(Bags()))
    memory = reopen()
    memory.memories.store_memory("Chroma has something to follow")
    assert memory.wait_for_chroma(60)
    (finding,) = (one for one in doctor.check(memory) if one.kind == "files")
    assert "`adopt` with that folder takes over" in finding.remedy
    (place,) = (tmp_path / "res/memory").glob("foreign-*")
    assert len(adopted(memory, place).taken) == 3
    assert memory.lore.query_lore("crimson_peaks", "dragon fire")[0][0] == next(iter(LORE.values()))


def test_an_unknown_collection_is_named_and_taken_as_what_a_person_says(
    memory: Memory, tmp_path: Path
) -> None:
    rows = {"f1": ("A heron stands in the reeds.", {"width": 3}, [0.5] * 8)}
    reference_chroma.write(tmp_path / "chroma", {"frames": rows})
    (survey,) = recognise(tmp_path)
    (refusal,) = survey.refused
    assert (survey.found, refusal.item) == ((), "frames")
    assert refusal.reason.startswith("a collection of 1 entries of 8 numbers with width: no kind of memory")
    assert "--as memories" in refusal.reason
    for kind in ("memories", "documents", "world_lore", "session_memory"):
        (survey,) = recognise(tmp_path, system=kind)
        report = adopt_texts(memory, [survey], AdoptionRequest("", "", ""), Progress())
        assert (report.taken, report.refused) == (["f1"], [])
        (row,) = memory.kinds[kind].find()
        assert row[memory.kinds[kind].kind.text] == "A heron stands in the reeds."
