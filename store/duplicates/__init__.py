"""Copies: records with the same or a confusable picture or name, how likely, and people's verdicts."""
