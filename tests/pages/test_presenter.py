"""While it is presented, no page sends a name of a person to the browser."""

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from store.library import Library
from store.memory.memory import Memory
from store.permissions import Actor
from store.search.query import SavedSearch
from store.settings import settings
from tests.browser.coins import COINS, DOG, FROG, PENDING, UNCAPTIONED
from tests.pages.conftest import finish_jobs, opened, rerun
from tests.pages.test_pages import TITLES
from tests.store.conftest import written
from tests.store.memory.bags import Bags

NAME = "zelda-quimby"
VIEWS = ("Browse", "Review")


def sent(app: AppTest) -> str:
    """Everything that the page sent to the browser, tables and components included."""
    return "\n".join(str(getattr(element, "proto", "")) for element in app._tree)


@pytest.fixture
def presented(library: Library, monkeypatch: pytest.MonkeyPatch) -> Library:
    """A library in which somebody did something of every kind; it is presented."""
    zelda = library.for_actor(Actor(NAME, via="the dashboard"))
    zelda.caption(UNCAPTIONED.address, caption=written("frog"))
    zelda.reject([PENDING.address], reason="scam")
    zelda.degrade([FROG.address])
    zelda.edit_tags([DOG.address], add=["good boy"])
    zelda.drafts.save(DOG.address, {"entity": "typed"})
    zelda.searches.save("dogs", SavedSearch("dog"))
    zelda.searches.delete("dogs")
    zelda.golden.save("dog", [DOG.address])
    zelda.golden.judge("dog", DOG.address, True)
    zelda.suggestions.save(COINS[-1].address, {"entity": "a dog"}, model="m")
    zelda.jobs.run("Add", lambda _: 1)
    finish_jobs()
    monkeypatch.setattr(settings(), "presenter", True)
    return library


@pytest.mark.usefixtures("presented")
def test_no_page_names_a_person(monkeypatch: pytest.MonkeyPatch) -> None:
    pages: list[tuple[str, dict[str, str]]] = [(name, {}) for name in TITLES]
    pages += [
        ("captions", {"address": DOG.address}),
        ("search", {"q": "dog"}),
        ("insights", {"view": "Reviewing"}),
    ]
    assert [page for page in pages if NAME in sent(opened(page[0], **page[1]))] == []
    assert "Reviewer " in sent(opened("activity"))
    monkeypatch.setattr(settings(), "presenter", False)
    assert NAME in sent(opened("activity")), "this test would see it"


@pytest.mark.usefixtures("presented")
def test_figures_have_larger_letters_too() -> None:
    specs = [json.loads(chart.proto.spec) for chart in opened("insights").get("echarts_chart")]
    assert specs
    for spec in specs:
        letters = [
            spec["legend"]["textStyle"],
            spec["tooltip"]["textStyle"],
            spec["xAxis"]["axisLabel"],
            spec["yAxis"]["nameTextStyle"],
        ]
        assert {style["fontSize"] for style in letters} == {15}


def test_the_text_memory_names_no_person(presented: Library, tmp_path: Path) -> None:
    with Memory.open(tmp_path, embedder=Bags()) as memory:
        memory.for_actor(Actor(NAME)).memories.store_memory("The moon is made of cheese")
        agent = Actor(NAME, via="MCP", agent="claude", is_reviewed=True)
        memory.for_actor(agent).memories.store_memory("The sun is a lamp")
        (id,) = [row["id"] for row in memory.memories.entries.find()]
        assert [view for view in VIEWS if NAME in sent(opened("memory", view=view))] == []
        app = opened("memory", view="Browse", entry=f"memories:{id}")
        app.session_state["memedex.entry_about"] = "Versions"
        assert NAME not in sent(rerun(app))
        assert "Reviewer" in sent(app)
