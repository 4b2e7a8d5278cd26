"""Measure search quality, and how well captions fit their pictures."""

__all__ = ["evaluation", "marks", "similarity"]
