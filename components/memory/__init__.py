"""Parts of the page about lore and memory."""
