"""The text memory around the coins: agents' memories, world lore, session memory, papers, transcripts.

    from store import Memory

    memory = Memory.open(Path("res"))
    memory.memories.store_memory("The team prefers short tickers", tags=["naming"])
    memory.lore.query_lore("crimson_peaks", "Who forged the mountains?")

Every search is exact, in memory; docs/memory.md says where the source of truth of each kind is.
"""
