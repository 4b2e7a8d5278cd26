"""Transcripts of agents: files, events, search and migration."""
