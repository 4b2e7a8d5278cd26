"""The nearest entries of the collections on a server, for a search that has no vectors in memory."""

import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from store.chroma.collections import COLLECTIONS, made_with
from store.chroma.process import ServerAway
from store.chroma.server import CLOUD_BATCH, ChromaServer, ServerCollections
from store.errors import ServerUnavailable
from store.records import Facet

if TYPE_CHECKING:
    from chromadb import Where

_TIMEOUT = 30.0  # seconds for one answer, while a person waits
_TRIES = 2
_AT_ONCE = 5  # calls of all searches together; Chroma Cloud takes 10, and the follower makes one more


Limits = Mapping[str, Any]  # what a list is restricted to, in Chroma's words for metadata; {}: to nothing
EVERYTHING: Limits = {}
Vector = NDArray[np.float32]
Nearest = tuple[list[str], list[float]]  # ids, and cosines with the direction as it was given


class ServerLists:
    """Asks the server's five collections; thread-safe. Every call raises ServerUnavailable if it cannot."""

    def __init__(self, server: ChromaServer, *, model: str, owner: str) -> None:
        self._server = server
        self._model = model
        self._lock = threading.Lock()
        self._collections = ServerCollections(
            server,
            dict.fromkeys(COLLECTIONS.values(), made_with(model, owner)),
            tries=_TRIES,
            timeout=_TIMEOUT,
        )
        self._calls = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="memedex-server")

    @property
    def most(self) -> int | None:
        """How many results the server gives at most; None if it gives any number."""
        return CLOUD_BATCH if self._server.is_cloud else None

    def nearest(
        self, directions: Mapping[Facet, Vector], *, n: int, limits: Limits = EVERYTHING
    ) -> dict[Facet, Nearest]:
        """The `n` entries nearest to each direction (d,), which may have any length but zero.

        Raises ServerUnavailable if the server is away or does not have the collections yet.
        """
        try:
            try:
                return self._ask(directions, n, limits)
            except _missing():  # it came back empty, or its collections were made again
                self._collections.clear_collection_cache()
                return self._ask(directions, n, limits)
        except _missing() as error:
            raise ServerUnavailable(
                f"{self._server} does not have the library's collections yet; search works once it does"
            ) from error
        except ServerAway as error:
            raise ServerUnavailable(str(error)) from error

    def close(self) -> None:
        """End the connection."""
        self._calls.shutdown(wait=False, cancel_futures=True)
        self._collections.close()

    def _ask(self, directions: Mapping[Facet, Vector], n: int, limits: Limits) -> dict[Facet, Nearest]:
        with self._lock:  # each is opened once
            for facet in directions:
                self._check_model(COLLECTIONS[facet])
        asked = {
            facet: self._calls.submit(self._nearest, COLLECTIONS[facet], direction, n, limits)
            for facet, direction in directions.items()
        }
        return {facet: future.result() for facet, future in asked.items()}

    def _check_model(self, name: str) -> None:
        if (model := self._collections.model(name)) != self._model:
            self._collections.clear_collection_cache()
            raise ServerUnavailable(
                f"{name} on {self._server} still has the vectors of {model}; "
                f"search works when those of {self._model} are there"
            )

    def _nearest(self, name: str, direction: Vector, n: int, limits: Limits) -> Nearest:
        ids, distances = self._collections.nearest_with_distances(
            name,
            direction,
            n=n,
            where=cast("Where | None", limits or None),
        )
        length = float(np.linalg.norm(direction))
        return ids, [length * (1.0 - distance) for distance in distances]


def _missing() -> type[Exception]:
    """What chromadb raises for a collection that is not there; chromadb loads slowly."""
    from chromadb.errors import NotFoundError

    return NotFoundError
