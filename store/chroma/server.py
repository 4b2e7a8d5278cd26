"""Our collections on a Chroma server or on Chroma Cloud, instead of in a folder, and searches there."""

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from store.chroma.collections import COLLECTIONS, INDEX, Collections, Metadata, Point, made_with
from store.chroma.contents import MARK
from store.chroma.process import ServerAway
from store.disk.files import content_hash
from store.errors import ServerUnavailable
from store.fetching.retry_after import seconds_to_wait
from store.records import Facet
from store.settings import settings

if TYPE_CHECKING:
    from chromadb import Where
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection
    from chromadb.auth import UserIdentity
    from httpx import Response

T = TypeVar("T")

CLOUD = "api.trychroma.com"
# Chroma Cloud's quotas: records of one write, and results of one `get` or `query`.
# https://docs.trychroma.com/cloud/quotas-limits
CLOUD_BATCH = 300
BATCH = 1_000  # below the 5,461 records that a server of chromadb 1.5.9 takes at once
_TRIES = 5  # of one request to a busy server
_TIMEOUT = 10.0  # seconds for a request that asks nothing
_ANSWER = 30.0  # seconds for one that reads or writes a batch
_BUSY = 429  # HTTP: too many requests
_KEY_REFUSED = (401, 403)  # HTTP: who asks is not known, or not permitted
_LONGEST_WAIT = 20.0  # seconds
_LONGEST_REASON = 500  # characters of what a server said
_ID_BYTES = 128  # of an id on Chroma Cloud; https://docs.trychroma.com/cloud/quotas-limits
_ID_FIELD = "memedex_id"
_HASHED_ID = "sha256:"
_SEARCH_TIMEOUT = 30.0  # seconds for one answer, while a person waits
_SEARCH_TRIES = 2
_AT_ONCE = 5  # calls of all searches together; Chroma Cloud takes 10, and the follower makes one more

Limits = Mapping[str, Any]  # what a list is restricted to, in Chroma's words for metadata; {}: to nothing
EVERYTHING: Limits = {}
Vector = NDArray[np.float32]
Nearest = tuple[list[str], list[float]]  # ids, and cosines with the direction as it was given


class OthersCollection(ServerAway):
    """A collection with a name of ours belongs to another program or library."""


@dataclass(frozen=True, slots=True)
class ChromaServer:
    """The address of a database on a server."""

    url: str
    tenant: str = "default_tenant"
    database: str = "default_database"
    api_key: str = field(default="", repr=False)

    @classmethod
    def configured(cls) -> "ChromaServer | None":
        """The server that the settings name; None if the collections are in folders."""
        chosen = settings()
        if not chosen.chroma_url:
            return None
        return cls(
            chosen.chroma_url.rstrip("/"), chosen.chroma_tenant, chosen.chroma_database, chosen.chroma_api_key
        )

    def __str__(self) -> str:
        return f"{self.url} (tenant {self.tenant}, database {self.database})"

    @property
    def port(self) -> int:
        """The port that the address names, or else that of its scheme."""
        parts = urlsplit(self.url)
        return parts.port or (443 if parts.scheme == "https" else 80)

    @property
    def is_cloud(self) -> bool:
        """Whether it is Chroma Cloud, with its quotas."""
        return urlsplit(self.url).hostname == CLOUD

    @property
    def batch(self) -> int:
        """How many records it takes or gives at once."""
        return CLOUD_BATCH if self.is_cloud else BATCH

    @property
    def headers(self) -> dict[str, str]:
        """The key as Chroma Cloud reads it, and as most proxies do."""
        if not self.api_key:
            return {}
        return {"x-chroma-token": self.api_key, "Authorization": f"Bearer {self.api_key}"}

    def connect(self, *, timeout: float = _ANSWER) -> "ClientAPI":
        """A client of this database, which is created if the server has the tenant.

        `timeout` is how many seconds the server may take for an answer. Raises ValueError if the server does
        not have the tenant.
        """
        from chromadb.api.client import AdminClient, Client
        from chromadb.config import Settings
        from chromadb.errors import NotFoundError

        parts = urlsplit(self.url)
        how = Settings(
            anonymized_telemetry=False,
            chroma_api_impl="chromadb.api.fastapi.FastAPI",
            chroma_server_host=self.url if parts.path else parts.hostname,
            chroma_server_http_port=self.port,
            chroma_server_ssl_enabled=parts.scheme == "https",
            chroma_server_headers=self.headers,
        )

        class TimedClient(Client):
            """chromadb 1.5.9 has no setting for a timeout, and waits for ever for its first request."""

            def get_user_identity(self) -> "UserIdentity":
                server: Any = self._server
                server._session.timeout = _TIMEOUT
                return super().get_user_identity()

        try:
            client = TimedClient(self.tenant, self.database, how)
        except NotFoundError:
            admin = AdminClient(how)
            server: Any = admin._server
            server._session.timeout = _TIMEOUT
            try:
                admin.get_tenant(self.tenant)
            except NotFoundError as error:
                raise ValueError(f"it has no tenant {self.tenant} (MEMEDEX_CHROMA_TENANT)") from error
            admin.create_database(self.database, self.tenant)
            client = TimedClient(self.tenant, self.database, how)
        server = client._server
        server._session.timeout = timeout
        return client

    def answers(self) -> bool:
        """Whether it can be reached and takes the key."""
        return self._answers(f"{self.url}/api/v2/heartbeat")

    def lacks(self, metadata: Metadata) -> bool:
        """Whether one of these collections is not there. Raises ServerAway, or OthersCollection."""
        import httpx

        try:
            with httpx.Client(headers=self.headers, timeout=_TIMEOUT) as client:
                answers = {name: client.get(f"{self._collections}/{name}") for name in metadata}
            there = {
                name: one.raise_for_status().json()["metadata"]
                for name, one in answers.items()
                if one.status_code != httpx.codes.NOT_FOUND
            }
        except (httpx.HTTPError, KeyError, ValueError) as error:
            raise self.away(error) from error
        for name, fields in there.items():
            self.prove_ours(name, fields, metadata[name])
        return len(there) < len(answers)

    def prove_ours(self, name: str, found: Mapping[str, Any] | None, expected: Mapping[str, str]) -> None:
        """Raise OthersCollection unless the metadata that were found have the mark of these."""
        if (found or {}).get(MARK) != expected.get(MARK):
            raise OthersCollection(
                f"{name} on {self} belongs to another library or program, which keeps it; "
                "name another database in MEMEDEX_CHROMA_DATABASE"
            )

    def away(self, error: Exception) -> ServerAway:
        """The error to raise when it cannot be reached or refuses."""
        return ServerAway(_description(error, server=str(self), has_key=bool(self.api_key)))

    def lets_everybody_in(self) -> bool:
        """Whether it answers a request with a wrong key, as `chroma run` does; False if it is away."""
        wrong = replace(self, api_key="wrong-on-purpose")
        return wrong._answers(self._collections)

    @property
    def _collections(self) -> str:
        return f"{self.url}/api/v2/tenants/{self.tenant}/databases/{self.database}/collections"

    def _answers(self, address: str) -> bool:
        import httpx

        try:
            return httpx.get(address, headers=self.headers, timeout=_TIMEOUT).is_success
        except httpx.HTTPError:
            return False


