"""A library copied as it was at one moment, whoever writes to it meanwhile, and put back.

A backup is a folder laid out like a root (`memecoins/`, `memory/`, `taxonomy.json`) with a `manifest.json`
that holds the SHA-256 of every file. Thumbnails and Chroma's files are not in it: they are made anew.
"""

from store.backup.making import backup
from store.backup.putting_back import Restored, restore_backup

__all__ = ["Restored", "backup", "restore_backup"]
