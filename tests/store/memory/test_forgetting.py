"""What was deleted for good is in no file below the root: database, full text, Chroma, history, logs."""

from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from store.memory.engine.reembedding import reembed
from store.memory.memory import Memory
from store.settings import settings
from tests.store.memory.bags import Bags
from tests.store.memory.traces import traces

WORDS = ["zanzibarium", "xylophonist"]


@pytest.mark.usefixtures("chroma", "chroma_in_own_process")
def test_a_deleted_session_is_in_no_log_of_any_process(
    reopen: Callable[[], Memory], bags: Bags, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMEDEX_RETRIEVAL_LOG", "texts")
    settings.cache_clear()
    try:
        memory = reopen()
        root = memory.places.root
        for number in range(5):
            memory.session_memory.add_memory("elf_xylophonist", f"m{number}", f"zanzibarium {number}")
            memory.session_memory.add_memory("orc_s2", f"m{number}", f"plain exchange {number}")
        memory.retrieve("zanzibarium", world="peaks", character="elf", session="xylophonist")
        with Memory.open_for_reading(root, embedder=bags) as reader:
            reader.session_memory.query_memory("elf_xylophonist", "zanzibarium")
            assert memory.wait_for_chroma(60)
            assert {"retrievals.sqlite3-wal", "memory.sqlite3-wal"} <= traces(root, WORDS, []).keys()
        assert memory.session_memory.delete_session("xylophonist") == {"elf_xylophonist": 5}
        vectors = [*bags.embed_texts([f"zanzibarium {number}" for number in range(5)])]
        assert traces(root, WORDS, vectors) == {}
        assert memory.wait_for_chroma(60)
        memory.close()
        assert traces(root, WORDS, vectors) == {}, "and after closing"
    finally:
        settings.cache_clear()


class Dense(Bags):
    """A vector for each text that shares no number with any other."""

    def embed_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        seeds = [int.from_bytes(sha256(f"{self.name} {text}".encode()).digest()[:8]) for text in texts]
        rows = np.array([np.random.default_rng(seed).standard_normal(self.dimensions) for seed in seeds])
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


@pytest.mark.usefixtures("chroma", "chroma_in_own_process")
def test_deleted_vectors_are_in_no_file(tmp_path: Path) -> None:
    texts = [f"text number {number} of many" for number in range(30)]
    vectors = [*Dense(name="first").embed_texts(texts)]
    with Memory.open(tmp_path / "res", embedder=Dense(name="first")) as memory:
        for text in texts:
            memory.memories.store_memory(text)
        entries = memory.memories.entries
        entries.remove([entries.find(limit=1)[0]["id"]])
        assert memory.wait_for_chroma(60)
        assert reembed(entries, Dense(name="second"))
        assert memory.wait_for_chroma(60)
        assert "memory.sqlite3-wal" in traces(memory.places.root, [], vectors)
        gone = entries.delete_vectors("first")
        assert gone
        assert gone.count == 30, "the removed one's too"
        assert traces(memory.places.root, [], vectors) == {}
        assert memory.wait_for_chroma(60)
        assert memory.check_chroma() == []
    assert traces(tmp_path / "res", [], vectors) == {}, "and after closing"


def test_a_deleted_session_is_in_no_daily_copy_and_in_no_damaged_file(tmp_path: Path, bags: Bags) -> None:
    root = tmp_path / "res"
    with Memory.open(root, embedder=bags) as memory:
        memory.session_memory.add_memory("elf_xylophonist", "m1", "zanzibarium")
        memory.session_memory.add_memory("orc_s2", "m1", "a plain exchange")
    copies = root / "memory" / "snapshots" / "memory"
    damaged = root / "memory" / "memory.sqlite3.damaged-7"
    damaged.write_bytes(b"zanzibarium")
    assert any(b"zanzibarium" in copy.read_bytes() for copy in copies.iterdir())
    with Memory.open(root, embedder=bags) as memory:
        memory.session_memory.delete_session("xylophonist")
        assert traces(root, WORDS, [*bags.embed_texts(["zanzibarium"])]) == {}
    [copy] = copies.iterdir()
    assert b"a plain exchange" in copy.read_bytes(), "a new one was made on closing, at the latest"
