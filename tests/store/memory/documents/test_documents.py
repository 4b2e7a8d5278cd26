"""Protocol documents: reference 3's fields and figures, and two real papers."""

from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest

from store.errors import BadSource
from store.memory.documents.pdf import page_picture
from store.memory.engine.settings import memory_settings
from store.memory.memory import Memory
from store.settings import settings
from tests.store.language_model_server import ADA, running
from tests.store.memory.bags import Bags
from tests.store.memory.chroma_as_it_is import stored

PAPERS = Path(__file__).resolve().parents[5] / "shared" / "data" / "documents"
AAVE, UNISWAP = PAPERS / "Aave_V3_Technical_Paper.pdf", PAPERS / "uniswap_whitepaper_v4.pdf"
papers = pytest.mark.skipif(not AAVE.exists(), reason="../shared/data/documents is not here")


def small_pdf(*pages: str, encrypted: bool = False) -> bytes:
    """A PDF of one line for each page, written by hand; "" for a page without text."""
    streams = [f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET" if text else "0 0 m 9 9 l S" for text in pages]
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, stream in enumerate(streams):
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * number} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    if encrypted:
        key = "0" * 64
        objects.append(f"<< /Filter /Standard /V 1 /R 2 /P -4 /O <{key}> /U <{key}> >>")
    content, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(content))
        content += f"{number} 0 obj\n{body}\nendobj\n".encode()
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    more = f"/Encrypt {len(objects)} 0 R /ID [<00> <00>] " if encrypted else ""
    size = len(objects) + 1
    return (
        content
        + (
            f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R {more}>>\n"
            f"startxref\n{len(content)}\n%%EOF\n"
        ).encode()
    )


def import_content(memory: Memory, name: str, content: str | bytes, protocol: str) -> None:
    raw = content.encode() if isinstance(content, str) else content
    memory.documents.import_document(Path(name), protocol=protocol, content=raw)


# -- reference 3, the table of columns -----------------------------------------------------------------------


def test_id_is_a_uuid_and_content_and_metadata_are_as_given(memory: Memory) -> None:
    import_content(memory, "paper.md", "# Liquidation\n\nThe threshold is a percentage.", "aave")
    (hit,) = memory.documents.search("liquidation threshold")
    assert hit.keys() == {"id", "content", "metadata", "score"}
    assert str(UUID(hit["id"])) == hit["id"]
    assert hit["content"] == "# Liquidation\n\nThe threshold is a percentage."
    assert hit["metadata"] == {"source": "paper.md", "page": 1, "protocol": "aave"}


def test_embedding_uses_the_configured_model(memory: Memory, bags: Bags) -> None:
    import_content(memory, "a.txt", "words", "aave")
    (row,) = memory.documents.passages.find()
    assert row["embedding_model"] == "bags"
    vector = memory.documents.passages.vector(row["id"])
    assert vector is not None
    assert (vector == bags.embed_texts(["words"])[0]).all()


# -- reference 3, the table of fields ------------------------------------------------------------------------


def test_protocol_is_lower_cased_and_required(memory: Memory) -> None:
    import_content(memory, "a.txt", "words", "  AAVE ")
    assert memory.documents.protocols() == {"aave": 1}
    assert memory.documents.search("words", protocol="Aave")[0]["metadata"]["protocol"] == "aave"
    with pytest.raises(ValueError, match="the protocol is empty"):
        import_content(memory, "a.txt", "words", " ")


