"""Search on the server that the settings name, up to date with the library's last change."""

import threading

from store.catalog.catalog import Catalog
from store.chroma.server import ChromaServer, ServerLists
from store.disk.files import Disk
from store.disk.layout import Layout
from store.embedding.active_model import ActiveModel
from store.embedding.protocol import Embedder
from store.errors import ServerUnavailable
from store.progress import Progress
from store.search.directions import QueryDirections
from store.search.library_facts import LibraryFactsReader
from store.search.resident import ResidentVectors
from store.search.server_search import ServerSearch
from store.settings import settings


class SearchOnServer:
    """Connects at the first search; thread-safe."""

    def __init__(self, catalog: Catalog, layout: Layout, model: ActiveModel, disk: Disk) -> None:
        self._catalog = catalog
        self._model = model
        self._facts = LibraryFactsReader(catalog, layout, model, disk)
        self._lock = threading.Lock()
        self._connected: tuple[Embedder, QueryDirections, ServerLists] | None = None
        self._search: ServerSearch | None = None

    @property
    def reading(self) -> Progress:
        """Progress of the first reading of the vectors, which are added up and not kept."""
        return self._facts.reading

    def prepare(self) -> None:
        """Read what every search needs. Raises ModelUnavailable if the library's model cannot be used."""
        self._facts.facts()

    def search(self) -> ServerSearch:
        """A search over every library record as it is now.

        Raises ModelUnavailable if the model cannot be used, ServerUnavailable if no server is named.
        """
        facts, embedder = self._facts.facts(), self._model.embedder
        with self._lock:
            if self._connected is None or self._connected[0] is not embedder:
                self._disconnect()
                self._connected = embedder, QueryDirections(embedder), self._lists(embedder)
            if self._search is None or self._search.facts.keys is not facts.keys:
                _, directions, lists = self._connected
                self._search = ServerSearch(self._catalog, lists, facts, directions, embedder)
            return self._search

    def close(self) -> None:
        """End the connection, if there is one."""
        with self._lock:
            self._disconnect()

    def _lists(self, embedder: Embedder) -> ServerLists:
        server = ChromaServer.configured()
        if server is None:
            raise ServerUnavailable(
                "MEMEDEX_SEARCH=server searches a Chroma server: name it in MEMEDEX_CHROMA_URL"
            )
        return ServerLists(server, model=embedder.name, owner=self._catalog.owner)

    def _disconnect(self) -> None:
        connected, self._connected, self._search = self._connected, None, None
        if connected:
            connected[2].close()


def chosen_search(
    catalog: Catalog, layout: Layout, model: ActiveModel, disk: Disk, resident: ResidentVectors
) -> SearchOnServer | ResidentVectors:
    """What the settings search: a server, or the vectors in memory."""
    is_on_server = settings().search == "server"
    return SearchOnServer(catalog, layout, model, disk) if is_on_server else resident
