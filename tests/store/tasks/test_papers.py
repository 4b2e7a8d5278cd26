"""The watched folder of papers: new, changed, deleted and refused files, and what a person removed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from store.library import Library
from store.memory.memory import Memory
from store.tasks.inbox import PAPERS_LOG, PaperFolder
from tests.store.memory.bags import Bags
from tests.waiting import eventually

pytestmark = pytest.mark.usefixtures("without_chroma")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "Pond"
    (folder / "aave").mkdir(parents=True)
    return folder


@pytest.fixture
def memory(root: Path) -> Iterator[Memory]:
    with Memory.open(root, embedder=Bags()) as memory:
        yield memory


@pytest.fixture
def papers(memory: Memory, folder: Path) -> PaperFolder:
    return PaperFolder(lambda: memory, folder)


def scan_twice(papers: PaperFolder) -> list[str]:
    """Scan twice: files are imported once they did not change between two scans."""
    papers.scan()
    return papers.scan().done


def texts(memory: Memory) -> dict[str, str]:
    return {f"{row['protocol']}/{row['source']}": row["content"] for row in memory.documents.entries.find()}


def test_a_folder_is_a_protocol_and_files_at_the_top_have_that_of_the_watched_folder(
    papers: PaperFolder, memory: Memory, folder: Path
) -> None:
    (folder / "aave" / "fees.md").write_text("Each trade pays.")
    (folder / "notes.txt").write_text("Otters sleep.")
    assert scan_twice(papers) == ["aave/fees.md", "pond/notes.txt"]
    assert texts(memory) == {"aave/fees.md": "Each trade pays.", "pond/notes.txt": "Otters sleep."}
    assert scan_twice(papers) == []
    assert {one.actor for one in memory.log.find()} == {"inbox"}


def test_a_changed_file_is_a_new_version_and_a_deleted_ones_paper_stays(
    papers: PaperFolder, memory: Memory, folder: Path
) -> None:
    path = folder / "aave" / "fees.md"
    path.write_text("Each trade pays three.")
    scan_twice(papers)
    path.write_text("Each trade pays nine, from now on.")
    assert scan_twice(papers) == ["aave/fees.md"]
    assert texts(memory) == {"aave/fees.md": "Each trade pays nine, from now on."}
    path.unlink()
    assert scan_twice(papers) == []
    assert texts(memory) == {"aave/fees.md": "Each trade pays nine, from now on."}
    memory.undo(actor="inbox")
    assert texts(memory) == {"aave/fees.md": "Each trade pays three."}


def test_a_paper_that_a_person_removed_comes_back_only_with_its_file_changed(
    papers: PaperFolder, memory: Memory, folder: Path
) -> None:
    path = folder / "aave" / "fees.md"
    path.write_text("Each trade pays three.")
    scan_twice(papers)
    memory.documents.remove_document("aave", "fees.md")
    assert scan_twice(PaperFolder(lambda: memory, folder)) == [], "also after a restart of the program"
    assert texts(memory) == {}
    path.write_text("Each trade pays nine, from now on.")
    assert scan_twice(papers) == ["aave/fees.md"]


def test_a_refused_file_is_named_once_in_the_log_and_keeps_no_other_from_coming_in(
    papers: PaperFolder, memory: Memory, folder: Path
) -> None:
    (folder / "aave" / "a.pdf").write_bytes(b"no PDF")
    (folder / "aave" / "b.md").write_text("Each trade pays.")
    papers.scan()
    outcome = papers.scan()
    assert outcome.done == ["aave/b.md"]
    assert [one.item for one in outcome.refused] == ["aave/a.pdf"]
    scan_twice(PaperFolder(lambda: memory, folder))
    log = (folder / PAPERS_LOG).read_text()
    assert log.count("aave/a.pdf: a.pdf is no PDF, or a damaged one") == 1
    assert texts(memory).keys() == {"aave/b.md"}
    assert scan_twice(papers) == [], "the log is no paper"


def test_two_papers_of_one_name_are_both_kept(papers: PaperFolder, memory: Memory, folder: Path) -> None:
    for year, text in (("2023", "The old fee is three."), ("2024", "The new fee is nine.")):
        (folder / "aave" / year).mkdir()
        (folder / "aave" / year / "whitepaper.md").write_text(text)
    scan_twice(papers)
    assert texts(memory) == {
        "aave/whitepaper.md": "The old fee is three.",
        "aave/2024/whitepaper.md": "The new fee is nine.",
    }


def test_a_file_that_is_saved_can_be_asked_for_soon(library: Library, memory: Memory, folder: Path) -> None:
    library.watch_papers(folder)
    (folder / "aave" / "fees.md").write_text("The otter pond charges a fee of seven copper coins.")
    assert eventually(lambda: memory.documents.search("otter pond fee") != [])
