"""Entries with ids of any length reach a server that takes 128 bytes."""

from pathlib import Path

import pytest

from store.memory.memory import Memory
from store.settings import settings
from tests.store.chroma.chroma_cloud import ID_BYTES, KEY, chroma_cloud
from tests.store.chroma.chroma_run import ChromaRun, entries
from tests.store.memory.bags import Bags
from tests.waiting import eventually

NEVER = 1_000_000

pytestmark = pytest.mark.usefixtures("closed_connections")


def test_a_session_with_a_very_long_key_reaches_chroma_cloud_and_leaves_nothing_once_it_is_deleted(
    tmp_path: Path, server: ChromaRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "ä" * ID_BYTES
    with monkeypatch.context() as patch, chroma_cloud(server, busy_every=NEVER) as cloud:
        patch.setattr("store.chroma.server.CLOUD", "127.0.0.1")
        patch.setenv("MEMEDEX_CHROMA_URL", cloud.url)
        patch.setenv("MEMEDEX_CHROMA_API_KEY", KEY)
        settings.cache_clear()
        with Memory.open(tmp_path / "res", embedder=Bags()) as memory:
            memory.sessions.add_memory("one", "dawn", "The vault opens at dawn.")
            memory.sessions.add_memory(key, "swamp", "The swamp has frogs.")
            assert eventually(lambda: memory.wait_for_chroma(5))
            assert memory.check_chroma() == []
            assert len(stored := entries(server)["session_memory"]) == 2
            assert max(len(id.encode()) for id in stored) <= ID_BYTES
            memory.sessions.delete_session(key)
            assert eventually(lambda: memory.wait_for_chroma(5))
            assert memory.check_chroma() == []
        assert not cloud.refused
    settings.cache_clear()
    assert len(entries(server)["session_memory"]) == 1
