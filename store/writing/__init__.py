"""The one write path of a library, and undo."""
