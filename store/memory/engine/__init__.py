"""The engine under every kind of memory: entries, history, vectors and undo."""
