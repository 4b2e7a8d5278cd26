"""Chroma's client over a folder of this machine, without telemetry."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chromadb.api import ClientAPI


def open_client(folder: Path) -> "ClientAPI":
    """A client over this folder, which is made if there is none."""
    import chromadb
    from chromadb.config import Settings

    folder.mkdir(parents=True, exist_ok=True)
    return chromadb.PersistentClient(str(folder), settings=Settings(anonymized_telemetry=False))
