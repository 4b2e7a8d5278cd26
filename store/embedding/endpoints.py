"""Models behind an address: any embeddings endpoint by litellm, or a server for texts and pictures.

    litellm:text-embedding-3-small           pictures too, where litellm's list says that the model reads them
    remote:openai/clip-vit-large-patch14     a model of the server at MEMEDEX_EMBEDDING_SERVER

litellm's key comes from the provider's usual environment variable (OPENAI_API_KEY …), another address from
MEMEDEX_EMBEDDING_API_BASE.

A server, such as a GPU elsewhere, is asked in OpenAI's form, as infinity speaks it for CLIP: POST
…/embeddings with `model`, `input` and `modality`, a picture as a data URL. An address that ends with
/predictions is asked in Replicate's form instead, one input at a time, and MODEL is then a version there. The
address comes from the settings alone: a page must not send this machine to addresses of its own network. The
key, MEMEDEX_EMBEDDING_TOKEN, is in no name, log or message.
"""

import base64
import io
import threading
import time
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import httpx
import numpy as np
from PIL import Image

from store.embedding.protocol import (
    WINDOWS_VERSION,
    Lazy,
    Matrix,
    embed_in_windows,
    fingerprint,
    reads_no_pictures,
    unit,
)
from store.errors import BadSource, ModelUnavailable
from store.fetching.guard import Guard, any_address
from store.fetching.retry_after import LATER, seconds_to_wait
from store.fetching.transport import guarded_client
from store.jobs.circuit_breaker import CircuitBreaker
from store.llm.client import import_litellm, readable
from store.settings import settings

BATCH = 64
TIMEOUT = 60.0  # seconds
TOKENIZER = "text-embedding-ada-002"  # cl100k_base, inside litellm; other names would be fetched from outside
COUNTED_EXACTLY = ("openai", "azure")  # the others count otherwise, and get a quarter to spare
_SIDE = 512  # px
UNKNOWN_LIMIT = 512  # tokens; small enough for every embeddings model that litellm's price list does not know


class EndpointEmbedder:
    """Any embeddings model that litellm supports; sends nothing before the first text."""

    cross_modal_scale = 1.0

    def __init__(self, model: str) -> None:
        self.name = f"litellm:{model}"
        self._model = model
        self._litellm: Lazy[Any] = Lazy("litellm", import_litellm)
        self._dimensions: int | None = None

    @property
    def status(self) -> str:
        return self._litellm.status

    @cached_property
    def fingerprint(self) -> str:
        """The model's name, because nothing else is known of a model behind an endpoint."""
        return fingerprint(self.name, settings().embedding_api_base, WINDOWS_VERSION)

    @property
    def dimensions(self) -> int:
        """From litellm's list of models, else from one answer."""
        if self._dimensions is None:
            known = self._known().get("output_vector_size")
            self._dimensions = int(known) if known else self._run([self._tokens("dimensions")]).shape[1]
        return self._dimensions

    @property
    def token_limit(self) -> int:
        known = self._known()
        limit = int(known.get("max_input_tokens") or UNKNOWN_LIMIT)
        return limit if known.get("litellm_provider") in COUNTED_EXACTLY else limit * 3 // 4

    def warm(self) -> None:
        self._litellm.get()

    def count_tokens(self, text: str) -> int:
        return len(self._tokens(text))

    def embed_texts(self, texts: Sequence[str]) -> Matrix:
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        tokens = [self._tokens(text) or self._tokens(" ") for text in texts]  # endpoints refuse an empty text
        return embed_in_windows(tokens, size=self.token_limit, batch=BATCH, embed=self._run)

    def embed_images(self, images: Sequence[Image.Image]) -> Matrix:
        if not self._known().get("supports_embedding_image_input"):
            raise reads_no_pictures(self.name)
        # One at a time: some of these models take no more.
        rows = [self._ask([data_url(image)]) for image in images]
        return unit(np.concatenate([np.zeros((0, self.dimensions), dtype=np.float32), *rows]))

    def _run(self, windows: Sequence[list[int]]) -> Matrix:
        litellm = self._litellm.get()
        # A window may begin or end inside a character; the halves are dropped.
        return self._ask([litellm.decode(TOKENIZER, window).strip("\ufffd") for window in windows])

    def _ask(self, texts: Sequence[str]) -> Matrix:
        """The vectors of texts, or of pictures as data URLs."""
        litellm = self._litellm.get()
        try:
            answer = litellm.embedding(
                model=self._model,
                input=list(texts),
                timeout=TIMEOUT,
                api_base=settings().embedding_api_base or None,
            )
        except Exception as error:  # providers raise errors of any class; they become one readable error
            raise ModelUnavailable(readable(error, model=self._model)) from error
        rows = sorted(answer.data, key=lambda row: int(row["index"]))
        if len(rows) != len(texts):
            raise ModelUnavailable(f"{self._model} answered {len(rows)} embeddings for {len(texts)} texts")
        return np.asarray([row["embedding"] for row in rows], dtype=np.float32)

    def _tokens(self, text: str) -> list[int]:
        return list(self._litellm.get().encode(TOKENIZER, text))

    def _known(self) -> dict[str, Any]:
        return dict(self._litellm.get().model_cost.get(self._model) or {})


