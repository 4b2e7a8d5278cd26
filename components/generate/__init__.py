"""Ask a language model for a new coin, with examples and context."""
