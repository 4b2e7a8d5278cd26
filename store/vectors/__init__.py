"""The library's vectors in memory: blocks, matrices, their files, and weights."""
