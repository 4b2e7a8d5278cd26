"""Pages of other programs' passages are read by how each of them counts."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from store.adopting.system import AdoptionRequest
from store.adopting.systems import adopt_texts, recognise
from store.adopting.texts.document_entries import PageNumbers, document_entry
from store.memory.documents.documents import pages_of
from store.memory.memory import Memory
from store.progress import Progress
from tests.store.adopting.texts import reference_chroma
from tests.store.memory.bags import Bags

GIVEN: dict[str, tuple[list[dict[str, Any]], list[int]]] = {
    "reference 3 counts from 1": ([{"page": 1}, {"page": 2}, {"page": 42}], [1, 2, 42]),
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


@pytest.mark.parametrize("page", ["iv", -3, 2.5, "A-1"])
def test_a_page_that_is_no_number_is_named_and_not_replaced(page: Any) -> None:
    passages = [{"source": "a.pdf", "page": one} for one in (page, 3)]
    pages = PageNumbers(passages)
    entry, other = (document_entry("1", "text", one, pages) for one in passages)
    assert (pages_of(entry.row), other.row["page"]) == ("no page", 3)
    assert entry.metadata == passages[0]
    assert entry.unread == (f"its page {str(page)!r} is no page's number",)


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
    found = {row["content"]: row["page"] for row in memory.documents.passages.find()}
    assert found == {"The first page": 1, "The second page": 2, "The third page": 3, "An odd page": 0}
    assert report.notes[-2:] == [
        "odd: its page 'iv' is no page's number; it is left empty",
        "odd: its created_at 'once' is no date or time; it is left empty",
    ]
    imported = {one.source: one.imported_at for one in memory.documents.sources()}
    assert imported == {"whitepaper.pdf": 1767398400.0, "odd.pdf": memory.documents.passages.clock()}
    again = adopt_texts(memory, [survey], AdoptionRequest("", "", ""), Progress())
    assert (again.taken, len(again.present), again.refused) == ([], 4, [])