def data_url(image: Image.Image) -> str:
    """The picture as a PNG of at most 512 px, as the library keeps them, in a data URL (RFC 2397)."""
    shown = image.convert("RGB")
    shown.thumbnail((_SIDE, _SIDE))
    content = io.BytesIO()
    shown.save(content, "PNG")
    return f"data:image/png;base64,{base64.b64encode(content.getvalue()).decode()}"


_SERVER_BATCH = 16  # pictures or texts in one request
_TOKENS = 56  # of litellm's tokenizer, which surely are no more than CLIP's 77
_LARGEST = 64_000_000  # bytes of an answer
_SERVER_TIMEOUT = 60.0  # seconds for one request, also if its answer comes byte by byte
_PATIENCE = 30.0  # seconds after which a server that is away is reported
_LOOK = 0.2  # seconds

_breakers: dict[str, CircuitBreaker] = {}  # by address: all jobs and pages wait together
_lock = threading.Lock()


class RemoteEmbedder(EndpointEmbedder):
    """A model behind the address of the settings; sends nothing before the first text or picture."""

    def __init__(self, model: str) -> None:
        super().__init__(model)
        self.name = f"remote:{model}"
        self._address = settings().embedding_server.rstrip("/")
        if not self._address.startswith(("http://", "https://")):
            raise ModelUnavailable(f"{self.name} needs the server's address in MEMEDEX_EMBEDDING_SERVER")
        self._client = guarded_client(Guard(allowed=any_address), timeout=_SERVER_TIMEOUT, redirects=0)
        self._client.headers.update({"user-agent": "Memedex (embeddings)", "accept": "application/json"})
        with _lock:
            self._breaker = _breakers.setdefault(self._address, CircuitBreaker())

    @cached_property
    def fingerprint(self) -> str:
        """The model's name without the address: a server may move and keep its vectors."""
        return fingerprint(self.name, WINDOWS_VERSION)

    @property
    def dimensions(self) -> int:
        """From one answer."""
        if self._dimensions is None:
            self._dimensions = self._ask(["dimensions"]).shape[1]
        return self._dimensions

    @property
    def token_limit(self) -> int:
        return _TOKENS

    def warm(self) -> None:
        super().warm()
        self._ask(["ready"])

    def embed_images(self, images: Sequence[Image.Image]) -> Matrix:
        rows = [np.zeros((0, self.dimensions), dtype=np.float32)]
        for start in range(0, len(images), _SERVER_BATCH):
            some = [data_url(image) for image in images[start : start + _SERVER_BATCH]]
            rows.append(self._embed(some, "image"))
        return unit(np.concatenate(rows))

    def _ask(self, texts: Sequence[str]) -> Matrix:
        return self._embed(texts, "text")

    def _embed(self, inputs: Sequence[str], modality: str) -> Matrix:
        if self._address.endswith("/predictions"):
            found = [self._predicted(one, modality) for one in inputs]
        else:
            body = {
                "model": self._model,
                "input": list(inputs),
                "modality": modality,
                "encoding_format": "float",
            }
            found = _in_order(self._send(f"{self._address}/embeddings", body), len(inputs))
        return self._checked(found)

    def _predicted(self, value: str, modality: str) -> Any:
        """Replicate's form: https://replicate.com/docs/reference/http#predictions.create."""
        body = {"version": self._model, "input": {modality: value}}
        answer = self._send(self._address, body, headers={"prefer": "wait=60"})
        until = time.monotonic() + _SERVER_TIMEOUT
        while answer.get("status") in ("starting", "processing") and time.monotonic() < until:
            time.sleep(_LOOK)
            # By its number, not by the address in the answer, which would be given the key.
            answer = self._send(f"{self._address}/{str(answer.get('id', '')).strip('/.')}", None)
        output = answer.get("output")
        if answer.get("status") not in ("succeeded", None) or output is None:
            raise ModelUnavailable(f"{self.name}: the prediction ended as {answer.get('status')}; try again")
        return output.get("embedding") if isinstance(output, dict) else output

    def _checked(self, found: Sequence[Any]) -> Matrix:
        try:
            rows = np.asarray(found, dtype=np.float32)
        except (ValueError, TypeError):
            rows = np.zeros((0, 0), dtype=np.float32)
        wide = self._dimensions or (rows.shape[1] if rows.ndim == 2 else 0)
        usable = rows.shape == (len(found), wide) and wide and np.isfinite(rows).all()
        if not usable or not rows.any(axis=1).all():
            raise ModelUnavailable(
                f"{self.name} answered something else than {len(found)} vectors of {wide or 'one'} finite "
                "numbers each; check which model the server runs"
            )
        return unit(rows)

    def _send(self, url: str, body: Any, *, headers: dict[str, str] | None = None) -> dict[str, Any]:
        """The server's JSON. Waits together with everybody else while it is away or asks for a pause."""
        until = time.monotonic() + _PATIENCE
        problem = "it did not answer before"
        while True:
            with self._breaker.attempt() as attempt:
                if not attempt.pause:
                    retry_after: float | None = None
                    try:
                        answer = self._request(url, body, headers or {})
                        if answer.status_code not in LATER:
                            return self._read(answer)
                        problem = f"the server answers {answer.status_code}"
                        retry_after = seconds_to_wait(answer.headers.get("retry-after"))
                    except (httpx.TransportError, BadSource) as error:
                        problem = str(error) or type(error).__name__
                    attempt.failed(retry_after=retry_after)
            if attempt.pause:
                if time.monotonic() + attempt.pause > until:
                    raise ModelUnavailable(
                        f"{self.name} is away: {problem}; ask again in {attempt.pause:,.0f} s"
                    )
                time.sleep(min(attempt.pause, _LOOK))

    def _request(self, url: str, body: Any, headers: dict[str, str]) -> httpx.Response:
        if token := settings().embedding_token:
            headers = {**headers, "authorization": f"Bearer {token}"}
        method, until = "GET" if body is None else "POST", time.monotonic() + _SERVER_TIMEOUT
        with self._client.stream(method, url, json=body, headers=headers, follow_redirects=False) as answer:
            content = bytearray()
            for piece in answer.iter_bytes():
                content += piece
                if len(content) > _LARGEST:
                    raise ModelUnavailable(f"{self.name} answers more than {_LARGEST // 1_000_000} MB")
                if time.monotonic() > until:
                    raise httpx.ReadTimeout("its answer is too slow")
        return httpx.Response(answer.status_code, headers=_plain(answer.headers), content=bytes(content))

    def _read(self, answer: httpx.Response) -> dict[str, Any]:
        if answer.status_code in (401, 403):
            raise ModelUnavailable(f"{self.name} did not accept the key in MEMEDEX_EMBEDDING_TOKEN")
        if answer.status_code >= 300:
            raise ModelUnavailable(
                f"{self.name}: the server answers {answer.status_code}; "
                "check MEMEDEX_EMBEDDING_SERVER and the model"
            )
        try:
            found = answer.json()
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise ModelUnavailable(f"{self.name}: the server answers something else than JSON embeddings")
        return found


def _plain(headers: httpx.Headers) -> dict[str, str]:
    """Without those that were about the bytes on the way."""
    return {key: value for key, value in headers.items() if key in ("content-type", "retry-after")}


def _in_order(answer: dict[str, Any], count: int) -> list[Any]:
    """The embeddings by their index; as many Nones as are missing."""
    found: list[Any] = [None] * count
    rows = answer.get("data")
    for at, row in enumerate(rows if isinstance(rows, list) else []):
        number = row.get("index", at) if isinstance(row, dict) else -1
        if not isinstance(number, int) or not 0 <= number < count:
            return []
        found[number] = row.get("embedding")
    return found
