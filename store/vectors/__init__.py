"""The library's vectors in memory: matrices, their rows and files, and weights."""
