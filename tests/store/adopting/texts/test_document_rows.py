"""Rows of reference 3's pgvector table come in whole, vectors included."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from store.adopting.report import AdoptionReport
from store.adopting.system import AdoptionRequest
from store.adopting.systems import adopt_texts, recognise
from store.memory.engine.reembedding import reembed
from store.memory.memory import Memory
from store.progress import Progress
from tests.store.memory.bags import Bags

ADA = "litellm:text-embedding-ada-002"


def rows() -> list[dict[str, Any]]:
    """Reference 3's example record and two more, 1,536 numbers each."""
    numbers = np.random.default_rng(3).normal(size=(3, 1536))
    vectors = (numbers / np.linalg.norm(numbers, axis=1, keepdims=True)).astype(np.float32)
    texts = ["The liquidation threshold is the percentage, in short", 'A "quoted"\nline', "Hooks run before"]
    metadata = [
        {"protocol": "aave", "source": "Aave_V3_Technical_Paper.pdf", "page": 12},
        {"protocol": "aave", "source": "Aave_V3_Technical_Paper.pdf", "page": 13, "section": "4.1"},
        {"protocol": "uniswap", "source": "uniswap.pdf", "page": 1},
    ]
    ids = [f"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1{n}" for n in range(3)]
    return [
        {"id": id, "content": text, "embedding": vector.tolist(), "metadata": fields}
        for id, text, vector, fields in zip(ids, texts, vectors, metadata, strict=True)
    ]


def write(path: Path, given: list[dict[str, Any]]) -> Path:
    """As `psql \\copy documents to … csv header` writes it, or one JSON object a line."""
    with path.open("w", newline="") as file:
        if path.suffix == ".csv":
            writer = csv.writer(file)
            writer.writerow(["id", "content", "embedding", "metadata"])
            for row in given:
                vector = "[" + ",".join(str(np.float32(one)) for one in row["embedding"]) + "]"
                writer.writerow([row["id"], row["content"], vector, json.dumps(row["metadata"])])
        else:
            file.writelines(json.dumps(row) + "\n" for row in given)
    return path


def adopted(memory: Memory, path: Path) -> AdoptionReport:
    (survey,) = recognise(path, system="document-rows")
    assert survey.count == 3
    return adopt_texts(memory, [survey], AdoptionRequest("", "", ""), Progress())


@pytest.fixture
def memory(reopen: Callable[[], Memory]) -> Memory:
    return reopen()


@pytest.mark.parametrize("name", ["documents.csv", "documents.jsonl"])
def test_rows_come_with_ids_metadata_and_their_1536_numbers(
    memory: Memory, bags: Bags, tmp_path: Path, name: str
) -> None:
    report = adopted(memory, write(tmp_path / name, rows()))
    assert (len(report.taken), report.reused, report.refused) == (3, 3, [])
    found = memory.documents.search("the liquidation threshold", 1)[0]
    assert {name: found[name] for name in ("id", "content", "metadata")} == {
        name: rows()[0][name] for name in ("id", "content", "metadata")
    }
    with memory.documents.passages.database.reading() as db:
        kept = {
            row["id"]: np.frombuffer(row["vector"], "<f4")
            for row in db.execute("SELECT * FROM kept_vectors WHERE model = ?", [ADA])
        }
    for row in rows():
        assert np.abs(kept[row["id"]] - row["embedding"]).max() < 1e-6
    assert set(bags.requests) == {*(row["content"] for row in rows()), "the liquidation threshold"}
    assert [source.id for source in memory.documents.sources()] == [
        "aave/Aave_V3_Technical_Paper.pdf",
        "uniswap/uniswap.pdf",
    ]


def test_a_change_to_their_model_uses_the_kept_vectors(memory: Memory, tmp_path: Path) -> None:
    adopted(memory, write(tmp_path / "documents.csv", rows()))
    ada = Bags(name=ADA, dimensions=1536)
    assert reembed(memory.documents.passages, ada)
    assert ada.requests == []
    found = memory.documents.passages.nearest(np.asarray(rows()[2]["embedding"], np.float32), n=1)
    assert found[0].id == rows()[2]["id"]
    assert found[0].score == pytest.approx(1)


def test_rows_are_taken_once_and_undone_together(memory: Memory, tmp_path: Path) -> None:
    path = write(tmp_path / "documents.csv", rows())
    adopted(memory, path)
    again = adopted(memory, path)
    assert (again.taken, len(again.present), again.refused) == ([], 3, [])
    memory.undo()
    assert (memory.documents.passages.count(), memory.documents.sources()) == (0, [])


def test_damaged_rows_are_named_and_the_others_come(memory: Memory, tmp_path: Path) -> None:
    given = rows()
    given[0]["embedding"] = [1.0, float("nan")]
    given[1]["content"] = None
    report = adopted(memory, write(tmp_path / "documents.jsonl", given))
    assert len(report.taken) == 1
    assert [one.item for one in report.refused] == [row["id"] for row in given[:2]]


def test_other_tables_are_not_taken_for_passages(tmp_path: Path) -> None:
    (tmp_path / "coins.csv").write_text("address,name\n1,2\n")
    (tmp_path / "chat.jsonl").write_text('{"role": "user", "content": "hello"}\n')
    assert recognise(tmp_path, system="document-rows") == []
