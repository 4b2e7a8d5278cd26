"""The names of the references: imported, called and answered as their documents say."""

import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

import store
from store import (
    RagManager,
    add_lore,
    add_memory,
    delete_session_memory,
    query_lore,
    query_memory,
    search_memory,
    store_memory,
)
from store.errors import BadSource
from store.memory.memory import Memory
from store.settings import settings
from tests.store.memory.bags import Bags

SIGNATURES = {
    "store_memory": {"content": ..., "tags": None},
    "search_memory": {"query": ..., "limit": 5},
    "add_lore": {"world_id": ..., "lore_id": ..., "text": ..., "metadata": None},
    "query_lore": {"world_id": ..., "query": ..., "n_results": 3, "max_chars": 1000},
    "add_memory": {"session_id": ..., "memory_id": ..., "text": ...},
    "query_memory": {"session_id": ..., "query": ..., "n_results": 3, "max_chars": 1500},
    "delete_session_memory": {"session_id": ...},
}


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The root of the settings, open with a model without weights."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(settings(), "root", tmp_path / "res")
    with Memory.open(tmp_path / "res", embedder=Bags()):
        yield tmp_path / "res"


def parameters(function: object) -> dict[str, object]:
    given = inspect.signature(function).parameters.values()  # type: ignore[arg-type]
    return {one.name: ... if one.default is one.empty else one.default for one in given}


@pytest.mark.parametrize("name", SIGNATURES)
def test_each_name_has_the_parameters_of_its_reference(name: str) -> None:
    assert parameters(getattr(store, name)) == SIGNATURES[name]
    if hasattr(RagManager, name):
        assert parameters(getattr(RagManager(), name)) == SIGNATURES[name]


def test_a_memory_is_stored_and_found_as_in_the_reference() -> None:
    stored = store_memory("User prefers TypeScript over JavaScript", tags=["preference", "language"])
    assert stored == {
        "memory_id": stored["memory_id"],
        "success": True,
        "timestamp": stored["timestamp"],
        "embedding_dimensions": 384,
    }
    assert search_memory("TypeScript over JavaScript", limit=1) == {
        "results": [
            {
                "memory_id": stored["memory_id"],
                "content": "User prefers TypeScript over JavaScript",
                "timestamp": stored["timestamp"],
                "relevance_score": pytest.approx(77.5, abs=5),
                "tags": ["preference", "language"],
            }
        ],
        "total_results": 1,
        "query_embedding_generated": True,
    }
    for call in (lambda: store_memory(""), lambda: search_memory(""), lambda: search_memory("x", limit=21)):
        with pytest.raises(ValueError, match=r"empty|limit"):
            call()


def test_lore_and_exchanges_are_answered_as_pairs_and_a_session_is_deleted() -> None:
    add_lore("peaks", "forge", "Dwarves forged the peaks.", {"category": "geography"})
    add_memory("mira_s1", "m1", "User: Who forged?\nAI: Dwarves.")
    assert query_lore("peaks", "Who forged the peaks?", n_results=2) == (["Dwarves forged the peaks."], False)
    assert query_lore("peaks", "Who forged the peaks?", max_chars=10)[1], "a warning, nothing is cut"
    assert query_memory("mira_s1", "forged") == (["User: Who forged?\nAI: Dwarves."], False)
    assert query_lore("nowhere", "x") == query_memory("nobody", "x") == ([], False)
    delete_session_memory("mira_s1")
    assert query_memory("mira_s1", "forged") == ([], False)


def test_deleting_a_session_without_memory_is_silent(root: Path) -> None:
    delete_session_memory("never_used")
    RagManager(db_path=root).delete_session_memory("never_used")


def test_the_inspection_of_a_collection_runs_as_the_reference_prints_it(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rag_manager = RagManager(db_path=str(root))
    rag_manager.add_lore("peaks", "b", "Dragons sleep in the east." * 9, {"category": "geography"})
    rag_manager.add_lore("mires", "a", "Frogs rule the west.")
    rag_manager.add_memory("mira_s1", "m1", "User: hi\nAI: ho")

    count = rag_manager.collection.count()
    print(f"Total lore documents: {count}")
    results = rag_manager.collection.peek(limit=10)
    for doc, meta in zip(results["documents"], results["metadatas"], strict=True):
        print(f"World: {meta['world_id']}")
        print(f"Content: {doc[:100]}...\n")

    assert capsys.readouterr().out.splitlines()[:3] == [
        "Total lore documents: 2", "World: peaks", f"Content: {('Dragons sleep in the east.' * 9)[:100]}...",
    ]  # fmt: skip
    assert results["metadatas"] == [{"category": "geography", "world_id": "peaks"}, {"world_id": "mires"}]
    assert [vector is not None and len(vector) for vector in results["embeddings"]] == [384, 384]
    assert rag_manager.collection.peek(1)["ids"] == ["peaks_b"]
    assert rag_manager.memory_collection.count() == 1
    assert rag_manager.memory_collection.peek()["metadatas"] == [{"session_id": "mira_s1"}]


def test_config_yaml_names_the_root(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = tmp_path / "chroma_db"
    folder.mkdir()
    (folder / "chroma.sqlite3").write_bytes(b"of another program")
    Path("config.yaml").write_text('model: small\ndatabase_path: "./chroma_db"\n')
    assert RagManager().root == folder
    assert "`python -m store adopt` takes over the texts" in caplog.text
    with Memory.open(folder) as memory:
        assert RagManager().collection.count() == 0
        assert memory.status().can_write
    assert (folder / "chroma.sqlite3").read_bytes() == b"of another program"
    assert (folder / "memory").is_dir()
    Path("config.yaml").write_text("database_path: [")
    with pytest.raises(BadSource, match=r"config\.yaml cannot be read"):
        search_memory("x")
    Path("config.yaml").write_text("- only a list")
    assert RagManager().root == settings().root


def test_a_manager_keeps_its_folder_and_outlives_a_memory_that_was_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rag_manager = RagManager(db_path="./stories")
    rag_manager.add_lore("peaks", "a", "Frogs rule.")
    monkeypatch.chdir(tmp_path.parent)
    Memory.open(tmp_path / "stories").close()
    assert rag_manager.collection.count() == 1
    Memory.open(tmp_path / "stories").close()
