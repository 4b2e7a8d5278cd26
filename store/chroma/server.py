"""Our collections on a Chroma server or on Chroma Cloud, instead of in a folder."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from store.chroma.contents import MARK
from store.chroma.long_ids import WithLongIds
from store.chroma.place import Metadata
from store.chroma.process import ServerAway
from store.chroma.refusal import BUSY, describe, refusal, wait
from store.settings import settings

if TYPE_CHECKING:
    import numpy as np
    from chromadb import Where
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection
    from chromadb.auth import UserIdentity
    from numpy.typing import NDArray

T = TypeVar("T")

CLOUD = "api.trychroma.com"
# Chroma Cloud's quotas: records of one write, and results of one `get` or `query`.
# https://docs.trychroma.com/cloud/quotas-limits
CLOUD_BATCH = 300
BATCH = 1_000  # below the 5,461 records that a server of chromadb 1.5.9 takes at once
_TRIES = 5  # of one request to a busy server
_TIMEOUT = 10.0  # seconds for a request that asks nothing
_ANSWER = 30.0  # seconds for one that reads or writes a batch


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
        """Whether one of these collections is not there.

        Raises ServerAway if it does not say, OthersCollection if one of them is not ours.
        """
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
        """What to raise when it cannot be reached or refuses."""
        return ServerAway(describe(error, server=str(self), has_key=bool(self.api_key)))

    def lets_everybody_in(self) -> bool:
        """Whether it answers a request with a wrong key; False if it cannot be asked.

        `chroma run` of chromadb 1.5.9 ignores keys.
        """
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


class ServerCollections(WithLongIds):
    """The collections in a server's database.

    Every call raises ServerAway if the server cannot be reached or refuses the request, and OthersCollection
    if a collection of this name is not ours.
    """

    def __init__(
        self,
        server: ChromaServer,
        metadata: Metadata,
        *,
        tries: int = _TRIES,
        timeout: float = _ANSWER,
    ) -> None:
        """`metadata` as for `Collections`; each must carry the mark of its owner.

        A busy server is asked `tries` times; `timeout` is how many seconds it may take for an answer.
        """
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
                configuration={"hnsw": self._index},
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

    def nearest_with_distances(
        self,
        name: str,
        vector: "NDArray[np.float32]",
        *,
        n: int,
        where: "Where | None" = None,
    ) -> tuple[list[str], list[float]]:
        """The `n` nearest entries with these metadata, and their cosine distances, the nearest first.

        chromadb 1.5.9 reads more of its index the larger `n` is; fewer than `n` come back only if there are
        no others.
        """
        ask = partial(
            self.collection(name).query,
            query_embeddings=vector[None],
            n_results=n,
            where=where,
            include=["distances"],
        )
        found = self._ask(ask)
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
                answer = refusal(error)
                if answer is not None and answer.status_code == BUSY and tries_left:
                    time.sleep(wait(answer))
                elif _is_about_data(error):
                    raise
                else:
                    raise self._server.away(error) from error
        raise AssertionError("the last try raises")


def _is_about_data(error: Exception) -> bool:
    """Whether the server answered, and what it has is missing or wrong."""
    from chromadb.errors import InvalidDimensionException, NotFoundError

    return isinstance(error, InvalidDimensionException | NotFoundError)
