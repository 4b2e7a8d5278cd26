"""Check a library, and repair it."""
