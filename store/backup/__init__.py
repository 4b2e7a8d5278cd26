"""Copy a library as it is at one moment, while others may write to it, and restore the copy.

A backup is a folder laid out like a root (`memecoins/`, `memory/`, `taxonomy.json`) with a `manifest.json`
that has the SHA-256 of every file. It has neither thumbnails nor Chroma's files, which can be rebuilt.
"""
