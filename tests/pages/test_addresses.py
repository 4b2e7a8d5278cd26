"""Query parameters: each page has its own names, and invalid values break no page."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.runtime.state.query_params import QueryParams
from streamlit.testing.v1 import AppTest

from store.library import Library
from store.memory import demo
from store.memory.memory import Memory
from tests.browser.coins import FROG
from tests.pages.conftest import opened, rerun
from tests.store.memory.bags import Bags

# Every page with query parameters, and its views that have controls of their own.
SIDES: tuple[tuple[str, dict[str, str]], ...] = (
    ("review", {"pending_sort": "Like one coin"}),
    ("approved", {}),
    ("library", {"tab": "Rejected"}),
    ("library", {}),
    ("library", {"tab": "All"}),
    ("captions", {}),
    ("captions", {"view": "Check"}),
    ("search", {}),
    ("search", {"q": "frog"}),
    ("search", {"view": "Map"}),
    ("insights", {"view": "Search quality"}),
    ("search", {"view": "Use as prompt", "q": "frog"}),
    ("memory", {"ask": "lamps"}),
    ("memory", {"view": "Browse"}),
    ("memory", {"view": "Browse", "kind": "Events"}),
    ("memory", {"view": "Browse", "about": FROG.address}),
    ("activity", {}),
)
# Parameters that are read but not bound to a control.
READ = (
    "address",
    "view",
    "tab",
    "check",
    "like",
    "search",
    "filter",
    "entry",
    "w",
    "as",
    "calibrated",
    "against",
    "gen_pick",
)
LONG = "frog " * 2_000  # has no room in an address
NONSENSE = ("rubbish", "", "1e999")


@pytest.fixture
def memory(library: Library, tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path, embedder=Bags()) as memory:
        demo.load(memory)
        yield memory


@pytest.fixture
def query_names(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> dict[str, set[str]]:
    """The query parameters that a control is bound to or that are set, with the pages that use them."""
    pages = defaultdict(set)
    name = ""
    bind, assign = QueryParams.bind_widget, QueryParams.__setitem__

    def record_binding(self: QueryParams, param_key: str, **how: str) -> None:
        pages[param_key].add(name)
        bind(self, param_key, **how)

    def record_assignment(self: QueryParams, key: str, value: str) -> None:
        pages[key].add(name)
        assign(self, key, value)

    monkeypatch.setattr(QueryParams, "bind_widget", record_binding)
    monkeypatch.setattr(QueryParams, "__setitem__", record_assignment)
    for name, message in SIDES:
        opened(name, **message)
    return pages


@pytest.mark.slow
def test_pages_share_no_query_parameter_and_survive_invalid_values(query_names: dict[str, set[str]]) -> None:
    found = {name: set(pages) for name, pages in query_names.items()}
    assert {name: pages for name, pages in found.items() if len(pages) > 1} == {}
    assert {"q", "ask", "captions_kind", "pending_words"} <= found.keys()

    for nonsense in NONSENSE:
        for page, message in SIDES:
            own = [name for name, pages in found.items() if page in pages]
            app = opened(page, **{**dict.fromkeys([*own, *READ], nonsense), **message})
            assert app.title[0].value != ""


def followed(app: AppTest, page: str, **query: str) -> AppTest:
    """The page that a link on another one opens."""
    app.switch_page(f"pages/{page}.py")
    app.query_params.clear()
    app.query_params.update(query)
    return rerun(app)


def test_a_text_too_long_for_the_address_is_there_again_after_another_page(library: Library) -> None:
    app = opened("search")
    app.text_input(key="q").set_value(LONG)
    rerun(app)
    followed(followed(app, "activity"), "search")
    assert app.text_input(key="q").value == LONG
    assert "q" not in app.query_params
    app.text_input(key="q").set_value("dog")
    rerun(app)
    assert app.query_params["q"] in ("dog", ["dog"])


def test_a_question_too_long_for_the_address_is_there_again_after_another_view(memory: Memory) -> None:
    app = opened("memory")
    app.text_input(key="ask").set_value(LONG)
    rerun(app)
    for view in ("Browse", "Ask"):
        followed(app, "memory", **{**app.query_params, "view": view})
    assert app.text_input(key="ask").value == LONG


def test_a_link_replaces_a_text_that_was_too_long_for_the_address(library: Library) -> None:
    app = opened("search")
    app.text_input(key="q").set_value(LONG)
    rerun(app)
    followed(followed(app, "activity"), "search", q="dog")
    for _ in range(2):
        assert app.text_input(key="q").value == "dog"
        assert app.query_params["q"] in ("dog", ["dog"])
        rerun(app)