def test_source_is_the_file_name(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "Paper (final).md"
    path.write_text("words")
    memory.documents.import_document(path, protocol="aave")
    assert [source.source for source in memory.documents.sources()] == ["Paper (final).md"]


def test_pages_are_numbered_from_one(memory: Memory) -> None:
    import_content(memory, "p.pdf", small_pdf("alpha on the first", "", "gamma on the third"), "aave")
    pages = {row["content"]: row["page"] for row in memory.documents.passages.find()}
    assert pages == {"alpha on the first": 1, "gamma on the third": 3}
    (source,) = memory.documents.sources()
    assert (source.pages, source.bare_pages) == (3, "2")


# -- chunks, search, comparison ------------------------------------------------------------------------------


def test_each_page_is_split_separately_at_1000_with_100_of_overlap(memory: Memory) -> None:
    text = " ".join(f"word{number:04}" for number in range(300))
    import_content(memory, "long.md", text, "aave")
    rows = memory.documents.passages.find()
    assert [row["chunk_index"] for row in rows] == [0, 1, 2]
    assert all(len(row["content"]) <= 1000 for row in rows)
    assert all(text[row["span_start"] : row["span_end"]] == row["content"] for row in rows)
    assert rows[0]["span_end"] - rows[1]["span_start"] in range(90, 101)


def test_search_returns_five_results_of_one_several_or_all_protocols(memory: Memory) -> None:
    for protocol in ("aave", "compound", "uniswap"):
        for number in range(7):
            import_content(memory, f"{number}.txt", f"liquidity {protocol} {number}", protocol)
    assert len(memory.documents.search("liquidity")) == 5
    found = memory.documents.search("liquidity", 20, protocol=["Aave", "compound"])
    assert {hit["metadata"]["protocol"] for hit in found} == {"aave", "compound"}
    assert len(found) == 14
    assert memory.documents.search("liquidity", protocol="nobody") == []


def test_two_protocols_are_compared_with_five_results_each(memory: Memory) -> None:
    for number in range(7):
        import_content(memory, f"{number}.txt", f"liquidity {number}", "aave")
    import_content(memory, "only.txt", "liquidity once", "compound")
    compared = memory.documents.compare("liquidity", ["Aave", "Compound"])
    assert {name: len(found) for name, found in compared.items()} == {"aave": 5, "compound": 1}


def test_importing_the_same_protocol_and_source_replaces_the_document(memory: Memory) -> None:
    import_content(memory, "a.md", "old words", "aave")
    import_content(memory, "a.md", "other document", "compound")
    import_content(memory, "a.md", "new text", "aave")
    assert [row["content"] for row in memory.documents.passages.find()] == ["new text", "other document"]
    assert len(memory.documents.sources()) == 2
    memory.documents.passages.undo()
    assert sorted(row["content"] for row in memory.documents.passages.find()) == [
        "old words",
        "other document",
    ]


def test_undo_restores_a_removed_document_with_its_original(memory: Memory) -> None:
    import_content(memory, "p.pdf", small_pdf("some words"), "aave")
    assert memory.documents.remove_document("AAVE", "p.pdf") == 1
    assert (memory.documents.sources(), memory.documents.passages.count()) == ([], 0)
    memory.documents.tidy()
    memory.documents.passages.undo()
    (row,) = memory.documents.passages.find()
    assert memory.documents.cite(row["id"]).path.read_bytes().startswith(b"%PDF")


@pytest.mark.usefixtures("chroma")
def test_chroma_gets_source_page_and_protocol_and_no_text(memory: Memory) -> None:
    import_content(memory, "p.pdf", small_pdf("some words"), "aave")
    assert memory.wait_for_chroma(60)
    memory.close()
    (entry,) = stored(memory.places.root, "documents").values()
    assert entry["metadata"] == {"source": "p.pdf", "page": 1, "protocol": "aave"}
    assert entry["document"] is None


# -- refused files -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("scan.pdf", small_pdf("", ""), "2 pages and no text on any of them: it was probably scanned"),
        ("locked.pdf", small_pdf("secret", encrypted=True), "is encrypted"),
        ("cut.pdf", small_pdf("words")[:40], "no PDF, or a damaged one"),
        ("empty.pdf", b"", "no PDF, or a damaged one"),
        ("letter.docx", b"PK\x03\x04", "neither PDF nor Markdown nor text"),
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


def test_an_upload_with_pdf_content_is_read_as_a_pdf(memory: Memory) -> None:
    import_content(memory, "paper.txt", small_pdf("real text"), "aave")
    assert [row["content"] for row in memory.documents.passages.find()] == ["real text"]


def test_a_missing_file_is_named(memory: Memory, tmp_path: Path) -> None:
    with pytest.raises(BadSource, match="cannot be read"):
        memory.documents.import_document(tmp_path / "nowhere.pdf", protocol="aave")


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
    rows = library_of_papers.documents.passages.find(limit=None)
    pages = {name: {row["page"] for row in rows if row["protocol"] == name} for name in ("aave", "uniswap")}
    assert pages == {"aave": set(range(1, 17)), "uniswap": set(range(1, 5))}
    assert all(0 < len(row["content"]) <= 1000 for row in rows)


@papers
def test_two_column_pages_are_read_column_by_column_with_whole_words(library_of_papers: Memory) -> None:
    rows = library_of_papers.documents.passages.find(where={"protocol": "uniswap", "page": 1}, limit=None)
    text = " ".join(" ".join(row["content"].split()) for row in rows)
    order = ["ABSTRACT", "gas efficiency and developer experience", "1 INTRODUCTION", "Uniswap v1 [2]",
             "Additionally, in previous versions", "Singleton:", "Flash accounting:"]  # fmt: skip
    places = [text.find(words) for words in order]
    assert -1 not in places
    assert places == sorted(places)
    assert "automated market maker implemented for" in text, "a word cut at the line's end is whole again"


@papers
@pytest.mark.parametrize(
    ("question", "protocol", "page"),
    [
        ("How does the singleton contract reduce the cost of creating pools?", "uniswap", {1, 2}),
        ("What does high efficiency mode allow borrowers to do?", "aave", {5, 11, 12}),
        ("What happens to assets in isolation mode?", "aave", {6, 10, 11}),
    ],
)
def test_a_question_is_answered_from_the_right_page(
    library_of_papers: Memory, question: str, protocol: str, page: set[int]
) -> None:
    best = library_of_papers.documents.search(question)[0]["metadata"]
    assert best["protocol"] == protocol
    assert best["page"] in page


@papers
def test_a_citation_marks_the_passage_on_its_page(library_of_papers: Memory) -> None:
    (hit, *_) = library_of_papers.documents.search(
        "singleton contract that holds all pools", protocol="uniswap"
    )
    citation = library_of_papers.documents.cite(hit["id"])
    assert citation.page == hit["metadata"]["page"]
    assert len(citation.marks) >= 5
    for left, top, right, bottom in citation.marks:
        assert 0 <= left < right <= 1
        assert 0 <= top < bottom <= 1
    assert page_picture(citation.path, page=citation.page, scale=0.5).startswith(b"\x89PNG")


@papers
def test_passages_throughout_both_papers_can_be_marked(library_of_papers: Memory) -> None:
    rows = library_of_papers.documents.passages.find(limit=None)[::5]
    unmarked = [row["page"] for row in rows if not library_of_papers.documents.cite(row["id"]).marks]
    assert unmarked == []


def test_papers_can_be_embedded_with_ada_002_through_litellm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reference 3: VECTOR(1536), when it is configured; memories stay with the local model."""
    Memory.open(tmp_path / "ada").close()  # opened once before it was configured
    with running() as endpoint:
        monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
        monkeypatch.setenv("MEMEDEX_EMBEDDING_API_BASE", endpoint.address)
        monkeypatch.setenv("MEMEDEX_DOCUMENT_EMBEDDER", f"litellm:{ADA}")
        settings.cache_clear()
        memory_settings.cache_clear()
        try:
            with Memory.open(tmp_path / "ada") as memory:
                memory.documents.import_document(
                    Path("paper.md"), protocol="Aave", content=b"a short one\n\n" + b"word " * 300
                )
                assert memory.status().models["documents"] == f"litellm:{ADA}"
                assert memory.status().models["memories"] != f"litellm:{ADA}"
                for row in memory.passages["documents"].find():
                    assert row["embedding_model"] == f"litellm:{ADA}"
                    vector = memory.passages["documents"].vector(row["id"])
                    assert vector is not None
                    assert vector.shape == (1536,)
                    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)
                assert memory.documents.search("how long?")[0]["metadata"]["protocol"] == "aave"
                assert {request["model"] for request in endpoint.asked} == {ADA}
            monkeypatch.delenv("MEMEDEX_DOCUMENT_EMBEDDER")
            memory_settings.cache_clear()
            with Memory.open(tmp_path / "ada") as memory:
                assert memory.status().models["documents"] == f"litellm:{ADA}", (
                    "what is there keeps its model"
                )
        finally:
            settings.cache_clear()
            memory_settings.cache_clear()
