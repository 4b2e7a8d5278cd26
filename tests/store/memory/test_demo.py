"""The demo can be loaded again."""

from collections.abc import Callable

from store.memory import demo
from store.memory.memory import Memory
from tests.store.memory.bags import Bags


def test_loading_the_demo_again_imports_nothing(
    memory: Memory, reopen: Callable[[], Memory], bags: Bags
) -> None:
    counts = demo.load(memory)
    assert all(counts.values())
    assert len(memory.lore.worlds()) == 4
    assert set(memory.protocols()) == {"harbor", "millrace"}
    assert memory.transcripts.count_events() == 10
    memory.memories.edit("mem_1782907200", content="edited since")
    asked = len(bags.requests)
    assert demo.load(reopen()) == counts
    assert len(bags.requests) == asked, "nothing was embedded again"
