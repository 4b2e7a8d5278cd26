"""The four faces of the text memory: page, Python, command line and agents have the same memory."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from store.cli import memory_sources, memory_trust
from store.cli.memory import memory_verbs
from store.errors import NotPermitted
from store.mcp.access import Access
from store.mcp.tools import server
from store.memory.engine.inputs import InvalidInput, UnknownEntry
from store.memory.memory import VERBS, Memory, SearchFilters
from store.memory.values import KINDS
from store.permissions import Actor
from store.runtime import open_reader
from tests.store.memory.conftest import Clock
from tests.store.memory.engine.test_versions import by_agent

PROJECT = Path(__file__).resolve().parents[3]
NAMES = ("worlds", "sessions", "protocols", "tags")


def listed() -> set[str]:
    """The commands that the help lists."""
    assert memory_sources.verb is memory_trust.verb, "both have declared theirs"
    return {name for name, command in get_command(memory_verbs).commands.items() if not command.hidden}


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    access = Access(
        tmp_path_factory.mktemp("agents"), actor="agent", open_reader=open_reader, carry_out=lambda _: False
    )
    return {tool.name for tool in server(access)._tool_manager.list_tools()}


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_the_same_name_everywhere(verb: str, tools: set[str]) -> None:
    assert callable(getattr(Memory, verb)), "in Python"
    assert verb in listed(), "on the command line"
    assert f"{verb}_memory" in tools, "for agents"
    pages = (
        "".join(path.read_text() for path in (PROJECT / "components/memory").glob("*.py"))
        + (PROJECT / "pages/memory.py").read_text()
        + (PROJECT / "components/shell/page/undo.py").read_text()
    )
    assert f'"{VERBS[verb]}' in pages, "on the page"


@pytest.mark.parametrize("name", NAMES)
def test_names_are_listed_everywhere(name: str, tools: set[str]) -> None:
    assert callable(getattr(Memory, name))
    assert name in listed()
    assert f"list_{name}" in tools


def test_entries_of_each_kind_are_stored_listed_shown_edited_and_removed(memory: Memory) -> None:
    ids = {
        "memories": memory.store("Kettles whistle", tags=["kitchen"]),
        "world_lore": memory.store("Dragons sleep", kind="world_lore", scope="peaks", name="d", is_new=True),
        "session_memory": memory.store("User: hi\nAI: ho", kind="session_memory", scope="elf_s1"),
    }
    for kind, id in ids.items():
        total, rows = memory.list(kind=kind)
        assert (total, [row["id"] for row in rows]) == (1, [id])
        assert memory.show(id, kind=kind)["id"] == id
        text = memory.kinds[kind].kind.text
        assert memory.edit(id, kind=kind, text="A brass submarine")[text] == "A brass submarine"
        assert memory.search("brass submarine", kind=kind)
        assert memory.remove([id], kind=kind).done == [id]
        assert memory.list(kind=kind) == (0, [])
        assert memory.undo().done == [id]
        assert memory.redo().done == [id]
        assert memory.list(kind=kind) == (0, [])
        assert memory.undo().done == [id]
    assert memory.worlds() == {"peaks": 1}
    assert memory.sessions() == {"elf_s1": 1}
    assert memory.tags() == {"kitchen": 1}
    assert memory.forget("s1") == {"elf_s1": 1}
    assert memory.sessions() == {}


def test_names_that_nothing_has_are_refused_with_the_nearest(memory: Memory) -> None:
    memory.store("Dragons sleep", kind="world_lore", scope="peaks", name="d", is_new=True)
    with pytest.raises(UnknownEntry, match="no world 'peeks'; the nearest: 'peaks'"):
        memory.store("text", kind="world_lore", scope="peeks", name="x")
    with pytest.raises(UnknownEntry, match="no world 'peeks'; the nearest: 'peaks'"):
        memory.list(kind="world_lore", scope="peeks")
    with pytest.raises(UnknownEntry, match="no world 'peeks'"):
        memory.assemble("Where do dragons sleep?", world="peeks")
    with pytest.raises(UnknownEntry, match="no entry 'peaks_x' in world_lore; the nearest: 'peaks_d'"):
        memory.show("peaks_x", kind="world_lore")
    with pytest.raises(UnknownEntry, match="no kind of text memory 'memory'; the nearest: 'memories'"):
        memory.list(kind="memory")
    with pytest.raises(InvalidInput, match="imported"):
        memory.store("text", kind="documents")


def test_ids_that_nothing_has_are_answered_with_the_nearest_by_every_verb(memory: Memory) -> None:
    entries = memory.lore.entries
    memory.lore.add_lore("peaks", "dragon", "Dragons sleep")
    for ask in (
        lambda: entries.get("peaks_dragoon"),
        lambda: entries.versions("peaks_dragoon"),
        lambda: memory.set_recall(["peaks_dragoon"], "pinned", kind="world_lore"),
        lambda: memory.preview_merge("peaks_dragon", ["peaks_dragoon"], kind="world_lore"),
    ):
        with pytest.raises(UnknownEntry, match="'peaks_dragoon' in world_lore; the nearest: 'peaks_dragon'"):
            ask()


def test_a_world_without_lore_is_known_to_every_verb(memory: Memory) -> None:
    memory.lore.put_file("atlas.yaml", b"id: atlas\nname: Atlas\nlore: ''")
    memory.lore.load_worlds()
    assert memory.worlds() == {"atlas": 0}
    assert memory.list(kind="world_lore", scope="atlas") == (0, [])
    assert memory.search("What is known?", kind="world_lore", scope="atlas") == []
    assert memory.assemble("What is known?", world="atlas").chunks == []


def test_redo_never_reaches_past_a_later_decision_or_a_forgetting(memory: Memory) -> None:
    memory.store("one")
    memory.store("an exchange", kind="session_memory", scope="elf_s1")
    memory.undo()
    memory.store("two")
    with pytest.raises(Exception, match="nothing to redo"):
        memory.redo()
    memory.undo()
    memory.store("an exchange", kind="session_memory", scope="elf_s2")
    memory.forget("s2")
    with pytest.raises(Exception, match="nothing to redo"):
        memory.redo()
    assert memory.list()[0] == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_question_that_is_no_text_is_refused_with_a_sentence(memory: Memory, kind: str) -> None:
    nothing: Any = None
    asking = [
        lambda: memory.search(nothing, kind=kind),
        lambda: memory.assemble(nothing, kinds=[kind]),
        lambda: memory.documents.search_named(nothing),
        lambda: memory.documents.compare(nothing, ["aave"]),
        lambda: memory.transcripts.search(nothing),
    ]
    for ask in asking:
        with pytest.raises(InvalidInput, match="has to be text, not NoneType"):
            ask()


# -- the same decision, sent again ------------------------------------------------------------------------


def test_each_verb_makes_a_decision_that_is_sent_again_once(memory: Memory) -> None:
    id = memory.store("frogs like tea", decision="a")
    assert memory.store("frogs like tea", decision="a") == id
    exchange = memory.store("hello", kind="session_memory", scope="elf_s1", decision="b")
    assert memory.store("hello", kind="session_memory", scope="elf_s1", decision="b") == exchange
    other = memory.store("toads drink coffee", decision="c")
    shown = memory.preview_merge(id, [other])
    merged = [memory.merge(id, [other], shown=shown, decision="d") for _ in range(2)]
    assert merged == [shown, shown]
    assert memory.merge(id, [other], decision="d").text == shown.text
    edited = [memory.edit(id, text="frogs swim", decision="e") for _ in range(2)]
    assert edited[0] == edited[1]
    for _ in range(2):
        removed = memory.remove([id, "nobody"], decision="f")
        assert (removed.done, [one.item for one in removed.refused]) == ([id], ["nobody"])
    undone = [memory.undo(decision="g") for _ in range(2)]
    assert undone[0] == undone[1]
    redone = [memory.redo(decision="h") for _ in range(2)]
    assert redone[0] == redone[1]
    made = [one.id for one in memory.log.find()]
    assert made == ["h", "g", "f", "e", "d", "c", "b", "a"]


@pytest.mark.parametrize("verb", ["accept", "reject"])
def test_a_review_that_is_sent_again_answers_what_it_did(memory: Memory, verb: str) -> None:
    agent = by_agent(memory, is_reviewed=True)
    agent.memories.store_memory("one")
    agent.session_memory.add_memory("elf_s1", "m1", "two")
    ids = [one.entry.id for one in memory.waiting()]
    first, again = (getattr(memory, verb)(ids, decision="a") for _ in range(2))
    assert first == again
    assert (sorted(again.done), again.refused) == (sorted(ids), [])
    assert memory.log.count() == 3, "two of the agent, and one"
    with pytest.raises(NotPermitted, match="another user"):
        getattr(memory.for_actor(Actor("ben", via="page")), verb)(ids, decision="a")


def test_a_session_that_is_forgotten_again_by_the_same_decision_is_gone_already(memory: Memory) -> None:
    for key in ("elf_s1", "dwarf_s1"):
        memory.store("dragons sleep", kind="session_memory", scope=key)
    assert memory.forget("s1", decision="a") == {"dwarf_s1": 1, "elf_s1": 1}
    assert memory.forget("s1", decision="a") == {"s1": 0}
    assert [(one.id, one.count) for one in memory.log.find()] == [("a", 2)]
    with pytest.raises(UnknownEntry):
        memory.forget("s1", decision="b")


def test_what_is_forgotten_by_a_decision_that_was_interrupted_is_forgotten_to_its_end(memory: Memory) -> None:
    for key in ("elf_s1", "dwarf_s1"):
        memory.store("dragons sleep", kind="session_memory", scope=key)
    memory.session_memory.delete_session_memory("dwarf_s1", decision="a")
    assert memory.forget("s1", decision="a") == {"elf_s1": 1}
    assert [(one.id, one.count) for one in memory.log.find()] == [("a", 2)]


DAY = 86_400
TEXT = {
    "memories": "content",
    "world_lore": "text",
    "session_memory": "text",
    "documents": "content",
    "transcript_vectors": "source_text",
}


@pytest.fixture
def stocked(memory: Memory, clock: Clock, tmp_path: Path) -> Memory:
    """In each kind an older and a newer entry about frogs, under two names."""
    for number, (name, text) in enumerate((("one", "frog pond old"), ("two", "frog pond new"))):
        memory.memories.store_memory(text, ["both", name])
        memory.lore.add_lore(name, "1", text)
        memory.session_memory.add_memory(name, "1", text)
        memory.documents.import_document(Path(f"{name}.md"), protocol=name, content=text.encode())
        folder = tmp_path / "projects" / f"p-{name}" / "sessions" / name
        folder.mkdir(parents=True)
        at = f"2026-01-{30 + number}T10:00:00Z"
        (folder / "transcript.jsonl").write_text(json.dumps({"role": "user", "content": text, "ts": at}))
        memory.transcripts.import_sessions([folder], user_id=f"u-{name}")
        clock.now += DAY
    clock.now -= 2 * DAY
    return memory


def found(stocked: Memory, kind: str, **filters: Any) -> list[str]:
    rows = stocked.search("frog pond", kind=kind, filters=SearchFilters(**filters))
    return [row[TEXT[kind]] for row in rows]


@pytest.mark.parametrize("kind", KINDS)
def test_dates_filter_every_kind(stocked: Memory, clock: Clock, kind: str) -> None:
    between = clock.now + DAY / 2 - (DAY if kind == "transcript_vectors" else 0)
    assert found(stocked, kind, since=between) == ["frog pond new"]
    assert found(stocked, kind, until=between) == ["frog pond old"]
    assert found(stocked, kind, since=between, until=between) == []


@pytest.mark.parametrize("kind", KINDS[1:])
def test_a_world_session_or_protocol_filters_its_kind(stocked: Memory, kind: str) -> None:
    assert found(stocked, kind, scope="two") == ["frog pond new"]
    with pytest.raises(UnknownEntry, match="two"):
        found(stocked, kind, scope="twoo")


@pytest.mark.parametrize("filters", [{"user": "u-two"}, {"project": "p-two"}], ids=str)
def test_users_and_projects_are_those_of_transcripts(stocked: Memory, filters: dict[str, Any]) -> None:
    assert found(stocked, "transcript_vectors", **filters) == ["frog pond new"]
    for kind in KINDS[:-1]:
        with pytest.raises(InvalidInput, match="belong to no"):
            found(stocked, kind, **filters)


def test_tags_are_those_of_memories_and_all_have_to_be_there(stocked: Memory) -> None:
    assert found(stocked, "memories", tags=["both", "two"]) == ["frog pond new"]
    assert found(stocked, "memories", tags=["one", "two"]) == []
    for kind in KINDS[1:]:
        with pytest.raises(InvalidInput, match="not tags"):
            found(stocked, kind, tags=["two"])


@pytest.mark.parametrize("kind", KINDS)
def test_entries_below_min_score_are_near_misses_when_asked_for(stocked: Memory, kind: str) -> None:
    assert len(found(stocked, kind, min_score=70)) == 2, "a cosine of 2 / √6"
    assert found(stocked, kind, min_score=98) == []
    rows = stocked.search("frog pond", kind=kind, filters=SearchFilters(min_score=98, near_misses=1))
    assert [row["near_miss"] for row in rows] == [True]
    for wrong in ({"min_score": 101}, {"near_misses": -1}):
        with pytest.raises(InvalidInput):
            found(stocked, kind, **wrong)


@pytest.mark.parametrize("kind", KINDS)
def test_marginal_relevance_prefers_what_says_something_else(
    stocked: Memory, tmp_path: Path, kind: str
) -> None:
    memory, other = stocked, "pond where a turtle swims alone, without a frog"
    if kind == "documents":
        memory.documents.import_document(Path("x.md"), protocol="x", content=other.encode())
    elif kind == "transcript_vectors":
        (tmp_path / "x.jsonl").write_text(json.dumps({"role": "user", "content": other}))
        memory.transcripts.import_sessions([tmp_path / "x.jsonl"])
    else:
        place = {} if kind == "memories" else {"scope": "one", "name": "9"}
        stocked.store(other, kind=kind, **place)
    plain = stocked.search("frog pond", kind=kind, limit=2)
    varied = stocked.search("frog pond", kind=kind, limit=2, filters=SearchFilters(mmr=0.1))
    assert {row[TEXT[kind]][:9] for row in plain} == {"frog pond"}
    assert other in {row[TEXT[kind]] for row in varied}
    with pytest.raises(InvalidInput, match="λ"):
        found(stocked, kind, mmr=2)
