"""Documents: columns and fields, search, comparison and undo."""

from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from store.errors import BadSource
from store.memory.memory import Memory
from tests.store.memory.bags import Bags
from tests.store.memory.chroma_as_it_is import stored as in_chroma
from tests.store.memory.documents.small_pdf import small_pdf

PAPERS = Path(__file__).resolve().parents[5] / "shared" / "data" / "documents"


AAVE, UNISWAP = PAPERS / "Aave_V3_Technical_Paper.pdf", PAPERS / "uniswap_whitepaper_v4.pdf"


def import_content(memory: Memory, name: str, content: str | bytes, protocol: str) -> None:
    raw = content.encode() if isinstance(content, str) else content
    memory.documents.import_document(Path(name), protocol=protocol, content=raw)


# -- a pgvector table: its columns -----------------------------------------------------------------------


def test_id_is_a_uuid_and_content_and_metadata_are_as_given(memory: Memory) -> None:
    import_content(memory, "paper.md", "# Liquidation\n\nThe threshold is a percentage.", "aave")
    (hit,) = memory.documents.search("liquidation threshold")
    assert hit.keys() == {"id", "content", "metadata", "score", "meaning", "words", "words_found"}
    assert str(UUID(hit["id"])) == hit["id"]
    assert hit["content"] == "# Liquidation\n\nThe threshold is a percentage."
    assert hit["metadata"] == {"source": "paper.md", "page": 1, "protocol": "aave", "section": "Liquidation"}


def test_embedding_uses_the_configured_model(memory: Memory, bags: Bags) -> None:
    import_content(memory, "a.txt", "words", "aave")
    (row,) = memory.documents.entries.find()
    assert row["embedding_model"] == "bags"
    vector = memory.documents.entries.vector(row["id"])
    assert vector is not None
    assert (vector == bags.embed_texts(["words"])[0]).all()


# -- a pgvector table: its fields ------------------------------------------------------------------------


def test_protocol_is_lower_cased_and_required(memory: Memory) -> None:
    import_content(memory, "a.txt", "words", "  AAVE ")
    assert memory.protocols() == {"aave": 1}
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
    pages = {row["content"]: row["page"] for row in memory.documents.entries.find()}
    assert pages == {"alpha on the first": 1, "gamma on the third": 3}
    (source,) = memory.documents.sources()
    assert (source.pages, source.bare_pages) == (3, "2")


# -- chunks, search, comparison ------------------------------------------------------------------------------


def test_each_page_is_split_separately_at_1000_with_100_of_overlap(memory: Memory) -> None:
    text = " ".join(f"word{number:04}" for number in range(300))
    import_content(memory, "long.md", text, "aave")
    rows = memory.documents.entries.find()
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


def test_each_protocol_that_a_question_names_gives_its_best_in_turn(memory: Memory) -> None:
    for number in range(7):
        import_content(memory, f"{number}.txt", f"liquidity fees of aave {number}", "aave v3")
    for number in range(2):
        import_content(memory, f"{number}.txt", f"liquidity {number}", "compound")
    import_content(memory, "other.txt", "liquidity fees of aave and compound", "curve")

    def asked(question: str, **more: Any) -> list[str]:
        return [hit["metadata"]["protocol"] for hit in memory.documents.search_named(question, **more)]

    both = "liquidity fees of Aave and Compound"
    assert asked(both) == ["aave v3", "compound", "aave v3", "compound", "aave v3"]
    assert asked(both, n=2) == ["aave v3", "compound"]
    assert set(asked(both, protocols=["aave v3"])) == {"aave v3"}
    assert asked("liquidity fees of Aave") == [
        hit["metadata"]["protocol"] for hit in memory.documents.search("liquidity fees of Aave")
    ]


def test_two_protocols_are_compared_with_five_results_each(memory: Memory) -> None:
    for number in range(7):
        import_content(memory, f"{number}.txt", f"liquidity {number}", "aave")
    import_content(memory, "only.txt", "liquidity once", "compound")
    compared = memory.documents.compare("liquidity", ["Aave", "Compound"])
    assert {name: len(found) for name, found in compared.items()} == {"aave": 5, "compound": 1}


# -- identity ------------------------------------------------------------------------------------------------


def stored(memory: Memory) -> dict[str, str]:
    return {row["source"]: row["content"] for row in memory.documents.entries.find()}


