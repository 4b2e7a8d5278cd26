"""A story's memory: worlds, lore, sessions, and the context made from them."""
