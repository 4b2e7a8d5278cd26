"""Files on disk: layout, locks, SQLite, pictures and sidecars."""
