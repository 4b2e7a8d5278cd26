"""Agents look at coins, and decide about them under their own name where the settings let them."""

import json
import time
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest

from store.catalog import advice
from store.catalog.advice import Version
from store.catalog.filters import Filter
from store.disk.layout import Layout
from store.maps import maps
from store.maps.neighbourhoods import Neighbourhood
from store.mcp import access as access_module
from store.mcp import decisions
from store.mcp.access import Access
from store.mcp.decisions import AgentDecision
from store.permissions import Agent
from store.progress import Progress
from store.rules import copilot, running
from store.runtime import LibraryRuntime, open_library, open_reader
from store.settings import settings
from tests.browser.coins import FROG
from tests.ports import free_port
from tests.store.conftest import address as nth
from tests.store.conftest import coin
from tests.store.hashed import Hashed
from tests.store.mcp.clients import over_http, serving

pytestmark = pytest.mark.usefixtures("without_chroma")

BY = "mcp for ann"  # the name of the official client, and the person who started the server
FIRST, SECOND, THIRD = nth(0), nth(1), nth(2)


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A library of three coins that wait for review, where every agent may decide."""
    monkeypatch.setenv("MEMEDEX_AGENTS", "*")
    settings.cache_clear()
    monkeypatch.setattr("store.embedding.active_model.open_embedder", lambda name: Hashed())
    root = tmp_path / "res"
    with open_library(root, embedder=Hashed()) as library:
        library.add([coin(number) for number in range(3)])
    yield root
    settings.cache_clear()


@pytest.fixture
def agents(own: Path) -> Iterator[str]:
    access = Access(own, actor="ann", open_reader=open_reader, carry_out=LibraryRuntime.carry_out_for_agents)
    with serving(access, port=free_port()) as address:
        yield address
    access.close()


def _agent() -> Agent:
    return Agent("mcp", person="ann")


def tiers(root: Path) -> dict[str, str]:
    with open_reader(root) as reader:
        return {record.address: record.tier for record in reader.find(Filter())}


def test_an_agent_approves_rejects_and_tags_under_its_name_and_undoes_its_own(own: Path, agents: str) -> None:
    with open_library(own) as library:
        library.reject([THIRD], actor="ann")
    approved, rejected, tagged, listed, told, undone, again, empty = over_http(
        agents,
        ("approve_memecoins", {"addresses": [FIRST, THIRD, nth(9)]}),
        ("reject_memecoins", {"addresses": SECOND, "reason": "a copy"}),
        ("tag_memecoins", {"addresses": [FIRST], "add": "owl, night", "remove": None}),
        ("list_memecoins", {"tier": "approved", "filter": "tag:owl", "limit": None}),
        ("memecoin_history", {"address": SECOND, "limit": 1}),
        ("undo_memecoins", {}),
        ("undo_memecoins", {}),
        ("tag_memecoins", {"addresses": [FIRST]}),
    )
    assert approved["done"] == [FIRST]
    assert [one["item"] for one in approved["refused"]] == [THIRD, nth(9)]
    assert rejected["done"] == [SECOND]
    assert tagged["done"] == [FIRST]
    assert [one["token_address"] for one in listed["coins"]] == [FIRST]
    assert listed["coins"][0]["tags"][-2:] == ["owl", "night"]
    (event,) = told["events"]
    assert (event["by"], event["verb"], event["reason"]) == (BY, "reject", "a copy")
    assert (event["before"], event["after"]) == ("pending", "trash")
    assert (undone["done"], again["done"]) == ([FIRST], [SECOND])
    assert "tags to add, to remove, or both" in empty
    assert tiers(own) == {FIRST: "approved", SECOND: "pending", THIRD: "trash"}
    with open_reader(own) as reader:
        last = reader.to_undo(actor=BY)
        assert (last.id, last.verb) == (approved["decision"], "approve")
        assert reader.to_undo(actor="ann").verb == "reject", "a person's decision is not an agent's to undo"


def test_agents_decide_nothing_unless_the_settings_name_them(
    own: Path, agents: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variables in (
        {"MEMEDEX_AGENTS": ""},
        {"MEMEDEX_AGENTS": "claude-code"},
        {"MEMEDEX_VIEWERS": "agent=mcp"},
        {"MEMEDEX_VIEWERS": "ann"},
        {"MEMEDEX_CURATORS": "bob"},
        {"MEMEDEX_READ_ONLY": "1"},
    ):
        with monkeypatch.context() as patch:
            for name, value in variables.items():
                patch.setenv(name, value)
            settings.cache_clear()
            refused, seen = over_http(
                agents, ("approve_memecoins", {"addresses": [FIRST]}), ("list_memecoins", {})
            )
        assert "may look at coins, not decide about them: MEMEDEX_AGENTS names who may" in refused, variables
        assert seen["total"] == 3
    settings.cache_clear()
    assert set(tiers(own).values()) == {"pending"}


def test_a_dashboard_that_has_the_library_open_carries_out_what_agents_decide(own: Path, agents: str) -> None:
    with open_library(own) as library:
        library.work_in_background()
        (approved,) = over_http(agents, ("approve_memecoins", {"addresses": [FIRST]}))
        assert approved["done"] == [FIRST]
        assert library.get(FIRST).tier == "approved"
        assert library.history(address=FIRST)[0].actor == BY
        assert not [*library.layout.agent_decisions.iterdir()]


def test_a_decision_that_no_process_begins_is_withdrawn(
    own: Path, agents: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access_module, "PATIENCE", 0.0)
    with open_library(own):
        (late,) = over_http(agents, ("approve_memecoins", {"addresses": [FIRST]}))
    assert "nothing was decided: process" in late
    assert set(tiers(own).values()) == {"pending"}


@pytest.mark.parametrize("is_done", [False, True])
def test_a_decision_that_a_crash_interrupted_is_carried_out_once(own: Path, is_done: bool) -> None:
    decision = AgentDecision(uuid4().hex, "reject", program="mcp", person="ann", addresses=(FIRST,))
    layout = Layout(own)
    decisions.leave(layout, decision)
    left = layout.agent_decisions / f"{decision.id}.json"
    left.rename(taken := left.with_suffix(".taken"))
    if is_done:  # it was killed before the answer was stored
        content = taken.read_bytes()
        open_library(own).close()
        with open_library(own) as library, library.catalog.writing() as db:
            db.execute("DELETE FROM answers")
        taken.write_bytes(content)
    with open_library(own) as library:
        events = library.history(address=FIRST)
        assert [one.verb for one in events] == ["reject", "import"]
        answer = library.for_actor(_agent()).answers.find(decision.id)
        assert answer is not None
        assert json.loads(answer)["done"] == [FIRST]
    assert not taken.exists()


def test_a_file_that_holds_no_decision_is_kept_and_keeps_none_from_being_done(own: Path) -> None:
    layout = Layout(own)
    decisions.leave(layout, AgentDecision(uuid4().hex, "approve", "mcp", "ann", addresses=(FIRST,)))
    (layout.agent_decisions / "letter.json").write_text("{}")
    with open_library(own) as library:
        assert library.get(FIRST).tier == "approved"
    assert [path.name for path in layout.agent_decisions.iterdir()] == ["letter.unreadable"]


def test_an_agent_takes_back_no_decision_of_a_person(own: Path) -> None:
    with open_library(own) as library:
        by_ann = library.reject([FIRST], actor="ann").decision
        assert by_ann
        one = AgentDecision(uuid4().hex, "undo", program="mcp", person="ann", undoes=by_ann)
        decisions.leave(library.layout, one)
        decisions.carry_out_waiting(library)
        answer = library.for_actor(_agent()).answers.find(one.id)
        assert answer is not None
        assert "its own decisions only" in json.loads(answer)["error"]
        assert library.get(FIRST).tier == "trash"


def test_lists_and_the_map_are_read_by_any_agent(address: str) -> None:
    every, wrong, around, places, absent = over_http(
        address,
        ("list_memecoins", {"sort": "name", "limit": 2}),
        ("list_memecoins", {"filter": "tier:nowhere"}),
        ("map_neighbourhoods", {"near": FROG.name, "n": 2}),
        ("map_neighbourhoods", {"n": None}),
        ("map_neighbourhoods", {"near": "no such coin"}),
    )
    assert (every["total"], len(every["coins"])) == (4, 2)
    assert "nowhere" in wrong
    assert around["token_address"] == FROG.address
    assert len(around["nearest"]) == 2
    assert FROG.address not in [one["token_address"] for one in around["nearest"]]
    assert (places["places"], "Compute layout" in places["note"]) == ([], True)
    assert "there is no coin 'no such coin'" in absent


def test_an_agent_reads_advice_but_none_of_blind_coins_and_lists_samples(own: Path, agents: str) -> None:
    blind, waiting = nth(20), nth(21)
    with open_library(own) as library:
        library.add([coin(20), coin(21)])
        library.comment([waiting], "seen on X as a scam", actor="ben")
        library.embed_new(progress=Progress())
        running.save(library, replace(copilot.usual(), promise=0.8))
        scored = ((0.1, False),) * 60
        with library.catalog.writing() as db:
            advice.store_version(db, Version(1, time.time() - 8 * 86_400, 60, 1, "", scored), b"")
            advice.store(db, 1, [(one, 1, 0.05) for one in (blind, waiting)], at=1.0)
            db.execute("DELETE FROM unexamined")
    listed, sample, again, read, unread = over_http(
        agents,
        ("list_memecoins", {"filter": "ticker:C2*"}),
        ("list_memecoins", {"sort": "balanced", "seed": 3, "limit": 2}),
        ("list_memecoins", {"sort": "balanced", "seed": 3, "limit": 2, "offset": 2}),
        ("get_memecoin", {"address": waiting, "picture": False}),
        ("get_memecoin", {"address": blind, "picture": False}),
    )
    said = {one["token_address"]: one["advice"] for one in listed["coins"]}
    assert (said[blind], said[waiting]) == ("", "co-pilot: reject, 95 %")
    four = [one["token_address"] for page in (sample, again) for one in page["coins"]]
    assert len(set(four)) == 4
    assert [one["text"] for one in read["review_comments"]] == ["seen on X as a scam"]
    assert "copilot" not in unread


def test_places_of_the_map_come_with_the_coins_at_their_middle(address: str, root: Path) -> None:
    with open_library(root, embedder=Hashed()) as library:
        chart = library.maps.of("fused")
        points = np.array([[number, 0] for number in range(len(chart.addresses))], np.float32)
        fingerprint = library.embedder.fingerprint
        maps.store_map(
            library.catalog, "tsne fused", points, fingerprint=fingerprint, addresses=chart.addresses, at=1.0
        )
        found = [Neighbourhood("dogs", 3.0, 0.0, 0, 2), Neighbourhood("frogs", 0.0, 0.0, 1, 2)]
        maps.store_neighbourhoods(library.catalog, "fused", found, fingerprint=fingerprint, at=1.0)
    places, beside = over_http(
        address,
        ("map_neighbourhoods", {"n": 1}),
        ("map_neighbourhoods", {"near": chart.addresses[0], "n": 1}),
    )
    assert [(one["name"], one["level"], one["coins"]) for one in places["places"]] == [
        ("dogs", 0, 2),
        ("frogs", 1, 2),
    ]
    assert [one["nearest"][0]["token_address"] for one in places["places"]] == [
        chart.addresses[3],
        chart.addresses[0],
    ]
    assert beside["places"][0]["name"] == "frogs"
    assert [one["token_address"] for one in beside["nearest"]] == [chart.addresses[1]]


def test_an_agent_is_told_what_is_known_of_a_coin(agents: str, own: Path) -> None:
    picture = b64encode(open_reader(own).picture(SECOND).read_bytes()).decode()
    known, unknown, seen, both, wrong = over_http(
        agents,
        ("check_memecoin", {"asked": "coin 1"}),
        ("check_memecoin", {"asked": str(own / "memecoins" / "catalog.sqlite3")}),
        ("check_memecoin", {"picture": picture}),
        ("check_memecoin", {"asked": "coin 1", "picture": picture}),
        ("check_memecoin", {"picture": "???"}),
    )
    (one,) = known["found"]
    assert (one["token_address"], one["sentence"]) == (SECOND, "not compared with the others yet, in review")
    assert unknown["found"] == [], "no file of this machine is read for an agent"
    assert [found["token_address"] for found in seen["found"]] == [SECOND]
    assert "give one of asked and picture" in both
    assert "not base64" in wrong
