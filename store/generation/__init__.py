"""New coins from a language model: its context and its answer."""
