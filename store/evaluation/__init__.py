"""Measure search quality, and how well captions fit their pictures."""
