"""Anything that a browser posts to the routes, or sends as a component's state, is answered or ignored."""

import json
from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import streamlit as st
from hypothesis import given, strategies

from components.editor import editor, rows
from components.grid import deferred_cards, grid, page_number, results
from components.map.points import PointTable
from components.search import box
from components.shell.server import error_page, messages
from components.shell.session import resources, tokens
from components.shell.session import session as page_session
from store.library import Library
from tests.components.conftest import Client
from tests.fuzz.cases import altered, bounded, fuzz, garbled
from tests.store.conftest import address

PENDING, APPROVED, KEPT = address(0), address(7), address(6)
ENTRY: dict[str, Any] = {
    "id": "1" * 32,
    "verb": "tag",
    "addresses": [PENDING],
    "seen": {PENDING: 1},
    "reason": "a copy",
    "after": ["2" * 32],
    "add": ["moon"],
    "remove": ["dog"],
    "others": [APPROVED],
    "matching": None,
}
DRAFT: dict[str, Any] = {
    "caption": {"entity": "a dog", "context": "a joke", "visual": None, "emotions": ""},
    "tags": ["dog"],
    "client": "here",
    "n": 1,
    "base": {"revision": 1, "caption": {"entity": "a cat"}, "tags": []},
    "sources": {"entity": {"model": "m", "prompt": "p", "text": "a dog"}},
}
VERBS = (
    "keep",
    "own",
    "discard",
    "commit",
    "measure",
    "look",
    "history",
    "nearest",
    "suggestions",
    "refuse",
    "x",
)
TYPED: dict[str, Any] = {
    "address": APPROVED, "draft": DRAFT, "seen": 1, "knows": "here", "texts": {"entity": "a dog"},
    "facet": "entity", "text": "a dog", "job": 1, "ids": [1], "decision": "0" * 32,
}  # fmt: skip
LOG: dict[str, Any] = {"library": "", "who": "ann", "entries": [ENTRY]}
FILTER = json.dumps({"tier": "pending"})
SENT = strategies.one_of(
    strategies.tuples(strategies.sampled_from([f"/message/editor-{verb}" for verb in VERBS]), altered(TYPED)),
    strategies.tuples(strategies.just("/message/decisions"), altered(LOG)),
    strategies.tuples(strategies.just("/message/cards"), altered({"query": "q", "rows": [0, 1]})),
    strategies.tuples(strategies.just("/message/job"), altered({"job": 1, "verb": "pause"})),
    strategies.tuples(strategies.just("/message/tags"), altered({"addresses": [PENDING], "matching": None})),
    strategies.tuples(
        strategies.just("/message/tags"),
        altered({"matching": {"filter": FILTER, "generation": 9, "except": []}}),
    ),
)


@pytest.fixture(scope="module")
def client(library: Library) -> Iterator[Client]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resources, "library_of_routes", lambda: library)
        patch.setattr(error_page, "log_error", raise_it)
        patch.setattr(resources, "status", lambda _: SimpleNamespace(model_status="ready"))
        deferred_cards.remember("q", {PENDING: 0, APPROVED: 1}, {})
        yield Client()


def raise_it(error: Exception) -> str:
    raise error


def named(value: Any, library: Library) -> Any:
    """The same with the library's own id, which is made when it is."""
    if isinstance(value, dict):
        return {
            key: library.id if (key, one) == ("library", "") else named(one, library)
            for key, one in value.items()
        }
    return [named(one, library) for one in value] if isinstance(value, list) else value


@pytest.mark.slow
@fuzz(share=0.1)
@given(sent=SENT)
def test_any_request_is_answered_without_an_error(
    library: Library, client: Client, sent: tuple[str, Any]
) -> None:
    route, body = sent
    token = tokens.signed(library, actor="ann")
    content = {**named(body, library), "token": token} if isinstance(body, dict) else body
    with bounded():
        answer = client.post(route, content=json.dumps(content))
    assert answer.status_code in (200, 204, 400, 403, 404, 409), answer.text


@fuzz(share=0.02)
@given(
    route=strategies.sampled_from(("/message/decisions", "/message/editor-keep", "/message/job")),
    body=garbled(json.dumps(LOG).encode()),
)
def test_any_bytes_are_refused(client: Client, route: str, body: bytes) -> None:
    assert client.post(route, content=body).status_code in (400, 403)


class Component:
    """Stands in for the component in a browser; its listeners are called as Streamlit would."""

    def __call__(self, *, key: str, data: Mapping[str, Any] | None = None, **listeners: Any) -> None:
        json.dumps(data, default=str).encode()
        for listener in listeners.values():
            if callable(listener):
                listener()


@pytest.fixture(scope="module")
def session() -> Iterator[dict[str, Any]]:
    """What browsers sent, by component; every component answers at once."""
    state: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(st, "session_state", state)
        patch.setattr(messages, "server", lambda _: {})
        for module in (grid, rows, editor):
            patch.setattr(module, "_component", Component())
        patch.setattr(box, "_WELL", Component())
        yield state


GRID: dict[str, Any] = {
    "asked": {"client": "here", "entries": [{"n": 1, "verb": "next", "addresses": [PENDING]}]},
    "weights": {"image": 1, "entity": 2.5, "calibrated": True, "fused": False},
    "held": {"image": 1, "calibrated": False},
    "view": "table",
    "knows": "x",
}


@fuzz(share=0.04)
@given(state=altered(GRID))
def test_any_state_of_the_grid_is_shown(library: Library, session: dict[str, Any], state: Any) -> None:
    session.clear()
    page_session.begin(library)
    session["g"] = named(state, library)
    with bounded():
        grid.mount("g", library.for_actor(actor()), {}, actions=[], handlers=page_number.turning("g"))
        results.chosen_weights("g")
        results.chosen_held("g")
        results.chosen_calibration("g")
        results.chosen_fusion("g")
        results.chosen_view("g")


@fuzz(share=0.03)
@given(sent=altered({"version": 1, "colouring": "c", "cards": [0, 1]}), bits=altered("gA=="))
def test_any_request_and_selection_of_a_map_is_answered(
    library: Library, client: Client, sent: Any, bits: Any
) -> None:
    sheet = PointTable("topic")
    sheet.update([KEPT], np.zeros((1, 2), np.float32), changed=())
    with bounded():
        page = {"token": tokens.signed(library, actor="ann"), "sheet": sheet.name, "rows": [0]}
        for kind in ("map-points", "map-sprites"):
            content = json.dumps({**sent, **page} if isinstance(sent, dict) else page)
            assert client.post(f"/message/{kind}", content=content).status_code in (200, 400)
        sheet.select(str(bits))
        assert set(sheet.chosen()) <= {KEPT}


@fuzz(share=0.03)
@given(
    state=altered({"go": PENDING, "left": [PENDING]}), drop=altered({"picture": "data:image/png;base64,AAAA"})
)
def test_any_state_of_rows_editor_and_picture_is_shown(
    library: Library, session: dict[str, Any], state: Any, drop: Any
) -> None:
    session.clear()
    session.update({"rows": state, editor.KEY: state, "drop": drop})
    taken: list[bytes] = []
    record = library.get(PENDING)
    with bounded():
        row = rows.EditorRow("k", record, "a label")
        rows.show_rows("rows", library, [row], go=lambda asked: None, choose=True)
        editor.show(library, record, previous=PENDING, go=lambda asked: None)
        box.picture_well(taken.append, key="drop")
    assert all(taken)


def actor() -> Any:
    from store.permissions import Actor

    return Actor("ann")
