"""PDF: refused files, and two real papers read page by page."""

import re
from collections import Counter
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from store.errors import BadSource
from store.memory.documents.headings import typeset_headings
from store.memory.documents.pdf import marks, page_picture, read
from store.memory.memory import Memory
from store.settings import settings
from tests.store.language_model_server import ADA, running
from tests.store.memory.documents.small_pdf import locked_without_password, small_pdf

PAPERS = Path(__file__).resolve().parents[5] / "shared" / "data" / "documents"


AAVE, UNISWAP = PAPERS / "Aave_V3_Technical_Paper.pdf", PAPERS / "uniswap_whitepaper_v4.pdf"


papers = pytest.mark.skipif(not AAVE.exists(), reason="../shared/data/documents is not here")


def import_content(memory: Memory, name: str, content: str | bytes, protocol: str) -> None:
    raw = content.encode() if isinstance(content, str) else content
    memory.documents.import_document(Path(name), protocol=protocol, content=raw)


# -- refused files -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("scan.pdf", small_pdf("", ""), "2 pages and no text on any of them"),
        ("locked.pdf", small_pdf("secret", encrypted=True), "is encrypted"),
        ("cut.pdf", small_pdf("words")[:40], "no PDF, or a damaged one"),
        ("empty.pdf", b"", "no PDF, or a damaged one"),
        ("letter.docx", b"PK\x03\x04", "no Word document that can be read"),
        ("letter.odt", b"PK\x03\x04", "not a text document that can be read"),
        ("letter.rtf", b"{\\rtf1}", "not of a kind that can be read"),
        ("latin.txt", "é".encode("latin-1"), "not UTF-8"),
        ("empty.md", b" \n ", "no text in it"),
    ],
)
def test_scanned_encrypted_and_broken_files_are_refused_with_a_reason(
    memory: Memory, name: str, content: bytes, reason: str
) -> None:
    with pytest.raises(BadSource, match=reason):
        import_content(memory, name, content, "aave")
    assert memory.documents.sources() == []


WHOLE = small_pdf("The vault opens at dawn", "and closes at dusk")


@pytest.mark.parametrize(
    "content",
    [
        WHOLE,
        re.sub(rb"startxref\n\d+", b"startxref\n99999", WHOLE),
        re.sub(rb"\d{10} 00000 n", b"0000000007 00000 n", WHOLE),
        WHOLE[: WHOLE.index(b"%%EOF")],
        b"HTTP/1.1 200 OK\r\n\r\n" + WHOLE,
        WHOLE + b"<html><script>track()</script></html>" * 40,
        WHOLE.replace(b"/F1 3 0 R", b"/F7 9 0 R"),
        WHOLE.replace(b"/BaseFont /Helvetica", b"/BaseFont /NoSuchFon"),
        WHOLE.replace(b"/Count 2", b"/Count 7"),
        re.sub(rb"/Length \d+", b"/Length 9", WHOLE),
        locked_without_password(WHOLE),
    ],
    ids=["whole", "startxref", "offsets", "no end", "a header before it", "a page behind it",
         "no font", "unknown font", "wrong count", "wrong length", "no password"],
)  # fmt: skip
def test_a_damaged_or_openly_locked_pdf_is_read_as_viewers_read_it(memory: Memory, content: bytes) -> None:
    import_content(memory, "paper.pdf", content, "vault")
    found = {row["page"]: row["content"] for row in memory.documents.entries.find()}
    assert " ".join(found.values()).split() == [
        "The",
        "vault",
        "opens",
        "at",
        "dawn",
        "and",
        "closes",
        "at",
        "dusk",
    ]
    row = memory.documents.entries.find()[0]
    assert memory.documents.cite(row["id"]).pages[0][1], "its place is marked"


