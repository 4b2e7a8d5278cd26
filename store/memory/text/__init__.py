"""Plain text of the memory: chunks, tokens, extraction and contradictions."""
