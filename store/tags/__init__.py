"""The taxonomy of tags, and its file."""
