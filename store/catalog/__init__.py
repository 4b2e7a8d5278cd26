"""The catalog, one SQLite file: rows, filters, history and named values."""

__all__ = [
    "confusables",
    "filter_conditions",
    "filter_syntax",
    "history",
    "named_values",
    "query_grammar",
    "replication",
]
