"""What is adopted, used and exported is read again by code written from the other programs' documents."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from store.adopting.system import AdoptionRequest
from store.adopting.systems import memory_system, recognise
from store.memory.exporting import export
from store.memory.memory import Memory
from store.progress import Progress
from tests.store.adopting import reference_chroma
from tests.store.adopting import reference_transcripts as transcripts
from tests.store.adopting.test_chroma_texts import memories, story
from tests.store.adopting.test_documents import ADA, rows, write
from tests.store.memory.bags import Bags


def adopt(memory: Memory, path: Path) -> None:
    for survey in recognise(path):
        if system := memory_system(survey.system):
            report = system.adopt(memory, survey, AdoptionRequest(""), Progress())
            assert not report.refused


def check(found: reference_chroma.Rows, given: reference_chroma.Rows) -> None:
    assert found.keys() == given.keys()
    for id, (text, metadata, vector) in given.items():
        assert found[id][:2] == (text, metadata)
        assert np.abs(np.asarray(found[id][2]) - vector).max() < 1e-6


@pytest.fixture
def memory(reopen: Callable[[], Memory]) -> Memory:
    return reopen()


@pytest.mark.slow
def test_memories_of_agents(memory: Memory, tmp_path: Path) -> None:
    given = memories(Bags())
    given["mem_1706745600"][1]["importance"] = 3  # what no column has
    reference_chroma.write(tmp_path / "data/chroma", {"memories": given})
    adopt(memory, tmp_path / "data")
    memory.memories.search_memory("which languages")
    memory.memories.edit("mem_1706745601", tags=["habits"])
    export(memory, tmp_path / "back", kinds=["memories"])
    given["mem_1706745601"][1]["tags"] = "habits"
    check(reference_chroma.read(tmp_path / "back", "memories"), given)


@pytest.mark.slow
def test_lore_and_sessions_of_a_story_engine(memory: Memory, tmp_path: Path) -> None:
    given = story(Bags())
    reference_chroma.write(tmp_path / "chroma_db", given)
    adopt(memory, tmp_path)
    memory.retrieve("Who forged the mountains?", world="crimson_peaks", character="hero", session="s1")
    export(memory, tmp_path / "back", kinds=["world_lore", "session_memory"])
    for name, collection in given.items():
        check(reference_chroma.read(tmp_path / "back", name), collection)


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_passages_of_a_pgvector_table(memory: Memory, tmp_path: Path, ending: str) -> None:
    adopt(memory, write(tmp_path / f"documents.{ending}", rows()))
    memory.documents.search("what is the liquidation threshold")
    back = tmp_path / f"back.{ending}"
    export(memory, back, kinds=["documents"], model=ADA)
    with back.open(newline="") as file:
        found = [json.loads(line) for line in file] if ending == "jsonl" else [*csv.DictReader(file)]
    for row, given in zip(found, rows(), strict=True):
        numbers, metadata = (
            json.loads(value) if isinstance(value, str) else value
            for value in (row["embedding"], row["metadata"])
        )
        assert (row["id"], row["content"], metadata) == (given["id"], given["content"], given["metadata"])
        assert np.abs(np.subtract(numbers, given["embedding"])).max() < 1e-6


def test_transcript_databases(memory: Memory, tmp_path: Path) -> None:
    path = transcripts.write(tmp_path / "s.db", "document")
    given = transcripts.read(path)
    adopt(memory, path)
    memory.transcripts.search("hooks", mode="full_text")
    export(memory, tmp_path / "back.db", kinds=["transcript_vectors"])
    messages, vectors = transcripts.read(tmp_path / "back.db")
    assert messages == given[0]
    assert vectors.keys() == {*given[1], "s1_msg_1_tool_call_0"}
    for id, (text, numbers) in given[1].items():
        assert vectors[id][0] == text
        assert np.abs(np.subtract(vectors[id][1], numbers)).max() < 1e-6
