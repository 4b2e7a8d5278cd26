"""What addresses say: each page has names of its own, and nonsense in them breaks none."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.runtime.state.query_params import QueryParams

from store.library import Library
from store.memory import demo
from store.memory.memory import Memory
from tests.browser.coins import FROG
from tests.pages.conftest import opened
from tests.store.memory.bags import Bags

# Every page whose address says something, and those sides of it that have controls of their own.
SIDES: tuple[tuple[str, dict[str, str]], ...] = (
    ("pending", {"pending_sort": "Like one coin"}),
    ("approved", {}),
    ("captions", {}),
    ("captions", {"captions_view": "Check up"}),
    ("search", {}),
    ("search", {"q": "frog"}),
    ("map", {}),
    ("evaluation", {}),
    ("generate", {"gen_q": "frog"}),
    ("lore", {"ask": "lamps"}),
    ("lore", {"view": "Prompt preview", "prompt": "lamps"}),
    ("lore", {"view": "Browse"}),
    ("lore", {"view": "Browse", "kind": "Events"}),
    ("lore", {"view": "Connections", "coin": FROG.address}),
    ("history", {}),
)
# Names that are read, and bound to no control.
READ = (
    "address",
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
NONSENSE = ("rubbish", "", "1e999")


@pytest.fixture
def memory(library: Library, tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path, embedder=Bags()) as memory:
        demo.load(memory)
        yield memory


@pytest.fixture
def named(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> dict[str, set[str]]:
    """Names in addresses that a control is bound to, or that are set; and the pages that do so."""
    pages = defaultdict(set)
    name = ""
    bind, assign = QueryParams.bind_widget, QueryParams.__setitem__

    def binding(self: QueryParams, param_key: str, **how: str) -> None:
        pages[param_key].add(name)
        bind(self, param_key, **how)

    def assigning(self: QueryParams, key: str, value: str) -> None:
        pages[key].add(name)
        assign(self, key, value)

    monkeypatch.setattr(QueryParams, "bind_widget", binding)
    monkeypatch.setattr(QueryParams, "__setitem__", assigning)
    for name, said in SIDES:
        opened(name, **said)
    return pages


def test_no_two_pages_share_a_name_and_nonsense_breaks_none(named: dict[str, set[str]]) -> None:
    found = {name: set(pages) for name, pages in named.items()}
    assert {name: pages for name, pages in found.items() if len(pages) > 1} == {}
    assert {"q", "ask", "view", "captions_view", "captions_kind", "pending_words"} <= found.keys()

    for nonsense in NONSENSE:
        for page, said in SIDES:
            own = [name for name, pages in found.items() if page in pages]
            app = opened(page, **{**dict.fromkeys([*own, *READ], nonsense), **said})
            assert app.title[0].value != ""


def test_earlier_links_to_the_captions_lead_where_they_did(library: Library) -> None:
    app = opened("captions", view="Check up", kind="unwritten")
    assert app.session_state["captions_view"] == "Check up"
    assert app.session_state["caption-check"] == "unwritten"
    assert not {"view", "kind"} & app.query_params.keys()


@pytest.mark.parametrize(
    ("page", "name", "before", "now"),
    [
        ("lore", "view", "Model's view", "Prompt preview"),
        ("lore", "view", "Probe", "Test retrieval"),
        ("lore", "view", "Health", "Status"),
        ("pending", "pending_sort", "Moved", "Recently moved"),
        ("map", "map_by", "Neighbours", "t-SNE"),
        ("map", "map_of", "fused", "All facets"),
    ],
)
def test_earlier_links_lead_to_what_has_another_name_now(
    memory: Memory, page: str, name: str, before: str, now: str
) -> None:
    app = opened(page, **{name: before})
    controls = [*app.selectbox, *app.button_group]
    [shown] = [control for control in controls if control.key == name]
    assert shown.value == (before if name == "map_of" else now)
