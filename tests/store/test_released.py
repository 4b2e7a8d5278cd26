"""A library and a text memory as each released version left them, made with its own command line."""

import json
import shutil
from pathlib import Path

import pytest

from store.catalog.filters import Filter
from store.chroma.follower import ChromaFollower
from store.embedding import embedding_cache
from store.maintenance import doctor
from store.memory.memory import Memory
from store.memory.trust import replay
from store.runtime import open_library
from store.search.query import Part, Query
from tests.store.memory.bags import Bags
from tests.store.memory.traces import traces
from tests.waiting import eventually

RELEASED = sorted((Path(__file__).parent / "released").glob("*.zip"))


@pytest.fixture(params=RELEASED, ids=[path.stem for path in RELEASED])
def released(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The root of a released version, without Chroma's folders, which can be made again."""
    root = tmp_path / "res"
    shutil.unpack_archive(request.param, root)
    return root


def test_a_library_keeps_its_coins_captions_vectors_and_history(released: Path) -> None:
    with open_library(released) as library:
        assert library.counts() == {"pending": 0, "approved": 1, "library": 2, "trash": 1}
        dog, frog = library.find(Filter(tier="library"), sort="name")
        assert (frog.name, frog.caption["entity"]) == ("Frog", "a green frog with a white belly")
        assert (dog.name, dog.tags) == ("Dog", ["dog"])
        verbs = [event.verb for event in library.history(address=frog.address)]
        assert verbs == ["promote", "caption", "approve", "import"]
        [rejected] = [event for event in library.history() if event.verb == "reject"]
        assert (rejected.actor, rejected.reason) == ("ann", "scam")
        assert library.model == "offline"
        found = library.search(Query((Part(like=frog.address),)))
        assert [hit.address for hit in found.hits] == [dog.address]  # by the vectors that are stored
        assert library.wait_for_chroma(60)
        at_once = [finding.what for finding in doctor.check(library) if finding.is_fault]
        assert at_once == [], "also before anything embeds again"
        library.work_in_background()  # embeds with what the model makes today
        assert eventually(lambda: not embedding_cache.is_outdated(library.catalog, library.embedder))
        assert eventually(lambda: not library.jobs.open())
        assert library.wait_for_chroma(60)
        assert [finding.what for finding in doctor.check(library) if finding.is_fault] == []
        library.undo(actor="ann")
        assert library.counts()["trash"] == 0


def test_a_memory_keeps_its_entries_and_takes_new_ones(
    released: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ChromaFollower, "wake", lambda self: None)
    with Memory.open(released, models=lambda name: Bags()) as memory:
        assert not memory.status().faults
        texts = {kind: entries.find() for kind, entries in memory.kinds.items() if kind != "transcripts"}
        for kind, text in {
            "memories": "The vault is guarded by Mira.",
            "world_lore": "The harbour gate closes at dusk.",
            "session_memory": "I do.",
            "documents": "five percent of the collateral",
        }.items():
            [entry] = texts[kind]
            assert text in entry[memory.kinds[kind].kind.text]
        memory.memories.store_memory("The gate closes at dusk.")
        assert memory.status().counts["memories"] == 2


def test_contexts_that_a_released_version_kept_as_lines_are_still_listed(
    released: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ChromaFollower, "wake", lambda self: None)
    kept = released / "memory" / "contexts.jsonl"
    lines = [
        {
            "id": f"{number}f", "at": 1769853600.25 + number, "kind": "session_memory", "scope": scope,
            "actor": "ann", "agent": "claude", "via": "MCP", "question": "Who guards the zanzibarium?",
            "n": 3, "where": {"session_id": scope}, "threshold": None,
            "hits": [{"id": id, "version": 1, "score": 0.61}],
        }
        for number, (scope, id) in enumerate([("mira_one", "mira_one_1"), ("elf_two", "elf_two_1")])
    ]  # fmt: skip
    kept.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    with Memory.open(released, models=lambda name: Bags()) as memory:
        assert [(one.id, one.created_at, one.question) for one in replay.contexts(memory)] == [
            ("1f", 1769853601.25, "Who guards the zanzibarium?"),
            ("0f", 1769853600.25, "Who guards the zanzibarium?"),
        ]
        assert not kept.exists()
        memory.session_memory.delete_session("one")
        assert replay.contexts(memory) == []
        assert traces(released, ["zanzibarium"], []) == {}
