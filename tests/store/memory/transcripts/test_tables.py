"""Version 1 transcript databases are migrated to version 2 on opening, completely or not at all."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from store.disk.files import Disk
from store.memory.engine.database import Places
from store.memory.engine.reembedding import reembed
from store.memory.engine.salvage import take_over
from store.memory.kinds import KINDS
from store.memory.memory import Memory
from store.memory.transcripts.tables import TABLES
from tests.store.memory.bags import Bags
from tests.store.memory.transcripts.version_1 import found, vector, version_1


class PowerCut(BaseException):
    pass


@pytest.mark.parametrize("as_json", [False, True], ids=["bytes", "JSON"])
def test_every_vector_moves_to_its_own_row_and_keeps_its_model(
    path: Path, reopen: Callable[[], Memory], as_json: bool
) -> None:
    version_1(path, count=8, as_json=as_json)
    memory = reopen()
    chunks = {row["id"]: row for row in memory.transcripts.entries.find(limit=None)}
    assert {id for id, row in chunks.items() if row["embedding_model"]} == {
        "m0_user_query_0", "m1_assistant_response_0", "m1_assistant_thinking_0", "m2_tool_output_0",
        "m4_user_query_0", "m5_assistant_response_0", "m5_assistant_thinking_0", "m6_tool_output_0",
    }  # fmt: skip
    assert {id for id, row in chunks.items() if not row["embedding_model"]} == {
        "m3_tool_output_0",
        "m7_tool_output_0",
    }, "what had no vector waits for one"
    row = chunks["m1_assistant_thinking_0"]
    assert (row["source_text"], row["span_start"], row["span_end"]) == ("hm 1", 0, 4)
    assert (row["chunk_index"], row["total_chunks"], row["token_count"]) == (0, 1, 3)
    assert row["embedding_model"] == "litellm:text-embedding-3-large", "X and litellm:X are one model"
    assert (memory.transcripts.entries.vector("m1_assistant_thinking_0") == vector(1)).all()
    assert len(memory.transcripts.messages("s0", limit=1000)) == 2
    memory.close()
    with closing(sqlite3.connect(memory.places.database)) as db:
        columns = [row[1] for row in db.execute("PRAGMA table_info(transcripts)")]
        assert not any("vector" in column or "model" in column for column in columns)
        assert db.execute("SELECT * FROM schema_meta").fetchall() == [("version", "2")]
        tables = {row[0] for row in db.execute("SELECT name FROM sqlite_master")}
        assert not any("version_1" in name for name in tables)


def test_entries_that_need_embedding_are_counted_and_can_be_embedded(
    path: Path, reopen: Callable[[], Memory], bags: Bags
) -> None:
    version_1(path, count=8)
    memory = reopen()
    assert (memory.transcripts.entries.to_embed(), memory.transcripts.entries.without_vector()) == (10, 2)
    assert memory.transcripts.search("question 4", mode="semantic") == [], "two models are never compared"
    assert memory.transcripts.search("question 4")[0].message["id"] == "m4"
    assert memory.transcripts.embed_new()
    assert (memory.transcripts.entries.to_embed(), len(bags.requests)) == (8, 2), "of the same text once"
    assert reembed(memory.transcripts.entries)
    assert memory.transcripts.entries.to_embed() == 0
    assert memory.transcripts.search("question 4", mode="semantic")[0].message["id"] == "m4"


@pytest.mark.slow
def test_an_interrupted_migration_changes_nothing_and_can_be_repeated(tmp_path: Path) -> None:
    original = tmp_path / "original.sqlite3"
    version_1(original, count=2_100)
    before = found(original)

    def opened(root: Path, disk: Disk) -> dict[str, list[tuple]]:
        if not Places(root).folder.exists():
            Places(root).folder.mkdir(parents=True)
            Places(root).former("transcripts").write_bytes(original.read_bytes())
        take_over(Places(root), KINDS, disk=disk, lock=None)
        return found(Places(root).database)

    steps: list[str] = []
    after = opened(tmp_path / "whole", Disk(before=lambda name, _: steps.append(name)))
    assert len(after["transcript_vectors"]) == 2_625
    assert "rows from 2000" in steps
    # Fail at every step, but only at one of those that are alike.
    struck = [n for n, name in enumerate(steps) if name not in steps[:n]]
    for at in struck:
        root, left = tmp_path / f"cut {at}", [at]

        def cut(name: str, _: Path, left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] < 0:
                raise PowerCut

        with pytest.raises(PowerCut):
            opened(root, Disk(before=cut))
        kept = [*Places(root).folder.rglob("transcripts.sqlite3")]
        assert [found(path) for path in kept] == [before], f"cut at {steps[at]}"
        assert _without_created_at(opened(root, Disk())) == _without_created_at(after), f"cut at {steps[at]}"


@pytest.mark.slow
def test_ten_thousand_messages_migrate(path: Path, reopen: Callable[[], Memory]) -> None:
    version_1(path, count=10_000)
    memory = reopen()
    assert memory.transcripts.entries.count() == 12_500
    assert memory.transcripts.entries.to_embed() == 12_500
    assert memory.transcripts.entries.count(words="question") == 2_500


def test_a_half_finished_migration_of_another_program_is_completed(
    path: Path, reopen: Callable[[], Memory]
) -> None:
    version_1(path, count=8)
    with closing(sqlite3.connect(path)) as db:
        db.executescript(TABLES.replace("'2'", "'1'"))
        db.execute(
            "INSERT INTO transcript_vectors VALUES ('own-id', 'm0', 'ann', 's0', NULL, 'user_query', 0, 1, "
            "0, 10, 2, 'question 0', ?, 'text-embedding-3-large', NULL)",
            [vector(0).tobytes()],
        )
        db.commit()
    memory = reopen()
    ids = {row["id"] for row in memory.transcripts.entries.find(limit=None)}
    assert "own-id" in ids
    assert "m0_user_query_0" not in ids
    assert len(ids) == 10


def test_a_version_1_file_without_vector_columns_only_gets_its_version(
    path: Path, reopen: Callable[[], Memory]
) -> None:
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as db:
        db.executescript(TABLES.replace("'2'", "'1'"))
        db.execute(
            "INSERT INTO transcripts (id, user_id, session_id, sequence, role, content) "
            "VALUES ('m', 'ann', 's', 0, 'user', '\"hi\"')"
        )
        db.commit()
    memory = reopen()
    assert len(memory.transcripts.messages("s")) == 1
    assert found(memory.places.database)["schema_meta"] == [("version", "2")]


def _without_created_at(tables: dict[str, list[tuple]]) -> dict[str, list[tuple]]:
    """Drop `created_at`, the time at which the row was inserted."""
    return {**tables, "transcript_vectors": [row[:-1] for row in tables["transcript_vectors"]]}


def test_importing_a_migrated_session_again_adds_only_new_messages(
    path: Path, reopen: Callable[[], Memory], tmp_path: Path
) -> None:
    version_1(path, count=1)
    memory = reopen()
    first = {"role": "user", "content": "question 0", "user_id": "ann"}
    lines = [first, {"role": "user", "content": "question 1"}]
    (tmp_path / "s0.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    report = memory.transcripts.import_sessions([tmp_path / "s0.jsonl"])
    assert (report.messages, report.changed, report.present) == (1, 0, 1)
    assert memory.transcripts.messages("s0")[0]["id"] == "m0"


def test_migrated_texts_above_the_chunk_limit_are_split_with_exact_spans(
    path: Path, reopen: Callable[[], Memory]
) -> None:
    version_1(path, count=2)
    long = "\n".join(f"line {number} of a long output" for number in range(6_000))
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE transcripts SET content = ? WHERE id = 'm0'", [json.dumps(long)])
        db.commit()
    memory = reopen()
    entries = memory.kinds["transcript_vectors"]
    assert entries.get("m0_user_query_0")["token_count"] > 8192
    assert memory.transcripts.cut_long_chunks() == 1
    chunks = sorted(
        (row for row in entries.find(limit=None) if row["parent_id"] == "m0"),
        key=lambda row: row["chunk_index"],
    )
    assert len(chunks) > 20
    assert all(row["source_text"] == long[row["span_start"] : row["span_end"]] for row in chunks)
    assert all(row["token_count"] <= 1_200 for row in chunks)
    assert {row["total_chunks"] for row in chunks} == {len(chunks)}
    assert chunks[-1]["span_end"] == len(long)
    assert all(entries.vector(row["id"]) is None for row in chunks)
    assert memory.transcripts.embed_new()
    assert memory.transcripts.cut_long_chunks() == 0
    memory.undo()
    assert entries.get("m0_user_query_0")["total_chunks"] == 1


def test_vectors_as_json_text_in_the_table_of_vectors_become_numbers(
    path: Path, reopen: Callable[[], Memory]
) -> None:
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as db:
        db.executescript(TABLES)
        db.execute(
            "INSERT INTO transcripts (id, user_id, session_id, sequence, role, content) "
            "VALUES ('m', 'ann', 's', 0, 'user', '\"hello\"')"
        )
        db.execute(
            "INSERT INTO transcript_vectors (id, parent_id, user_id, session_id, content_type, span_end, "
            "token_count, source_text, vector, embedding_model) "
            "VALUES ('m_user_query_0', 'm', 'ann', 's', 'user_query', 5, 1, 'hello', '[0.6, 0.8]', 'bags')"
        )
        db.commit()
    memory = reopen()
    found = memory.transcripts.entries.vector("m_user_query_0")
    assert found is not None
    assert found.tolist() == pytest.approx([0.6, 0.8])
