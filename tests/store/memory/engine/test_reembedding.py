"""A memory changes its model only after all entries are embedded."""

import pytest

from store.memory.engine.reembedding import reembed
from store.memory.memory import Memory
from store.progress import Progress
from tests.store.memory.bags import Bags


@pytest.mark.usefixtures("chroma")
def test_the_model_is_switched_only_after_all_entries_are_embedded(memory_with_lore: Memory) -> None:
    passages, other = memory_with_lore.lore.passages, Bags(name="other", dimensions=32)
    progress = Progress()
    progress.cancel()
    assert not reembed(passages, other, progress=progress)
    assert passages.model == "bags"
    assert len(memory_with_lore.lore.query_lore("peaks", "Dragón")[0]) == 3
    assert reembed(passages, other)
    assert (passages.model, passages.to_embed()) == ("other", 0)
    assert {row["embedding_model"] for row in passages.find()} == {"other"}
    assert len(memory_with_lore.lore.query_lore("peaks", "Dragón")[0]) == 3
    assert memory_with_lore.wait_for_chroma(60)
    assert memory_with_lore.check_chroma() == []
