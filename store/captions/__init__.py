"""Captions: drafts of people, suggestions of models, revisions, and search and replace."""
