"""The one write path of a library (design section 4), and undo."""
