"""New coins from a language model: `context` gives it examples, `coin_generator` asks and reads answers."""

__all__ = ["coin_generator", "context"]