@pytest.mark.parametrize("content", [WHOLE[: len(WHOLE) // 3], b"<html>not found</html>", b"\0" * 4_000])
def test_a_half_pdf_or_another_file_of_its_name_is_refused(memory: Memory, content: bytes) -> None:
    with pytest.raises(BadSource, match=r"paper\.pdf is no PDF, or a damaged one"):
        import_content(memory, "paper.pdf", content, "vault")


def test_what_is_filled_into_a_form_is_read_and_marked(memory: Memory) -> None:
    content = small_pdf("Name of the pond", filled="Otter pond")
    import_content(memory, "form.pdf", content, "vault")
    (row,) = memory.documents.entries.find()
    assert row["content"] == "Name of the pond\nOtter pond"
    (mark,) = marks(content, name="form.pdf", page=1, passage="Otter pond")
    assert 0.2 < mark[1] < 0.25
    ink = np.asarray(Image.open(BytesIO(page_picture(content, name="p.pdf", page=1))).convert("L")) < 128
    assert ink[int(mark[1] * ink.shape[0]) : int(mark[3] * ink.shape[0]) + 1].any(), "it is on the picture"


def test_an_upload_with_pdf_content_is_read_as_a_pdf(memory: Memory) -> None:
    import_content(memory, "paper.txt", small_pdf("real text"), "aave")
    assert [row["content"] for row in memory.documents.entries.find()] == ["real text"]


def test_a_missing_file_is_named(memory: Memory, tmp_path: Path) -> None:
    with pytest.raises(BadSource, match="cannot be read"):
        memory.documents.import_document(tmp_path / "nowhere.pdf", protocol="aave")


# -- the place of a passage ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "box",
    [
        "/MediaBox [0 0 612 792]",
        "/MediaBox [0 0 612 792] /Rotate 90",
        "/MediaBox [0 0 612 792] /Rotate 180",
        "/MediaBox [0 0 612 792] /Rotate 270",
        "/MediaBox [0 0 612 792] /CropBox [40 400 400 760]",
        "/MediaBox [0 0 612 792] /CropBox [81 400 400 760]",
        "/MediaBox [-100 -50 512 742]",
        "/MediaBox [50 300 612 792] /CropBox [60 310 500 750] /Rotate 270",
    ],
    ids=["plain", "90", "180", "270", "cropped", "cut letters", "shifted", "all"],
)
def test_a_citation_covers_the_words_on_a_page_cut_and_turned_in_any_way(box: str) -> None:
    content = small_pdf("The vault opens at dawn", box=box)
    (text,) = read(content, name="p.pdf").pages
    (mark,) = marks(content, name="p.pdf", page=1, passage=text)
    ink = np.asarray(Image.open(BytesIO(page_picture(content, name="p.pdf", page=1))).convert("L")) < 128
    left, top, right, bottom = np.multiply(mark, [*ink.shape[::-1]] * 2)
    covered = ink[int(top) : int(bottom) + 1, int(left) : int(right) + 1]
    assert covered.sum() == ink.sum() > 300
    assert covered.mean() > 0.1, "and little else"


# -- two real papers -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def library_of_papers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    memory = Memory.open(tmp_path_factory.mktemp("papers") / "res")
    memory.documents.import_document(AAVE, protocol="Aave")
    memory.documents.import_document(UNISWAP, protocol="Uniswap")
    yield memory
    memory.close()


@papers
def test_every_page_of_both_papers_is_imported(library_of_papers: Memory) -> None:
    rows = library_of_papers.documents.entries.find(limit=None)
    pages = {name: {row["page"] for row in rows if row["protocol"] == name} for name in ("aave", "uniswap")}
    assert pages == {"aave": set(range(1, 17)), "uniswap": set(range(1, 5))}
    assert all(0 < len(row["content"]) <= 1000 for row in rows)


AAVES_HEADINGS = """\
1 1 Introduction
1 1.1 Capital Efficiency
2 1.2 Protocol safety
3 1.3 Decentralization
3 1.4 User experience
3 2 Current solutions
3 2.1 Isolated liquidity pairs
4 2.2 Isolated liquidity pools
4 3 Aave V3 Overview
5 3.1 Capital efficiency and UX improvements
6 3.2 Risk Management
8 3.3 Decentralization
8 3.4 Other features
9 4 Feature specification
9 4.1 Efficiency Mode
10 4.2 Isolation Mode
11 4.3 Granular borrowing power control
12 4.4 Stable interest rate oracle removal
12 4.5 Portals
13 4.6 Price Oracle Sentinel
14 4.7 System roles, responsibilities and threat model"""
UNISWAPS_HEADINGS = """\
1 ABSTRACT
1 1 INTRODUCTION
2 2 HOOKS
2 2.1 Action Hooks
2 2.2 Hook-managed fees
2 3 SINGLETON AND FLASH ACCOUNTING
2 4 NATIVE ETH
3 5 CUSTOM ACCOUNTING
3 6 OTHER NOTABLE FEATURES
3 6.1 ERC-6909 Accounting
3 6.2 Governance updates
3 6.3 Gas reductions
4 6.4 donate()
4 7 SUMMARY
4 REFERENCES
4 DISCLAIMER"""


@papers
@pytest.mark.parametrize(("path", "headings"), [(AAVE, AAVES_HEADINGS), (UNISWAP, UNISWAPS_HEADINGS)])
def test_the_headings_of_a_paper_are_those_that_a_person_sees(path: Path, headings: str) -> None:
    lines = read(path.read_bytes(), name=path.name).lines
    found = [f"{page + 1} {heading.title}" for page, heading in typeset_headings(lines)]
    assert "\n".join(found) == headings


@papers
def test_each_passage_is_in_the_section_that_most_of_it_is_in(library_of_papers: Memory) -> None:
    pages = read(AAVE.read_bytes(), name="aave.pdf").pages
    heads = [line.split(" ", 1) for line in AAVES_HEADINGS.split("\n")]
    starts = [(int(page), f"\n{pages[int(page) - 1]}".index(f"\n{title}\n"), title) for page, title in heads]
    rows = library_of_papers.documents.entries.find(where={"protocol": "aave"}, limit=None)
    assert len(rows) == 51
    for row in rows:
        last = row["last_page"] or row["page"]
        counts = Counter[str]()
        for page in range(row["page"], last + 1):
            begin = row["span_start"] if page == row["page"] else 0
            for place in range(begin, row["span_end"] if page == last else len(pages[page - 1])):
                before = [title for at, start, title in starts if (at, start) <= (page, place)]
                counts[before[-1] if before else ""] += 1
        assert row["section"] == counts.most_common(1)[0][0], row["content"]


@papers
def test_two_column_pages_are_read_column_by_column_with_whole_words(library_of_papers: Memory) -> None:
    rows = library_of_papers.documents.entries.find(where={"protocol": "uniswap", "page": 1}, limit=None)
    text = " ".join(" ".join(row["content"].split()) for row in rows)
    order = ["ABSTRACT", "gas efficiency and developer experience", "1 INTRODUCTION", "Uniswap v1 [2]",
             "Additionally, in previous versions", "Singleton:", "Flash accounting:"]  # fmt: skip
    places = [text.find(words) for words in order]
    assert -1 not in places
    assert places == sorted(places)
    assert "automated market maker implemented for" in text, "a word cut at the line's end is whole again"


@papers
@pytest.mark.parametrize(
    ("question", "protocol", "pages"),
    [
        ("How does the singleton contract reduce the cost of creating pools?", "uniswap", {1, 2}),
        ("What does high efficiency mode allow borrowers to do?", "aave", {5, 11, 12}),
        ("What happens to assets in isolation mode?", "aave", {6, 10, 11}),
    ],
)
def test_a_question_is_answered_from_the_right_page(
    library_of_papers: Memory, question: str, protocol: str, pages: set[int]
) -> None:
    best = library_of_papers.documents.search(question)[0]["metadata"]
    assert best["protocol"] == protocol
    assert best["page"] in pages


@papers
def test_a_citation_marks_the_passage_on_its_page(library_of_papers: Memory) -> None:
    (hit, *_) = library_of_papers.documents.search(
        "singleton contract that holds all pools", protocol="uniswap"
    )
    citation = library_of_papers.documents.cite(hit["id"])
    ((page, marks),) = citation.pages
    assert page == hit["metadata"]["page"]
    assert len(marks) >= 5
    for left, top, right, bottom in marks:
        assert 0 <= left < right <= 1
        assert 0 <= top < bottom <= 1
    assert page_picture(citation.path.read_bytes(), name="p.pdf", page=page, scale=0.5).startswith(b"\x89PNG")


@papers
def test_passages_throughout_both_papers_can_be_marked(library_of_papers: Memory) -> None:
    rows = library_of_papers.documents.entries.find(limit=None)[::5]
    cited = [page for row in rows for page in library_of_papers.documents.cite(row["id"]).pages]
    assert [page for page, marks in cited if not marks] == []


@papers
def test_a_passage_over_a_pages_end_is_cited_on_both_pages(library_of_papers: Memory) -> None:
    documents = library_of_papers.documents
    over = [row for row in documents.entries.find(limit=None) if row["last_page"]]
    assert over
    for row in over:
        cited = documents.cite(row["id"]).pages
        assert [page for page, _ in cited] == [row["page"], row["last_page"]]
        assert all(marks for _, marks in cited)
    (hit,) = documents.search(over[0]["content"], 1, protocol=over[0]["protocol"])
    assert hit["metadata"]["last_page"] == hit["metadata"]["page"] + 1
    documents.entries.edit(over[0]["id"], content="in other words")
    assert [marks for _, marks in documents.cite(over[0]["id"]).pages] == [[], []]
    library_of_papers.undo()


def test_papers_can_be_embedded_with_ada_002_through_litellm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """VECTOR(1536) of a pgvector table, when it is configured; memories stay with the local model."""
    Memory.open(tmp_path / "ada").close()  # opened once before it was configured
    with running() as endpoint:
        monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
        monkeypatch.setenv("MEMEDEX_EMBEDDING_API_BASE", endpoint.address)
        monkeypatch.setenv("MEMEDEX_DOCUMENT_EMBEDDER", f"litellm:{ADA}")
        settings.cache_clear()
        try:
            with Memory.open(tmp_path / "ada") as memory:
                memory.documents.import_document(
                    Path("paper.md"), protocol="Aave", content=b"a short one\n\n" + b"word " * 300
                )
                assert memory.status().models["documents"] == f"litellm:{ADA}"
                assert memory.status().models["memories"] != f"litellm:{ADA}"
                for row in memory.kinds["documents"].find():
                    assert row["embedding_model"] == f"litellm:{ADA}"
                    vector = memory.kinds["documents"].vector(row["id"])
                    assert vector is not None
                    assert vector.shape == (1536,)
                    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)
                assert memory.documents.search("how long?")[0]["metadata"]["protocol"] == "aave"
                assert {request["model"] for request in endpoint.requests} == {ADA}
            monkeypatch.delenv("MEMEDEX_DOCUMENT_EMBEDDER")
            settings.cache_clear()
            with Memory.open(tmp_path / "ada") as memory:
                assert memory.status().models["documents"] == f"litellm:{ADA}", (
                    "what is there keeps its model"
                )
        finally:
            settings.cache_clear()
