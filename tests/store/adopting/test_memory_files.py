"""Memories in the files of other programs are taken over once, with their tags and times."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from store.adopting.chroma_texts import kind_of
from store.adopting.system import AdoptionReport, AdoptionRequest
from store.adopting.systems import adopt_texts, recognise
from store.memory.exporting import batches
from store.memory.memory import Memory
from store.progress import Progress

GRAPH = (
    {
        "type": "entity",
        "name": "Alice",
        "entityType": "Person",
        "observations": ["Draws frogs", "Sings"],
    },
    {"type": "entity", "name": "RIBBIT", "entityType": "Coin", "observations": []},
    {"type": "relation", "from": "Alice", "to": "RIBBIT", "relationType": "created"},
)


@pytest.fixture
def memory(reopen: Callable[[], Memory]) -> Memory:
    return reopen()


def adopted(memory: Memory, path: Path) -> AdoptionReport:
    (survey,) = recognise(path, system="memory-files")
    return adopt_texts(memory, [survey], AdoptionRequest("", "", ""), Progress())


def test_a_knowledge_graph_becomes_a_memory_for_each_observation_and_relation(
    memory: Memory, tmp_path: Path
) -> None:
    for name in ("memory.jsonl", "copy.json"):
        (tmp_path / name).write_text("\n".join(map(json.dumps, GRAPH)))
    report = adopted(memory, tmp_path)
    assert (len(report.taken), len(report.present), report.refused) == (3, 3, [])
    found = {row["content"]: json.loads(row["tags"]) for row in memory.kinds["memories"].find()}
    assert found == {
        "Alice: Draws frogs": ["Alice", "Person"],
        "Alice: Sings": ["Alice", "Person"],
        "Alice created RIBBIT": ["Alice", "RIBBIT"],
    }
    assert adopted(memory, tmp_path).taken == []


def test_a_table_of_memories_comes_with_tags_and_time(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "sqlite_vec.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute(
            "CREATE TABLE memories (id INTEGER, content_hash TEXT, content TEXT, tags TEXT, created_at REAL)"
        )
        db.execute("INSERT INTO memories VALUES (1, 'h1', 'Likes dark themes', 'ui,taste', 1735689600.5)")
        db.execute("INSERT INTO memories VALUES (2, 'h2', '', '', 1735689600.5)")
        db.commit()
    before = path.read_bytes()
    report = adopted(memory, path)
    assert (report.taken, [one.item for one in report.refused]) == (["h1"], ["h2"])
    (row,) = memory.kinds["memories"].find()
    assert (row["content"], json.loads(row["tags"])) == ("Likes dark themes", ["ui", "taste"])
    assert row["timestamp"].startswith("2025-01-01T00:00:00")
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("table", "encoding"),
    [
        (
            'ID,Content,Tags,Created_at\r\n1,"Likes 狗, much","pond;frog",13/02/2024\r\n'
            "2,Sleeps,,01/03/2024\r\n",
            "utf-8-sig",
        ),
        (
            "id;memory;user_id;created_at;tags\n"
            "1;Likes 狗, much;ada;13/02/2024;pond,frog\n2;Sleeps;;01/03/2024;\n",
            "utf-16",
        ),
    ],
)
def test_a_csv_of_memories_is_told_by_its_columns(
    table: str, encoding: str, memory: Memory, tmp_path: Path
) -> None:
    (tmp_path / "memories.csv").write_bytes(table.encode(encoding))
    assert adopted(memory, tmp_path).taken == ["1", "2"]
    found = {
        row["content"]: (json.loads(row["tags"]), row["timestamp"]) for row in memory.kinds["memories"].find()
    }
    assert {text: (tags, at[:10]) for text, (tags, at) in found.items()} == {
        "Likes 狗, much": (["pond", "frog"], "2024-02-13"),
        "Sleeps": ([], "2024-03-01"),
    }


def test_other_files_are_none_of_its_business(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"name": "frog"}')
    (tmp_path / "b.jsonl").write_text("no JSON")
    (tmp_path / "c.db").write_bytes(b"no database")
    (tmp_path / "e.csv").write_text("id,content,tags,image\n1,a frog,pond,a.png\n")
    (tmp_path / "f.csv").write_text("id,title,content,created_at\n1,Frogs,a text,2024-01-01\n")
    sqlite3.connect(tmp_path / "d.sqlite3").close()
    assert recognise(tmp_path, system="memory-files") == []


@pytest.mark.parametrize(
    ("name", "keys", "kind"),
    [
        ("mem0", {"data", "hash", "user_id", "created_at"}, "memories"),
        ("langchain", {"source"}, "documents"),
        ("langchain", {"source", "page", "page_label"}, "documents"),
        ("quickstart", {"_node_content", "file_name", "doc_id"}, "documents"),
        ("haystack", {"file_path", "page_number", "split_id"}, "documents"),
        ("notes", {"source", "tags"}, "memories"),
        ("lore", {"world_id", "source"}, "world_lore"),
        ("frames", {"width"}, ""),
    ],
)
def test_a_collection_is_told_by_the_fields_of_its_entries(name: str, keys: set[str], kind: str) -> None:
    assert kind_of(name, keys) == kind


def test_lines_of_a_graph_that_are_broken_or_of_another_type_cost_themselves_alone(
    memory: Memory, tmp_path: Path
) -> None:
    lines = ['{"type": "_aim", "source": "graph"}', *map(json.dumps, GRAPH), '{"type": "entity", "na']
    (tmp_path / "memory.jsonl").write_text("\n".join(lines))
    (survey,) = recognise(tmp_path, system="memory-files")
    assert [one.item for one in survey.refused] == ["memory.jsonl, line 5"]
    report = adopted(memory, tmp_path)
    assert (len(report.taken), [one.item for one in report.refused]) == (3, ["memory.jsonl, line 5"])


@pytest.mark.parametrize(
    ("given", "texts"),
    [
        (
            {"entities": GRAPH[:2], "relations": GRAPH[2:]},
            {"Alice: Draws frogs", "Alice: Sings", "Alice created RIBBIT"},
        ),
        ({"results": [{"id": "1", "memory": "Likes frogs", "hash": "h", "user_id": "ada"}]}, {"Likes frogs"}),
        ({"results": [{"id": None, "memory": "Likes frogs", "user_id": "ada"},
                      {"id": None, "memory": "Sings"}, {"id": "2", "memory": None}]},
         {"Likes frogs", "Sings"}),
        ({"memories": [{"content": "Likes reeds", "content_hash": "h", "tags": ["pond"]}]}, {"Likes reeds"}),
        ({"agents": [], "blocks": [{"label": "human", "value": "Likes frogs"}, {"label": "x", "value": " "}]},
         {"Likes frogs"}),
        ({"results": [{"id": "1", "memory": "Likes frogs", "user_id": "ada"}],
          "relations": [{"source": "ada", "relationship": "likes", "target": "frogs"}]},
         {"Likes frogs", "ada likes frogs"}),
        ({"facts": [{"uuid": "f", "fact": "Likes frogs", "valid_at": "2026-05-01"}]}, {"Likes frogs"}),
        ({"edges": [{"uuid": "e", "name": "LIKES", "fact": "Likes frogs"}], "nodes": []}, {"Likes frogs"}),
        ([{"id": "passage-1", "text": "Likes frogs", "embedding": [0.1], "agent_id": "a"}], {"Likes frogs"}),
        ([{"id": "block-1", "label": "human", "value": "Likes frogs", "limit": 5000}], {"Likes frogs"}),
        ([{"namespace": ["memories", "ada"], "key": "k", "value": {"text": "Likes frogs"}}], {"Likes frogs"}),
        ([{"namespace": [], "key": "k", "value": {"kind": "x", "content": {"content": "Likes frogs"}}}],
         {"Likes frogs"}),
        ({"items": [{"id": "o", "content": "Likes frogs", "app_name": "claude"}]}, {"Likes frogs"}),
        ({"result": {"points": [{"id": "q", "payload": {"data": "Likes frogs", "user_id": "ada"}}]}},
         {"Likes frogs"}),
        ({"items": [{"id": "1", "title": "no memory", "content": "of a feed"}]}, set()),
        ({"results": [{"title": "no memory", "content": "a hit of a search"}]}, set()),
        ({"title": "Pond", "textContent": "", "listContent": [{"text": "Frogs", "isChecked": True}],
          "labels": [{"name": "a"}], "createdTimestampUsec": 1777622401000000, "isTrashed": False,
          "isPinned": False}, {"# Pond\n\n- [x] Frogs"}),
        ({"textContent": "Gone", "isTrashed": True, "isPinned": False}, set()),
        ({"ada": [{"id": "1", "memory": "Likes frogs"}], "bob": [{"id": "1", "memory": "Sings"}]},
         {"Likes frogs", "Sings"}),
        ({"memories": ["Likes frogs", "Sings"]}, {"Likes frogs", "Sings"}),
        ({"memories": "none"}, set()),
    ],
)  # fmt: skip
def test_an_export_in_json_is_told_by_its_fields(
    given: object, texts: set[str], memory: Memory, tmp_path: Path
) -> None:
    (tmp_path / "export.json").write_text(json.dumps(given))
    assert bool(recognise(tmp_path, system="memory-files")) is bool(texts)
    if texts:
        assert len(adopted(memory, tmp_path).taken) == len(texts)
    assert {row["content"] for row in memory.kinds["memories"].find()} == texts


def test_items_of_a_store_are_known_by_their_namespace_and_categories_are_tags(
    memory: Memory, tmp_path: Path
) -> None:
    items = [
        {"namespace": [name], "key": "k", "value": {"text": f"Of {name}", "categories": categories}}
        for name, categories in (("ada", [{"name": "pond"}]), ("mira", {"pond": True, "reeds": False}))
    ]
    (tmp_path / "store.json").write_text(json.dumps(items))
    assert adopted(memory, tmp_path).taken == ["ada/k", "mira/k"]
    for id in ("ada/k", "mira/k"):
        assert json.loads(memory.kinds["memories"].get(id)["tags"]) == ["pond"]
    assert len(adopted(memory, tmp_path).present) == 2


def test_what_an_agent_of_letta_keeps_in_mind_comes_with_its_label(memory: Memory, tmp_path: Path) -> None:
    block = {"id": "block-0", "label": "human", "value": "\nLikes frogs\n", "description": "Who it is"}
    agent = {"name": "Ada's", "block_ids": ["block-0"], "messages": []}
    whole = {"agents": [agent], "blocks": [block], "created_at": "2026-05-01T08:00:00Z"}
    (tmp_path / "pond.af").write_text(json.dumps(json.dumps(whole)))  # its JSON is in a text
    (tmp_path / "copy.af").write_text(json.dumps(whole))
    report = adopted(memory, tmp_path)
    assert (len(report.taken), len(report.present), report.refused) == (1, 1, [])
    [[entry]] = batches(memory.kinds["memories"])
    assert (entry.row["content"], json.loads(entry.row["tags"]), entry.row["timestamp"]) == (
        "Likes frogs", ["human"], "2026-05-01T08:00:00Z",
    )  # fmt: skip
    assert entry.metadata == {"agent": "Ada's", "description": "Who it is"}
    earlier = {"core_memory": [block], "messages": [], "name": "Ada's"}
    (tmp_path / "earlier.af").write_text(json.dumps(earlier))
    assert adopted(memory, tmp_path / "earlier.af").present == report.taken


def test_deleted_memories_stay_deleted_and_their_fields_are_read(memory: Memory, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "sqlite_vec.db")) as db:
        db.execute("CREATE TABLE memories (content_hash TEXT, content TEXT, metadata TEXT, deleted_at REAL)")
        db.execute("""INSERT INTO memories VALUES ('h1', 'Likes frogs', '{"tags": ["pond"]}', NULL)""")
        db.execute("INSERT INTO memories VALUES ('h2', 'Likes toads', '{', 1735689600.5)")
        db.commit()
    assert adopted(memory, tmp_path).taken == ["h1"]
    (row,) = memory.kinds["memories"].find()
    assert json.loads(row["tags"]) == ["pond"]


def test_a_damaged_table_of_memories_is_named(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "sqlite_vec.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE memories (content_hash TEXT, content TEXT)")
        db.executemany("INSERT INTO memories VALUES (?, ?)", [(f"h{n}", "frog " * 200) for n in range(50)])
        db.commit()
    content = bytearray(path.read_bytes())
    content[3 * 4096 : 6 * 4096] = b"\xff" * (3 * 4096)
    path.write_bytes(content)
    (survey,) = recognise(tmp_path, system="memory-files")
    assert "cannot be read to its end" in survey.refused[0].reason
    report = adopted(memory, tmp_path)
    assert [one.item for one in report.refused] == ["sqlite_vec.db"]


MEM0 = {"id": "m1", "memory": "Ada likes frogs", "user_id": "ada", "created_at": "2026-01-01T00:00:00Z"}


@pytest.mark.parametrize(
    ("name", "content", "texts"),
    [
        ("list.json", json.dumps([MEM0]), ["Ada likes frogs"]),
        ("lines.jsonl", json.dumps(MEM0) + "\n" + json.dumps({**MEM0, "memory": "And reeds"}) + "\n",
         ["Ada likes frogs", "And reeds"]),
        ("one.jsonl", json.dumps(MEM0), ["Ada likes frogs"]),
        ("memories.json", json.dumps({"memories": [{"content": "Ada likes frogs"}]}), ["Ada likes frogs"]),
        ("memories.json",
         json.dumps([{"conversations_memory": "Ada likes frogs", "project_memories": {"p": "It is deep"}}]),
         ["Ada likes frogs", "It is deep"]),
        ("tweets.json", json.dumps([{"user_id": "ada", "text": "Ada likes frogs"}]), []),
    ],
)  # fmt: skip
def test_lists_of_memories_are_told_by_their_fields(
    tmp_path: Path, name: str, content: str, texts: list[str]
) -> None:
    (tmp_path / name).write_text(content)
    surveys = recognise(tmp_path / name, system="memory-files")
    assert [kind.count for survey in surveys for kind in survey.found] == ([len(texts)] if texts else [])


ROW = {"id": "m1", "content": "Mag Frösche", "tags": ["pond"], "created_at": "1. Mai 2024"}
WRITTEN = json.dumps([ROW], ensure_ascii=False)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("memories", WRITTEN.encode()),
        ("memories.txt", WRITTEN.encode("cp1252")),
        ("memories.json", WRITTEN.encode("utf-16")),
        ("memories.jsonl", (json.dumps(ROW) + '\n{"id": "m2", "content": ""}\n').encode()),
    ],
)
def test_memories_come_in_whatever_their_file_is_called_and_written_in(
    memory: Memory, tmp_path: Path, name: str, content: bytes
) -> None:
    (tmp_path / name).write_bytes(content)
    assert adopted(memory, tmp_path / name).taken == ["m1"]
    [row] = memory.kinds["memories"].find()
    assert (row["content"], json.loads(row["tags"]), row["timestamp"]) == (
        "Mag Frösche", ["pond"], "2024-05-01T00:00:00Z",
    )  # fmt: skip
