"""The same picture or name again: who looks like whom, how sure that is, and what people said about it."""
