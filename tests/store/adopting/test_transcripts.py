"""Transcript databases of every version come in whole."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from store.adopting.system import AdoptionReport, AdoptionRequest
from store.adopting.systems import adopt_texts, recognise
from store.memory.memory import Memory
from store.progress import Progress
from tests.store.adopting import reference_transcripts as reference
from tests.store.memory.bags import Bags

LARGE = "litellm:text-embedding-3-large"


def adopted(memory: Memory, path: Path) -> AdoptionReport:
    (survey,) = recognise(path, system="transcript-database")
    return adopt_texts(memory, [survey], AdoptionRequest("", "", ""), Progress())


def vectors(memory: Memory) -> dict[tuple[int, str], np.ndarray]:
    """Each vector of the large model by its message's number and content type."""
    found = {}
    for row in memory.transcripts.entries.find():
        if row["embedding_model"] == LARGE:
            vector = memory.transcripts.entries.vector(row["id"])
            assert vector is not None
            found[int(row["parent_id"].rpartition("_")[2]), row["content_type"]] = vector
    return found


@pytest.fixture
def memory(reopen: Callable[[], Memory]) -> Memory:
    return reopen()


@pytest.mark.parametrize("version", ["1", "2", "3", "document", "duck"])
def test_messages_vectors_and_events_of_every_version(
    memory: Memory, bags: Bags, tmp_path: Path, version: str
) -> None:
    if version == "duck":
        pytest.importorskip("duckdb", reason="DuckDB files need the duckdb package")
        path = reference.write_duck(tmp_path / "s.duckdb")
    else:
        path = reference.write(tmp_path / "s.db", version)
    before = path.read_bytes()
    report = adopted(memory, path)
    assert (report.taken, report.reused, report.embedded, report.refused) == (
        [reference.message_id(n) for n in range(3)], 4, 1, [],
    )  # fmt: skip
    found = vectors(memory)
    assert found.keys() == reference.VECTORS.keys()
    assert all(np.abs(found[place] - vector).max() < 1e-6 for place, vector in reference.VECTORS.items())
    assert {
        (int(row["parent_id"].rpartition("_")[2]), row["content_type"]): row["source_text"]
        for row in memory.transcripts.entries.find()
    } == reference.TEXTS | {(1, "tool_call"): "grep"}, "which the reference does not embed"
    (event,) = memory.transcripts.find_events()
    assert (event["id"], event["tool_name"], event["lvl"]) == ("s1_evt_0", "grep", "INFO")
    (session,) = memory.transcripts.sessions()
    assert (session["user_id"], session["project_slug"], session["messages"]) == ("ada", "hooks", 3)
    assert memory.transcripts.search("hooks", mode="full_text")[0].message["id"] == "s1_msg_0"
    assert bags.requests == ["grep"]
    assert (path.read_bytes(), [*tmp_path.glob("s.*")]) == (before, [path])


def test_one_vector_for_each_message_as_the_first_version_had(memory: Memory, tmp_path: Path) -> None:
    report = adopted(memory, reference.write(tmp_path / "s.db", "0"))
    assert (len(report.taken), report.reused) == (3, 3)
    assert np.abs(vectors(memory)[0, "user_query"] - reference.VECTORS[0, "user_query"]).max() < 1e-6
    assert memory.transcripts.messages("s1")[1]["content"] == '"Before and after a swap."'


def test_adopting_twice_changes_nothing_and_one_undo_reverts_it(memory: Memory, tmp_path: Path) -> None:
    path = reference.write(tmp_path / "s.db", "3")
    adopted(memory, path)
    again = adopted(memory, path)
    assert (again.taken, len(again.present), again.reused, again.refused) == ([], 3, 0, [])
    memory.undo()
    with memory.transcripts.entries.database.reading() as db:
        for table in ("transcripts", "transcript_vectors", "events", "adopted"):
            assert db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] == 0, table


def test_broken_vectors_and_rows_are_named_and_the_rest_comes(memory: Memory, tmp_path: Path) -> None:
    path = reference.write(tmp_path / "s.db", "2")
    with sqlite3.connect(path) as db:
        db.execute("UPDATE transcript_vectors SET vector_json = '[1, \"x\"]' WHERE id LIKE 's1_msg_0%'")
        db.execute("UPDATE transcript_vectors SET vector_json = NULL WHERE id LIKE 's1_msg_2%'")
        db.execute("UPDATE transcripts SET session_id = '' WHERE id = 's1_msg_1'")
    report = adopted(memory, path)
    assert report.taken == ["s1_msg_0", "s1_msg_2"]
    assert {one.item for one in report.refused} == {"s1_msg_0_user_query_0", "s1_msg_1"}
    assert report.embedded == 2  # the texts whose vector is broken or missing


