"""Files on disk: layout, locks, SQLite, pictures and sidecars."""

__all__ = ["csv", "files", "images", "thumbnails"]
