"""A stand-in for Chroma Cloud: a real server behind the quotas that Chroma publishes."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx

from tests.store.chroma.chroma_run import ChromaRun

# https://docs.trychroma.com/cloud/quotas-limits
QUOTA, ID_BYTES, PARALLEL = 300, 128, 10  # the first: records of one write, results of one read
DOCUMENT_BYTES, PREDICATES = 16_384, 8
KEY = "ck-secret"


class ChromaCloud:
    """The stand-in, while it runs; every `busy_every`th request is refused with status 429."""

    def __init__(self, *, quota: int, busy_every: int) -> None:
        self.quota = quota
        self.busy_every = busy_every
        self.url = ""
        self.refused: list[str] = []
        self.requests = 0
        self.at_once = 0
        self.lock = threading.Lock()

    def fault(self, headers: Any, sent: dict[str, Any]) -> tuple[int, str]:
        """The status and the reason with which this request is refused; status 0 if it is not."""
        if headers.get("x-chroma-token") != KEY:
            return 401, "no valid key"
        if self.requests % self.busy_every == 0:
            return 429, "too many requests"
        ids = sent.get("ids") or []
        if len(ids) > self.quota:
            return 422, f"{len(ids)} records at once"
        if any(len(id.encode()) > ID_BYTES for id in ids):
            return 422, "an id is too long"
        if "include" in sent and max(sent.get("limit") or 0, sent.get("n_results") or 0) > self.quota:
            return 422, "too many results"
        if any(len(text.encode()) > DOCUMENT_BYTES for text in sent.get("documents") or [] if text):
            return 422, "a document is too long"
        if json.dumps(sent.get("where")).count('"$') > PREDICATES:
            return 422, "too many predicates"
        if self.at_once > PARALLEL:
            return 429, "too many requests at once"
        return 0, ""


@contextmanager
def chroma_cloud(behind: ChromaRun, *, quota: int = QUOTA, busy_every: int) -> Iterator[ChromaCloud]:
    """Run the stand-in in a thread."""
    cloud = ChromaCloud(quota=quota, busy_every=busy_every)
    client = httpx.Client(base_url=behind.url, timeout=60)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body in one packet; TCP would hold the second back for 40 ms

        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            with cloud.lock:
                cloud.requests += 1
                cloud.at_once += 1
                status, reason = cloud.fault(self.headers, json.loads(body) if body else {})
            if status:
                cloud.refused.append(f"{status} {reason}")
                self._answer(status, json.dumps({"message": reason}).encode(), {"Retry-After": "0.01"})
            else:
                passed = client.request(
                    self.command, self.path, content=body, headers={"Content-Type": "application/json"}
                )
                self._answer(passed.status_code, passed.content, {})
            with cloud.lock:
                cloud.at_once -= 1

        do_POST = do_PUT = do_DELETE = do_GET  # noqa: N815  `http.server` asks for these names

        def _answer(self, status: int, body: bytes, more: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **more}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)
            self.wfile.flush()

        def log_message(self, *_: object) -> None:
            """Nothing: the test looks at `refused`."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        cloud.url = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield cloud
        finally:
            server.shutdown()
            client.close()