@pytest.mark.parametrize("version", ["0", "1", "2", "3", "document"])
def test_secrets_in_every_version_are_masked_and_told_with_their_vectors_made_again(
    memory: Memory, tmp_path: Path, version: str
) -> None:
    path = reference.write(tmp_path / "s.db", version)
    key = "AKIA" + "QWERTYUIOP234567"
    content = "content_json" if version in ("1", "2", "3") else "content"
    with sqlite3.connect(path) as db:
        said = f"Use {key} for hooks."
        given = said if version == "0" else json.dumps(said)
        db.execute(f"UPDATE transcripts SET {content} = ? WHERE id = 's1_msg_0'", [given])
        db.execute("UPDATE events SET data = ?", [json.dumps({"password": "heron-7-reeds"})])
        if version in ("2", "3", "document"):
            db.execute("UPDATE transcript_vectors SET source_text = ? WHERE id LIKE 's1_msg_0%'", [said])
    report = adopted(memory, path)
    assert "2 secrets are masked (1 AWS key, 1 password)" in report.notes
    asked = memory.transcripts.messages("s1")[0]
    assert (asked["content"], asked["text_content"]) == (
        '"Use [masked AWS key] for hooks."', "Use [masked AWS key] for hooks.",
    )  # fmt: skip
    (chunk,) = [row for row in memory.transcripts.entries.find() if row["parent_id"] == "s1_msg_0"]
    assert (chunk["source_text"], chunk["span_end"]) == (asked["text_content"], len(asked["text_content"]))
    assert chunk["embedding_model"] != LARGE
    again = adopted(memory, path)
    assert (again.taken, len(again.present), again.refused, again.notes) == ([], 3, [], [])
    kept = b"".join(one.read_bytes() for one in (tmp_path / "res").rglob("*") if one.is_file())
    assert key.encode() not in kept
    assert b"heron-7-reeds" not in kept


def test_a_newer_version_is_refused_by_name(tmp_path: Path) -> None:
    path = reference.write(tmp_path / "s.db", "3")
    with sqlite3.connect(path) as db:
        db.execute("UPDATE schema_meta SET value = '9'")
    (survey,) = recognise(path, system="transcript-database")
    assert [one.reason for one in survey.refused] == [
        "it has the schema version 9, and 3 is the newest known"
    ]


def test_the_project_comes_from_the_path_where_no_column_has_it(memory: Memory, tmp_path: Path) -> None:
    folder = tmp_path / "projects/swaps/sessions/s1"
    folder.mkdir(parents=True)
    path = reference.write(folder / "s.db", "2")
    with sqlite3.connect(path) as db:
        db.execute("UPDATE transcripts SET project_slug = NULL")
    adopted(memory, tmp_path)
    assert memory.transcripts.sessions()[0]["project_slug"] == "swaps"


def test_long_texts_of_one_chunk_are_offered_for_chunking(memory: Memory, tmp_path: Path) -> None:
    path = reference.write(tmp_path / "s.db", "1")
    long = "One two three four five. " * 1_700
    with sqlite3.connect(path) as db:
        db.execute("UPDATE transcripts SET content_json = ? WHERE id = 's1_msg_0'", [json.dumps(long)])
    report = adopted(memory, path)
    assert any(note.startswith("1 long texts are one chunk each") for note in report.notes)
    assert [*memory.transcripts.long_chunks().values()] == [LARGE]
    memory.transcripts.cut_long_chunks()
    assert memory.transcripts.long_chunks() == {}


def test_a_message_that_an_import_of_files_brought_is_already_there(memory: Memory, tmp_path: Path) -> None:
    session = tmp_path / "s1"
    session.mkdir()
    (session / "metadata.json").write_text('{"session_id": "s1", "user_id": "ada"}')
    (session / "transcript.jsonl").write_text(json.dumps(reference.MESSAGES[0]))
    memory.transcripts.import_sessions([session])
    report = adopted(memory, reference.write(tmp_path / "s.db", "3"))
    assert (report.present, len(report.taken), report.refused) == (["s1_msg_0"], 2, [])
    assert memory.transcripts.sessions()[0]["messages"] == 3


def test_recorded_sessions_have_the_project_of_their_path(memory: Memory, tmp_path: Path) -> None:
    session = tmp_path / "projects" / "swaps" / "sessions" / "s9"
    session.mkdir(parents=True)
    (session / "transcript.jsonl").write_text('{"role": "user", "content": "hello"}')
    memory.transcripts.import_sessions([tmp_path / "projects"])
    assert memory.transcripts.sessions()[0]["project_slug"] == "swaps"


def test_numbers_and_times_of_another_type_or_column_are_read_and_the_others_are_named(
    memory: Memory, tmp_path: Path
) -> None:
    with closing(sqlite3.connect(tmp_path / "s.db")) as db, db:
        db.execute(
            "CREATE TABLE transcripts (id TEXT, user_id TEXT, session_id TEXT, sequence TEXT, role TEXT, "
            "content TEXT, turn, ts TEXT, created_at REAL)"
        )
        rows = [
            ("a", "0", "1", "2026-01-31T10:00:00Z", None), ("b", "1.0", 2.0, None, 1769853600.0),
            ("c", "2", "second", "soon", None), ("d", "third", 3, None, None),
        ]  # fmt: skip
        db.executemany("INSERT INTO transcripts VALUES (?, 'ada', 's1', ?, 'user', '\"hi\"', ?, ?, ?)", rows)
    report = adopted(memory, tmp_path / "s.db")
    found = memory.transcripts.messages("s1")
    assert [(row["id"], row["sequence"], row["turn"], row["ts"]) for row in found] == [
        ("a", 0, 1, "2026-01-31T10:00:00.000+00:00"), ("b", 1, 2, "2026-01-31T10:00:00.000+00:00"),
        ("c", 2, None, None),
    ]  # fmt: skip
    assert [(one.item, one.reason) for one in report.refused] == [("d", "its sequence 'third' is no number")]
    assert report.notes[:2] == [
        "c: its turn 'second' is no number; it is left empty",
        "c: its ts 'soon' is no date or time; it is left empty",
    ]
    again = adopted(memory, tmp_path / "s.db")
    assert (again.taken, len(again.present)) == ([], 3)
