"""Pages of other programs' passages are read by how each of them counts."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from store.adopting.documents import PageNumbers, document_entry
from store.adopting.system import AdoptionReport, AdoptionRequest
from store.adopting.systems import adopt_texts, recognise
from store.memory.documents.documents import pages_of
from store.memory.documents.schema import KIND
from store.memory.engine.reembedding import reembed
from store.memory.memory import Memory
from store.progress import Progress
from tests.store.adopting import reference_chroma
from tests.store.memory.bags import Bags

GIVEN: dict[str, tuple[list[dict[str, Any]], list[int]]] = {
    "a pgvector table counts from 1": ([{"page": 1}, {"page": 2}, {"page": 42}], [1, 2, 42]),
    "LangChain's labels": (
        [{"page": n, "page_label": str(n + 1), "total_pages": 3} for n in range(3)], [1, 2, 3],
    ),
    "labels that begin later": ([{"page": 0, "page_label": "17"}, {"page": 1, "page_label": "18"}], [17, 18]),
    "from 0 without labels": ([{"page": 0}, {"page": 1}, {"page": 1}, {"page": 5}], [1, 2, 2, 6]),
    "from 0 as other types": ([{"page": "0"}, {"page": 1.0}, {"page": " 2 "}], [1, 2, 3]),
    "an empty first page": ([{"page": 1, "total_pages": 3}, {"page": 2, "total_pages": 3}], [2, 3]),
    "from 1 with a total": ([{"page": 1, "total_pages": 2}, {"page": 2, "total_pages": 2}], [1, 2]),
    "not only numbers": ([{"page": 0, "page_label": "iv"}, {"page": 1, "page_label": "1"}], [1, 2]),
    "LlamaIndex": ([{"page_label": "3"}, {"page_label": "4"}], [3, 4]),
    "Unstructured and Haystack": ([{"page_number": 1}, {"page_number": 2}], [1, 2]),
    "no pages at all": ([{}, {}], [1, 1]),
}  # fmt: skip
ADA = "litellm:text-embedding-ada-002"


@pytest.mark.parametrize("form", GIVEN)
def test_pages_are_those_of_the_paper(form: str) -> None:
    given, expected = GIVEN[form]
    passages = [{"source": "a.pdf", **one} for one in given]
    pages = PageNumbers(passages)
    entries = [document_entry(str(n), "text", one, pages) for n, one in enumerate(passages)]
    assert [entry.row["page"] for entry in entries] == expected
    assert [entry.unread for entry in entries] == [()] * len(expected)


def test_each_document_counts_by_itself() -> None:
    passages = [{"source": source, "page": page} for source, page in (("a", 0), ("a", 1), ("b", 1), ("b", 2))]
    pages = PageNumbers(passages)
    assert [pages.page(one) for one in passages] == [1, 2, 1, 2]
    assert pages.notes == ["a: its pages count from 0 there, and from 1 here"]


@pytest.mark.parametrize("number", ["iv", -3, 2.5, "A-1"])
def test_a_page_that_is_no_number_is_named_and_not_replaced(number: Any) -> None:
    passages = [{"source": "a.pdf", "page": one} for one in (number, 3)]
    pages = PageNumbers(passages)
    entry, other = (document_entry("1", "text", one, pages) for one in passages)
    assert (pages_of(entry.row), other.row["page"]) == ("no page", 3)
    assert entry.metadata == passages[0]
    assert entry.unread == (f"its page {str(number)!r} is no page's number",)


@pytest.mark.slow
def test_a_chroma_of_langchain_comes_with_its_pages_and_times_once(
    reopen: Callable[[], Memory], tmp_path: Path
) -> None:
    texts = ["The first page", "The second page", "The third page"]
    vectors = Bags().embed_texts(texts)
    rows = {
        f"id{n}": (
            text, {"source": "whitepaper.pdf", "page": n, "created_at": f"2026-01-0{n + 1}"},
            vectors[n].tolist(),
        )
        for n, text in enumerate(texts)
    }  # fmt: skip
    rows["odd"] = (
        "An odd page",
        {"source": "odd.pdf", "page": "iv", "created_at": "once"},
        vectors[0].tolist(),
    )
    reference_chroma.write(tmp_path / "chroma_db", {"langchain": rows})
    memory = reopen()
    (survey,) = recognise(tmp_path, system="chroma-texts")
    assert survey.notes == ("whitepaper.pdf: its pages count from 0 there, and from 1 here",)
    report = adopt_texts(memory, [survey], AdoptionRequest("", "", ""), Progress())
    found = {row["content"]: row["page"] for row in memory.documents.entries.find()}
    assert found == {"The first page": 1, "The second page": 2, "The third page": 3, "An odd page": 0}
    assert report.notes[-2:] == [
        "odd: its page 'iv' is no page's number; it is left empty",
        "odd: its created_at 'once' is no date or time; it is left empty",
    ]
    imported = {one.source: one.imported_at for one in memory.documents.sources()}
    assert imported == {"whitepaper.pdf": 1767398400.0, "odd.pdf": memory.documents.entries.clock()}
    again = adopt_texts(memory, [survey], AdoptionRequest("", "", ""), Progress())
    assert (again.taken, len(again.present), again.refused) == ([], 4, [])


def rows() -> list[dict[str, Any]]:
    """The documented example of a pgvector table and two more rows, 1,536 numbers each."""
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


LANGCHAIN = {"document": "content", "cmetadata": "metadata", "uuid": "id"}


@pytest.mark.parametrize("name", ["documents.csv", "documents.jsonl"])
@pytest.mark.parametrize("names", [{}, LANGCHAIN])
def test_rows_without_an_embedding_are_known_by_their_metadata(
    memory: Memory, tmp_path: Path, name: str, names: dict[str, str]
) -> None:
    called = {ours: theirs for theirs, ours in names.items()}
    given = [
        {called.get(key, key): value for key, value in row.items() if key != "embedding"} for row in rows()
    ]
    path = tmp_path / name
    if path.suffix == ".csv":
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, [*given[0]])
            writer.writeheader()
            writer.writerows(
                {key: json.dumps(one) if isinstance(one, dict) else one for key, one in row.items()}
                for row in given
            )
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in given))
    report = adopted(memory, path)
    assert (len(report.taken), report.reused, report.embedded) == (3, 0, 3)
    found = {
        row["id"]: (row["source"], row["page"], row["content"]) for row in memory.documents.entries.find()
    }
    assert found == {
        row["id"]: (row["metadata"]["source"], row["metadata"]["page"], row["content"]) for row in rows()
    }


def test_lines_with_a_text_and_other_metadata_are_no_passages(tmp_path: Path) -> None:
    for metadata in ({"source": "api"}, {}, {"mood": 1}):
        (tmp_path / "lines.jsonl").write_text(json.dumps({"content": "Likes frogs", "metadata": metadata}))
        assert recognise(tmp_path, system="document-rows") == []


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
    with memory.documents.entries.database.reading() as db:
        kept = {
            row["id"]: np.frombuffer(row["vector"], "<f4")
            for row in db.execute(f"SELECT p.id, v.vector FROM documents p {KIND.joined(model='?')}", [ADA])
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
    assert reembed(memory.documents.entries, ada)
    assert ada.requests == []
    found = memory.documents.entries.nearest(np.asarray(rows()[2]["embedding"], np.float32), n=1)
    assert found == {rows()[2]["id"]: pytest.approx(1)}


def test_rows_are_taken_once_and_undone_together(memory: Memory, tmp_path: Path) -> None:
    path = write(tmp_path / "documents.csv", rows())
    adopted(memory, path)
    again = adopted(memory, path)
    assert (again.taken, len(again.present), again.refused) == ([], 3, [])
    memory.undo()
    assert (memory.documents.entries.count(), memory.documents.sources()) == (0, [])


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
