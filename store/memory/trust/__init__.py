"""Whom the text memory obeys: what waits for review, merges, and contexts as they were handed out."""
