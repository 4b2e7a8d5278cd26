"""Every filter in every kind: what has it answers, what has not refuses it by name."""

import json
from pathlib import Path
from typing import Any

import pytest

from store.memory.engine.errors import InvalidInput, UnknownEntry
from store.memory.memory import Memory
from store.memory.searching import SearchFilters
from store.memory.values import KINDS
from tests.store.memory.conftest import Clock

DAY = 86_400
TEXT = {
    "memories": "content",
    "world_lore": "text",
    "session_memory": "text",
    "documents": "content",
    "transcript_vectors": "source_text",
}


@pytest.fixture
def stocked(memory: Memory, clock: Clock, tmp_path: Path) -> Memory:
    """In each kind an older and a newer entry about frogs, under two names."""
    for number, (name, text) in enumerate((("one", "frog pond old"), ("two", "frog pond new"))):
        memory.memories.store_memory(text, ["both", name])
        memory.lore.add_lore(name, "1", text)
        memory.session_memory.add_memory(name, "1", text)
        memory.documents.import_document(Path(f"{name}.md"), protocol=name, content=text.encode())
        folder = tmp_path / "projects" / f"p-{name}" / "sessions" / name
        folder.mkdir(parents=True)
        at = f"2026-01-{30 + number}T10:00:00Z"
        (folder / "transcript.jsonl").write_text(json.dumps({"role": "user", "content": text, "ts": at}))
        memory.transcripts.import_sessions([folder], user_id=f"u-{name}")
        clock.now += DAY
    clock.now -= 2 * DAY
    return memory


def found(stocked: Memory, kind: str, **filters: Any) -> list[str]:
    rows = stocked.search("frog pond", kind=kind, filters=SearchFilters(**filters))
    return [row[TEXT[kind]] for row in rows]


@pytest.mark.parametrize("kind", KINDS)
def test_dates_filter_every_kind(stocked: Memory, clock: Clock, kind: str) -> None:
    between = clock.now + DAY / 2 - (DAY if kind == "transcript_vectors" else 0)
    assert found(stocked, kind, since=between) == ["frog pond new"]
    assert found(stocked, kind, until=between) == ["frog pond old"]
    assert found(stocked, kind, since=between, until=between) == []


@pytest.mark.parametrize("kind", KINDS[1:])
def test_a_world_session_or_protocol_filters_its_kind(stocked: Memory, kind: str) -> None:
    assert found(stocked, kind, scope="two") == ["frog pond new"]
    with pytest.raises(UnknownEntry, match="two"):
        found(stocked, kind, scope="twoo")


@pytest.mark.parametrize("filters", [{"user": "u-two"}, {"project": "p-two"}], ids=str)
def test_users_and_projects_are_those_of_transcripts(stocked: Memory, filters: dict[str, Any]) -> None:
    assert found(stocked, "transcript_vectors", **filters) == ["frog pond new"]
    for kind in KINDS[:-1]:
        with pytest.raises(InvalidInput, match="belong to no"):
            found(stocked, kind, **filters)


def test_tags_are_those_of_memories_and_all_have_to_be_there(stocked: Memory) -> None:
    assert found(stocked, "memories", tags=["both", "two"]) == ["frog pond new"]
    assert found(stocked, "memories", tags=["one", "two"]) == []
    for kind in KINDS[1:]:
        with pytest.raises(InvalidInput, match="not tags"):
            found(stocked, kind, tags=["two"])


@pytest.mark.parametrize("kind", KINDS)
def test_entries_below_min_score_are_near_misses_when_asked_for(stocked: Memory, kind: str) -> None:
    assert len(found(stocked, kind, min_score=70)) == 2, "a cosine of 2 / √6"
    assert found(stocked, kind, min_score=98) == []
    rows = stocked.search("frog pond", kind=kind, filters=SearchFilters(min_score=98, near_misses=1))
    assert [row["near_miss"] for row in rows] == [True]
    for wrong in ({"min_score": 101}, {"near_misses": -1}):
        with pytest.raises(InvalidInput):
            found(stocked, kind, **wrong)


@pytest.mark.parametrize("kind", KINDS)
def test_marginal_relevance_prefers_what_says_something_else(
    stocked: Memory, tmp_path: Path, kind: str
) -> None:
    memory, other = stocked, "pond where a turtle swims alone, without a frog"
    if kind == "documents":
        memory.documents.import_document(Path("x.md"), protocol="x", content=other.encode())
    elif kind == "transcript_vectors":
        (tmp_path / "x.jsonl").write_text(json.dumps({"role": "user", "content": other}))
        memory.transcripts.import_sessions([tmp_path / "x.jsonl"])
    else:
        place = {} if kind == "memories" else {"scope": "one", "name": "9"}
        stocked.store(other, kind=kind, **place)
    plain = stocked.search("frog pond", kind=kind, limit=2)
    varied = stocked.search("frog pond", kind=kind, limit=2, filters=SearchFilters(mmr=0.1))
    assert {row[TEXT[kind]][:9] for row in plain} == {"frog pond"}
    assert other in {row[TEXT[kind]] for row in varied}
    with pytest.raises(InvalidInput, match="λ"):
        found(stocked, kind, mmr=2)