class ServerCollections(Collections):
    """The collections in a server's database, ids of any length. Raises ServerAway or OthersCollection."""

    def __init__(
        self, server: ChromaServer, metadata: Metadata, *, tries: int = _TRIES, timeout: float = _ANSWER
    ) -> None:
        """A busy server is asked `tries` times; `timeout` is how many seconds an answer may take."""
        super().__init__(metadata)
        self._server = server
        self._page = server.batch
        self._tries = tries
        self._timeout = timeout

    def has(self, name: str) -> bool:
        """Whether the server has the collection."""
        from chromadb.errors import NotFoundError

        try:
            self.collection(name)
        except NotFoundError:
            return False
        return True

    def begin(self, name: str, *, model: str) -> None:
        """As `Collections.begin`."""
        self._open.pop(name, None)  # the server may have lost it since
        self._metadata[name]["model"] = model
        if self.has(name):
            self._ask(partial(self._connect().delete_collection, name))
        self._open[name] = self._ask(
            partial(
                self._connect().create_collection,
                name,
                embedding_function=None,
                configuration={"hnsw": INDEX},
                metadata=self._metadata[name],
            )
        )

    def collection(self, name: str) -> "Collection":
        """Chroma's collection. Raises chromadb's NotFoundError if the server has none."""
        if name not in self._open:
            found = self._ask(partial(self._connect().get_collection, name, embedding_function=None))
            self._server.prove_ours(name, found.metadata, self._metadata[name])
            self._open[name] = found
        return self._open[name]

    def put(self, name: str, points: Sequence[Point], *, gone: Sequence[str]) -> None:
        """As `Collections.put`."""
        super().put(name, [_with_short_id(point) for point in points], gone=[_short_id(id) for id in gone])

    def ids(self, name: str) -> set[str]:
        """As `Collections.ids`."""
        return set(self._original_ids(name, super().ids(name)))

    def metadata(self, name: str, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """As `Collections.metadata`."""
        given = {_short_id(id): id for id in ids}
        found = super().metadata(name, list(given))
        return {
            given[id]: {key: fields[key] for key in fields if key != _ID_FIELD}
            for id, fields in found.items()
        }

    def vectors(self, name: str, ids: Sequence[str]) -> dict[str, NDArray[Any]]:
        """As `Collections.vectors`."""
        given = {_short_id(id): id for id in ids}
        return {given[id]: vector for id, vector in super().vectors(name, list(given)).items()}

    def nearest(self, name: str, vector: NDArray[Any]) -> list[str]:
        """As `Collections.nearest`."""
        return self._original_ids(name, super().nearest(name, vector))

    def _original_ids(self, name: str, ids: Iterable[str]) -> list[str]:
        """The ids as they were given, in this order."""
        ids = list(ids)
        hashed = [id for id in ids if id.startswith(_HASHED_ID)]
        fields = super().metadata(name, hashed)
        return [str(fields.get(id, {}).get(_ID_FIELD, id)) for id in ids]

    def nearest_with_distances(
        self, name: str, vector: Vector, *, n: int, where: "Where | None"
    ) -> tuple[list[str], list[float]]:
        """The `n` nearest entries, fewer if there are no others, with their cosine distances."""
        query = partial(self.collection(name).query, query_embeddings=vector[None], n_results=n, where=where)
        found = self._ask(partial(query, include=["distances"]))
        return found["ids"][0], (found["distances"] or [[]])[0]

    def clear_collection_cache(self) -> None:
        """Look the collections up again at the next call."""
        self._open = {}

    def _connect(self) -> "ClientAPI":
        if self._client is None:
            self._client = self._ask(partial(self._server.connect, timeout=self._timeout))
        return self._client

    def _ask(self, request: Callable[[], T]) -> T:
        """As often as a busy server wants it, because the batch would be sent again otherwise."""
        for tries_left in reversed(range(self._tries)):
            try:
                return super()._ask(request)
            except Exception as error:
                answer = _refusal(error)
                if answer is not None and answer.status_code == _BUSY and tries_left:
                    time.sleep(_wait(answer))
                elif _is_about_data(error):
                    raise
                else:
                    raise self._server.away(error) from error
        raise AssertionError("the last try raises")


def _is_about_data(error: Exception) -> bool:
    """Whether the server answered, and what it has is missing or wrong."""
    from chromadb.errors import InvalidDimensionException, NotFoundError

    return isinstance(error, InvalidDimensionException | NotFoundError)


def _with_short_id(point: Point) -> Point:
    id = _short_id(point.id)
    if id == point.id:
        return point
    return replace(point, id=id, metadata={**point.metadata, _ID_FIELD: point.id})


def _short_id(id: str) -> str:
    content = id.encode()
    return id if len(content) <= _ID_BYTES else f"{_HASHED_ID}{content_hash(content)}"


def _refusal(error: BaseException | None) -> "Response | None":
    """The answer behind an error; chromadb's own errors seldom say its status."""
    import httpx

    while error is not None:
        if isinstance(error, httpx.HTTPStatusError):
            return error.response
        error = error.__cause__ or error.__context__
    return None


def _wait(answer: "Response") -> float:
    """How many seconds a busy server asks to wait."""
    asked = seconds_to_wait(answer.headers.get("Retry-After"), most=_LONGEST_WAIT)
    return 1.0 if asked is None else asked


def _description(error: Exception, *, server: str, has_key: bool) -> str:
    """One sentence about a server that refuses or cannot be reached."""
    answer = _refusal(error)
    said = _of_connection(error) or str(error)
    reason = said or type(error).__name__
    if answer is not None and answer.status_code in _KEY_REFUSED:
        reason = f"it asks for {'another' if has_key else 'a'} key (MEMEDEX_CHROMA_API_KEY)"
        reason += f": {said}" if said else ""
    status = f"status {answer.status_code}: " if answer is not None else ""
    return f"{server} refuses or does not answer: {status}{reason}"[:_LONGEST_REASON]


def _of_connection(error: BaseException | None) -> str:
    """Why the connection failed, such as a certificate; chromadb only asks whether a server runs."""
    import httpx

    while error is not None:
        if isinstance(error, httpx.ConnectError):
            return str(error)
        error = error.__cause__ or error.__context__
    return ""


class ServerLists:
    """Asks the server's five collections; thread-safe. Every call raises ServerUnavailable if it cannot."""

    def __init__(self, server: ChromaServer, *, model: str, owner: str) -> None:
        self._server = server
        self._model = model
        self._lock = threading.Lock()
        self._collections = ServerCollections(
            server,
            dict.fromkeys(COLLECTIONS.values(), made_with(model, owner)),
            tries=_SEARCH_TRIES,
            timeout=_SEARCH_TIMEOUT,
        )
        self._calls = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="memedex-server")

    @property
    def most(self) -> int | None:
        """How many results the server gives at most; None if it gives any number."""
        return CLOUD_BATCH if self._server.is_cloud else None

    def nearest(
        self, directions: Mapping[Facet, Vector], *, n: int, limits: Limits = EVERYTHING
    ) -> dict[Facet, Nearest]:
        """The `n` entries nearest to each direction (d,) of any length. Raises ServerUnavailable."""
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
        where = cast("Where | None", limits or None)
        ids, distances = self._collections.nearest_with_distances(name, direction, n=n, where=where)
        length = float(np.linalg.norm(direction))
        return ids, [length * (1.0 - distance) for distance in distances]


def _missing() -> type[Exception]:
    """The error that chromadb raises for a missing collection; chromadb loads slowly."""
    from chromadb.errors import NotFoundError

    return NotFoundError
