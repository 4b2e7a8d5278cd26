"""Chroma, which follows what was decided, in a process of its own."""
