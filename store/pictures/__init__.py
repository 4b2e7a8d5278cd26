"""Findings of programs in the library's pictures: text, and unfit content."""
