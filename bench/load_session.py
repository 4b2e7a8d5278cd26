"""One tab of a browser without the browser: a websocket that speaks Streamlit's protocol, and the stream."""

import asyncio
import json
import secrets
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs

import httpx
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

PATIENT = 60.0  # seconds for one answer
# As a proxy would name the person (`server.trustedUserHeaders`).
HEADERS = {"X-Bench-Person": "email", "X-Bench-Login": "is_logged_in", "X-Bench-Until": "exp"}
GRID, LIVE = "memedex.grid", "memedex.live"


class Session:
    """A person's tab on one page; it remembers what the page last said of each component."""

    def __init__(self, url: str, person: str, page: str, query: str = "") -> None:
        self.url, self.person, self.page, self.query = url, person, page, query
        self.headers = {
            "X-Bench-Person": person,
            "X-Bench-Login": "1",
            "X-Bench-Until": str(time.time() + 1e6),
        }
        self.components: dict[str, tuple[str, dict[str, Any]]] = {}  # by name: id and data
        self.told = 0  # messages of the stream
        self.overheard: set[str] = set()  # people whose drafts reached this tab
        self.errors: list[str] = []
        self._hash = self._line = ""  # the page, and the field of the search line
        self._runs = 0
        self._ran = asyncio.Condition()
        self._tasks: list[asyncio.Task[None]] = []
        self.runs: list[float] = []  # seconds of those that brought more cards
        self._gone = 0  # cards that were decided on since
        self._client = secrets.token_hex(12)
        self._n = 0

    async def open(self) -> None:
        """Connect, run the page once, and hold its stream, as a tab does."""
        address = self.url.replace("http", "ws", 1) + "/_stcore/stream"
        self._socket: ClientConnection = await connect(
            address, subprotocols=["streamlit"], additional_headers=self.headers, max_size=None  # type: ignore[list-item]
        )  # fmt: skip
        self._http = httpx.AsyncClient(base_url=self.url, headers=self.headers, timeout=PATIENT)
        self._tasks.append(asyncio.create_task(self._listen()))
        await self.run()
        if LIVE in self.components:
            self._tasks.append(asyncio.create_task(self._follow()))

    async def close(self) -> None:
        """Leave, as a closed tab does."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._socket.close()
        await self._http.aclose()

    async def run(self, states: Mapping[str, Mapping[str, Any]] | None = None) -> float:
        """Ask for a run of the page with these states of components; returns seconds until it has ended."""
        asked = BackMsg()
        asked.rerun_script.query_string = self.query
        asked.rerun_script.page_name = self.page
        asked.rerun_script.page_script_hash = self._hash
        for name, state in (states or {}).items():
            widget = asked.rerun_script.widget_states.widgets.add()
            widget.id, widget.json_value = self.components[name][0], json.dumps(state)
        if self._line:  # a browser sends the field's text with every message
            widget = asked.rerun_script.widget_states.widgets.add()
            widget.id, widget.string_value = self._line, parse_qs(self.query)["q"][0]
        runs, began = self._runs, time.perf_counter()
        await self._socket.send(asked.SerializeToString())
        async with self._ran:
            await asyncio.wait_for(self._ran.wait_for(lambda: self._runs > runs), PATIENT)
        return time.perf_counter() - began

    async def decide(self, verb: str, address: str, revision: int) -> float:
        """Decide about a coin as the grid does; returns seconds until the server has confirmed it."""
        _, grid = self.components[GRID]
        decision = secrets.token_hex(16)
        entry = {"id": decision, "verb": verb, "addresses": [address], "seen": {address: revision}}
        body = {key: grid[key] for key in ("library", "who")} | {"entries": [entry]}
        began = time.perf_counter()
        answer = await self._message(grid["server"], "decisions", body)
        seconds = time.perf_counter() - began
        told = answer.json()["answers"].get(decision) if answer.status_code == 200 else None
        if told is None or told["refused"]:
            raise OSError(f"{verb} of {address} was not done: {answer.status_code} {answer.text[:80]}")
        self._gone += 1
        if 2 * self._gone >= len(
            grid["cards"]
        ):  # as the grid does, which otherwise waits until the hand rests
            self._gone = 0
            self._tasks.append(asyncio.create_task(self._refill()))
        return seconds

    async def _refill(self) -> None:
        self._n += 1
        try:
            asked = {"client": self._client, "entries": [], "sending": self._n}
            self.runs.append(await self.run({GRID: {"asked": asked}}))
        except TimeoutError as error:
            self.errors.append(f"{self.page}: the run for more cards: {error!r}")

    async def move_slider(self, facet: str, weight: float) -> float:
        """Move a slider; returns seconds until the server has sent cards that the page does not have yet."""
        _, grid = self.components[GRID]
        ranking = grid["ranking"]
        rows = [(self._n * 97 + 13 * number) % 200 for number in range(20)]
        began = time.perf_counter()
        answer = await self._message(grid["server"], "cards", {"query": ranking["query"], "rows": rows})
        seconds = time.perf_counter() - began
        if answer.status_code != 200:
            self.errors.append(f"cards: {answer.status_code} {answer.text[:80]}")
        weights = {**ranking["weights"], facet: weight, "calibrated": False, "fused": True}
        self._n += 1
        await self.run({GRID: {"weights": weights}})
        return seconds

    async def draft(self, address: str, revision: int) -> None:
        """Type a caption, and look whether the own draft is the one that comes back."""
        self._n += 1
        draft = {
            "caption": {"entity": f"draft of {self.person}", "context": "", "visual": "", "emotions": ""},
            "tags": [], "client": self._client, "n": self._n, "sources": {},
            "base": {"revision": revision, "caption": {}, "tags": []},
        }  # fmt: skip
        server = self.components[LIVE][1]["server"]
        for verb in ("keep", "own"):
            answer = await self._message(server, f"editor-{verb}", {"address": address, "draft": draft})
            self._overhear(answer.content)
            if answer.status_code != 200:
                self.errors.append(f"{verb}: {answer.status_code} {answer.text[:80]}")

    async def _message(
        self, server: Mapping[str, str], kind: str, fields: Mapping[str, Any]
    ) -> httpx.Response:
        """Post it; again, as browsers do, if the server has just closed the connection that was kept."""
        url, content = f"{server['url']}/{kind}", json.dumps({"token": server["token"], **fields})
        try:
            return await self._http.post(url, content=content)
        except (httpx.ReadError, httpx.RemoteProtocolError):
            return await self._http.post(url, content=content)

    async def _listen(self) -> None:
        async for frame in self._socket:
            assert isinstance(frame, bytes)
            self._overhear(frame)
            message = ForwardMsg.FromString(frame)
            kind = message.WhichOneof("type")
            if kind == "navigation":
                self._hash = message.navigation.page_script_hash
            elif kind == "delta" and message.delta.new_element.WhichOneof("type") == "bidi_component":
                one = message.delta.new_element.bidi_component
                data = one.mixed.json if one.WhichOneof("data") == "mixed" else one.json
                message = json.loads(data) if data else {}
                if isinstance(message, dict) and (
                    one.component_name != LIVE or message.get("part") == "badges"
                ):
                    self.components[one.component_name] = (one.id, message)
            elif kind == "delta" and message.delta.new_element.text_input.label == "Search":
                self._line = message.delta.new_element.text_input.id
            elif kind == "delta" and message.delta.new_element.WhichOneof("type") == "exception":
                self.errors.append(message.delta.new_element.exception.message[:120])
            elif kind == "script_finished":
                async with self._ran:
                    self._runs += 1
                    self._ran.notify_all()

    async def _follow(self) -> None:
        live = self.components[LIVE][1]
        headers = {"X-Memedex-Token": live["server"]["token"]}
        async with self._http.stream("GET", live["url"], headers=headers, timeout=None) as stream:
            if stream.status_code != 200:
                self.errors.append(f"stream: {stream.status_code}")
            async for line in stream.aiter_lines():
                self.told += line.startswith("data:")

    def _overhear(self, content: bytes) -> None:
        at = content.find(b"draft of ")
        while at >= 0:
            person = content[at + 9 : at + 9 + len(self.person)].decode(errors="replace")
            if person != self.person:
                self.overheard.add(person)
            at = content.find(b"draft of ", at + 1)
