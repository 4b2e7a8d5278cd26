"""The catalog, one SQLite file: rows, filters, history and named values."""
