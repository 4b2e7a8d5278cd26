"""A Chroma server as the place of our collections, and which place the settings name."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from store.chroma.collections import Collections, FolderCollections
from store.chroma.place import ChromaPlace, Metadata
from store.chroma.process import ChromaProcess
from store.chroma.server import ChromaServer, ServerCollections
from store.settings import settings


class ServerPlace(ChromaPlace):
    """A database on a server, of which we see only our collections."""

    has_files = True  # or not: it is asked in the process that compares

    def __init__(self, server: ChromaServer) -> None:
        self._server = server
        self.name = str(server)

    @property
    def stamp(self) -> str:
        """The server's name: what others did there shows only in a comparison."""
        return self.name

    def lacks(self, metadata: Metadata) -> bool:
        """As `ChromaPlace.lacks`."""
        return self._server.lacks(metadata)

    def collections(self, metadata: Metadata) -> Callable[[], Collections]:
        """What opens the collections on the server."""
        return partial(ServerCollections, self._server, metadata)

    def foreign(self) -> str:
        """Nothing: a collection of others is refused when it is opened (OthersCollection)."""
        return ""

    def clear_the_way(self) -> None:
        """Nothing: what others have on the server stays where it is."""

    def remove_own(self) -> None:
        """Nothing: `begin` replaces ours."""

    def begin(self, chroma: ChromaProcess, metadata: Metadata) -> None:
        """Replace our collections by empty ones."""
        for name, fields in metadata.items():
            chroma.begin(name, model=fields["model"])

    def flush(self) -> None:
        """Nothing: the server writes its own files."""


def describe_place() -> str:
    """Where the collections are, for people: "off", a server, or "" for the library's folder."""
    if settings().chroma == "off":
        return "off"
    server = ChromaServer.configured()
    return str(server) if server else ""


def is_there() -> bool:
    """Whether the place of the settings can be asked now: a folder always, a server that answers."""
    server = ChromaServer.configured()
    return server is None or server.answers()


def collections_at(folder: Path, metadata: Metadata) -> Collections:
    """Our collections where the settings say: on a server, or in this folder."""
    server = ChromaServer.configured()
    return ServerCollections(server, metadata) if server else FolderCollections(folder, metadata)
