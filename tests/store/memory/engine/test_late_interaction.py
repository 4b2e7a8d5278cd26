"""Late interaction: documents' passages are ordered by each word of the question in its context."""

import sqlite3
from pathlib import Path

import numpy as np
import pytest

from store.embedding import open_embedder
from store.embedding.protocol import unit
from store.memory.engine.late_interaction import closeness, packed, unpacked
from store.memory.memory import Memory
from tests.store.memory.earlier import as_of_1_2

_TEXT = (
    b"""# Rates

The cat sat on the mat while a dog was asleep.

# Liquidation

"""
    + b"Filler about nothing in particular, to end the passage here. " * 20
)


def states_of(memory: Memory) -> list[sqlite3.Row]:
    with memory.documents.entries.database.reading() as db:
        return db.execute("SELECT * FROM token_states").fetchall()


@pytest.fixture
def real(tmp_path: Path) -> Memory:
    """A memory with the model that is installed with the program."""
    with Memory.open(tmp_path / "real") as memory:
        yield memory


def test_closeness_is_the_mean_of_each_tokens_best_match() -> None:
    question = np.array([[1, 0], [0, 1]], np.float32)
    entry = np.array([[0.6, 0.8], [1, 0]], np.float32)
    assert closeness(question, entry) == pytest.approx((1 + 0.8) / 2)
    assert closeness(question, entry[:0]) == 0


def test_states_are_stored_at_four_bits_a_number() -> None:
    states = unit(np.random.default_rng(0).standard_normal((50, 384)).astype(np.float32))
    stored = packed(states)
    assert len(stored) == 50 * 384 // 2
    cosines = (unpacked(stored, 384) * states).sum(axis=1)
    assert cosines.min() > 0.98
    assert packed(states[:0]) == b""
    assert unpacked(b"", 384).shape == (0, 384)


def test_an_import_has_the_states_of_every_passage_and_a_search_says_its_closeness(real: Memory) -> None:
    real.documents.import_document(Path("a.md"), protocol="aave", content=_TEXT)
    assert len(states_of(real)) == real.documents.entries.count() > 1
    found = real.documents.search("Where did the animal take a nap?")
    assert "dog was asleep" in found[0]["content"]
    assert [hit["late_interaction"] for hit in found] == sorted(
        (hit["late_interaction"] for hit in found), reverse=True
    )
    assert found[0]["score"] == pytest.approx(found[0]["late_interaction"], abs=1e-4)


def test_states_go_with_their_text_and_are_computed_again_by_a_question(real: Memory) -> None:
    real.documents.import_document(Path("a.md"), protocol="aave", content=_TEXT)
    entry = real.documents.entries.find()[0]["id"]
    real.documents.entries.edit(entry, content="Wholly different words")
    assert entry not in {row["id"] for row in states_of(real)}
    real.documents.search("different")
    assert entry in {row["id"] for row in states_of(real)}
    real.documents.remove_document("aave", "a.md")
    assert states_of(real) == []


@pytest.mark.slow
def test_what_is_not_among_the_first_never_scores_higher(real: Memory) -> None:
    text = "\n\n".join(f"# Part {n}\n\n" + f"Words of part {n} about rates. " * 20 for n in range(40))
    real.documents.import_document(Path("a.md"), protocol="aave", content=text.encode())
    hits = real.documents.entries.best("What about rates?", n=100)
    assert len(hits) > 31
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert [hit.late_interaction is None for hit in hits] == [False] * 30 + [True] * (len(hits) - 30)


def test_a_question_in_a_language_that_the_model_does_not_read_is_left_to_words(real: Memory) -> None:
    real.documents.import_document(Path("a.md"), protocol="aave", content=_TEXT)
    assert all("late_interaction" not in hit for hit in real.documents.search("清算价格是多少?"))


def test_a_foreign_question_is_not_compared_word_by_word_with_english_passages(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "res") as memory:
        memory.documents.entries.use(open_embedder("offline"))
        memory.documents.import_document(Path("a.md"), protocol="aave", content=_TEXT)
        assert all("late_interaction" not in hit for hit in memory.documents.search("清算价格是多少?"))
        assert any("late_interaction" in hit for hit in memory.documents.search("What about liquidation?"))


def test_a_file_of_before_is_brought_up_to_date(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "old") as memory:
        memory.documents.import_document(Path("a.md"), protocol="aave", content=_TEXT)
        path = memory.places.former("documents")
    as_of_1_2(tmp_path / "old")
    with sqlite3.connect(path) as db:
        db.executescript(
            "DROP TRIGGER token_states_removed; DROP TRIGGER token_states_changed; DROP TABLE token_states; "
            "DROP TABLE checksums; PRAGMA user_version = 4"
        )
    db.close()
    with Memory.open(tmp_path / "old") as memory:
        assert "late_interaction" in memory.documents.search("asleep")[0]
        assert states_of(memory)
