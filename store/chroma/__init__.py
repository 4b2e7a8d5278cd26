"""Chroma, which follows the catalog, in a process of its own."""
