"""Read a library without changing it."""
