"""A Chroma client over a local folder, without telemetry."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chromadb.api import ClientAPI


def open_client(folder: Path) -> "ClientAPI":
    """A client over this folder, which is created if it is missing."""
    import chromadb
    from chromadb.config import Settings

    folder.mkdir(parents=True, exist_ok=True)
    return chromadb.PersistentClient(str(folder), settings=Settings(anonymized_telemetry=False))