def paper(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_a_document_replaces_the_one_of_its_name_only_if_a_person_says_so(memory: Memory) -> None:
    import_content(memory, "a.md", "old words", "aave")
    import_content(memory, "a.md", "other document", "compound")
    one = memory.documents.import_document(Path("a.md"), protocol="aave", content=b"new text", replaces=True)
    assert (one.state, one.note) == (
        "changed", "aave/a.md: it replaces what was stored under this name; undo brings that back",
    )  # fmt: skip
    assert [row["content"] for row in memory.documents.entries.find()] == ["new text", "other document"]
    assert len(memory.documents.sources()) == 2
    memory.undo()
    assert sorted(row["content"] for row in memory.documents.entries.find()) == [
        "old words",
        "other document",
    ]


def test_two_papers_of_one_name_are_both_kept_and_found_again(memory: Memory, tmp_path: Path) -> None:
    paths = [paper(tmp_path / name / "whitepaper.md", f"The {name} paper") for name in ("aave", "uni")]
    first, second = (memory.documents.import_document(path, protocol="lore") for path in paths)
    assert (first.source.id, first.state, first.note) == ("lore/whitepaper.md", "new", "")
    assert (second.source.id, second.state, second.note) == (
        "lore/uni/whitepaper.md", "new",
        "another paper is stored as lore/whitepaper.md; this one is kept as lore/uni/whitepaper.md",
    )  # fmt: skip
    before = stored(memory)
    assert before == {"whitepaper.md": "The aave paper", "uni/whitepaper.md": "The uni paper"}
    generation = memory.generation
    again = [memory.documents.import_document(path, protocol="lore") for path in reversed(paths)]
    assert [(one.source.id, one.state) for one in again] == [
        ("lore/uni/whitepaper.md", "present"), ("lore/whitepaper.md", "present"),
    ]  # fmt: skip
    assert (stored(memory), memory.generation) == (before, generation)


def test_uploads_of_one_name_are_told_apart_by_their_hash(memory: Memory) -> None:
    for text in ("one", "two", "one", "two"):
        import_content(memory, "a.md", text, "aave")
    (first, second) = sorted(stored(memory))
    assert first.startswith("a-")
    assert first.endswith(".md")
    assert second == "a.md"


def test_an_edited_file_is_a_new_version_of_what_came_from_its_path(memory: Memory, tmp_path: Path) -> None:
    paths = [tmp_path / name / "notes.md" for name in "ab"]
    for path in paths:
        memory.documents.import_document(paper(path, f"first of {path.parent.name}"), protocol="lore")
    one = memory.documents.import_document(paper(paths[1], "second of b"), protocol="lore")
    assert (one.state, one.note) == (
        "changed", "lore/b/notes.md: a new version; undo brings back the one before",
    )  # fmt: skip
    assert stored(memory) == {"notes.md": "first of a", "b/notes.md": "second of b"}
    memory.undo()
    assert stored(memory) == {"notes.md": "first of a", "b/notes.md": "first of b"}


def test_the_same_paper_under_another_name_is_there_already(memory: Memory) -> None:
    import_content(memory, "a.md", "words", "aave")
    one = memory.documents.import_document(Path("copy.md"), protocol="Aave", content=b"words")
    assert (one.source.id, one.state) == ("aave/a.md", "present")
    assert one.note == "copy.md: this paper is there already, as aave/a.md"
    import_content(memory, "a.md", "words", "compound")
    assert len(memory.documents.sources()) == 2, "of another protocol it is another document"


def test_an_edited_passage_stays_when_its_paper_is_imported_again(memory: Memory) -> None:
    import_content(memory, "a.md", "words with a mistale", "aave")
    (row,) = memory.documents.entries.find()
    memory.documents.entries.edit(row["id"], content="words with a mistake")
    import_content(memory, "a.md", "words with a mistale", "aave")
    assert stored(memory) == {"a.md": "words with a mistake"}


def test_a_paper_of_an_earlier_version_gets_its_sections_and_nothing_else(memory: Memory) -> None:
    import_content(memory, "a.md", "# Fees\n\nwords", "aave")
    before = memory.documents.entries.find()
    with memory.documents.entries.database.writing() as db:
        db.execute("UPDATE sources SET has_sections = 0")
        db.execute("UPDATE documents SET section = ''")
    one = memory.documents.import_document(Path("a.md"), protocol="aave", content=b"# Fees\n\nwords")
    assert (one.state, one.source.id) == ("present", "aave/a.md")
    assert one.note == "aave/a.md: the sections of its passages were found again"
    assert memory.documents.entries.find() == before, "sections again, ids, texts and places as they were"
    again = memory.documents.import_document(Path("a.md"), protocol="aave", content=b"# Fees\n\nwords")
    assert (again.state, again.note) == ("present", "")


def test_undo_restores_a_removed_document_with_its_original(memory: Memory) -> None:
    import_content(memory, "p.pdf", small_pdf("some words"), "aave")
    assert memory.documents.remove_document("AAVE", "p.pdf") == 1
    assert (memory.documents.sources(), memory.documents.entries.count()) == ([], 0)
    memory.documents.tidy()
    memory.undo()
    (row,) = memory.documents.entries.find()
    assert memory.documents.cite(row["id"]).path.read_bytes().startswith(b"%PDF")


@pytest.mark.usefixtures("chroma")
def test_chroma_gets_source_page_and_protocol_and_no_text(memory: Memory) -> None:
    import_content(memory, "p.pdf", small_pdf("some words"), "aave")
    assert memory.wait_for_chroma(60)
    memory.close()
    (entry,) = in_chroma(memory.places.root, "documents").values()
    assert entry["metadata"] == {"source": "p.pdf", "page": 1, "protocol": "aave"}
    assert entry["document"] is None


def test_a_folder_without_papers_is_refused_by_name(memory: Memory, tmp_path: Path) -> None:
    (path,) = memory.documents.files_at(tmp_path)
    with pytest.raises(BadSource, match=f"no paper is in {tmp_path.name} "):
        memory.documents.import_document(path, protocol="aave")
