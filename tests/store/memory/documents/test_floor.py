"""Papers say nothing to a question that they do not answer, on page, command line and for agents."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from store.cli import main
from store.memory.inspect.probe import probe
from store.memory.memory import Memory, SearchFilters

PAPER = """# Liquidation

A loan is liquidated when its collateral is worth less than 110 % of its debt. The liquidator receives a
bonus of five per cent of the collateral.
"""
ASKED, ELSEWHERE = "When is a loan liquidated?", "Who painted the Mona Lisa?"

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("without_chroma")]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("papers")
    with Memory.open(root) as memory:
        memory.documents.import_document(Path("lend.md"), protocol="lend", content=PAPER.encode())
    return root


@pytest.fixture
def memory(root: Path) -> Iterator[Memory]:
    with Memory.open(root) as memory:
        yield memory


def test_the_nearest_passage_of_an_unrelated_question_is_a_near_miss(memory: Memory) -> None:
    (answer,) = memory.documents.search(ASKED)
    assert "near_miss" not in answer
    (miss,) = memory.documents.search(ELSEWHERE)
    assert miss["near_miss"], "the five nearest passages come all the same"
    assert len(memory.search(ASKED, kind="documents")) == 1
    assert memory.search(ELSEWHERE, kind="documents") == []
    (near,) = memory.search(ELSEWHERE, kind="documents", filters=SearchFilters(near_misses=1))
    assert near["near_miss"]


def test_a_model_is_told_no_passage_that_does_not_fit(memory: Memory) -> None:
    assert "liquidated" in memory.assemble(ASKED, kinds=["documents"]).text
    unrelated = memory.assemble(ELSEWHERE, kinds=["documents"])
    assert unrelated.text == ""
    assert [str(one) for one in unrelated.left_out] == ["documents: 1 fit too little to answer the prompt"]
    assert not probe(memory, ELSEWHERE, kind="documents", n=5).hits
    assert probe(memory, ASKED, kind="documents", n=5).hits


def test_the_command_says_that_nothing_answers(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def shown(question: str) -> str:
        assert main(["--root", str(root), "memory", "documents", question]) == 0
        return capsys.readouterr().err

    assert "near miss" not in shown(ASKED)
    assert "no passage answers this; closest:" in shown(ELSEWHERE)
    assert "(near miss)" in shown(ELSEWHERE)
