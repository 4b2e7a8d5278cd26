"""Inspect the text memory: probes, previews, connections, duplicates and health."""
