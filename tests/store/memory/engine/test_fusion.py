"""Words and meaning together: both parts of every hit, in every kind, and words alone without a model."""

from pathlib import Path

import numpy as np
import pytest

from store.errors import ModelUnavailable
from store.memory.engine.errors import InvalidInput
from store.memory.engine.fusion import WEIGHT, words_in
from store.memory.memory import Memory
from tests.store.memory.bags import Bags


@pytest.fixture
def flat(memory: Memory, bags: Bags, monkeypatch: pytest.MonkeyPatch) -> Memory:
    """A memory whose model finds every text alike, with a cosine of 1."""
    ones = np.full(384, 384**-0.5, np.float32)
    monkeypatch.setattr(bags, "embed_texts", lambda texts: np.array([ones] * len(texts)))
    return memory


@pytest.fixture
def away(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> Memory:
    """A memory of every kind whose model can no longer be reached."""
    memory.memories.store_memory("Frogs are kept in the pond", ["amphibian"])
    memory.memories.store_memory("Invoices are paid late")
    memory.lore.add_lore("peaks", "1", "Frogs forged the mountains")
    memory.session_memory.add_memory("elf_s1", "1", "User: who has frogs\nAI: me")
    memory.documents.import_document(Path("a.md"), protocol="aave", content=b"frogs lend money")

    def refuse(texts: list[str]) -> None:
        raise ModelUnavailable("no weights")

    monkeypatch.setattr(memory.memories.entries.embedder, "embed_texts", refuse)
    return memory


def test_words_decide_where_meaning_is_equal_and_both_parts_are_shown(flat: Memory) -> None:
    flat.lore.add_lore("peaks", "a", "Nothing of the kind.")
    flat.lore.add_lore("peaks", "b", "The dwarf forged a lamp.")
    flat.lore.add_lore("peaks", "c", "The dwarves forged many lamps in the deep.")
    found = flat.lore.search("peaks", "Who forged the deep lamps?")
    assert [hit.row["lore_id"] for hit in found] == ["c", "b", "a"]
    assert [hit.found for hit in found] == [("forged", "deep", "lamps"), ("forged", "lamps"), ()]
    assert found[0].cosine == pytest.approx(1)
    assert found[0].words == 1, "the best by words, and it has them all"
    assert found[0].score == pytest.approx(1 + WEIGHT)
    assert found[2].words == 0


def test_a_text_that_meaning_ranks_last_is_found_by_its_words(memory: Memory) -> None:
    for number in range(60):
        memory.lore.add_lore("peaks", f"x{number}", f"dragon treasure {number}")
    memory.lore.add_lore("peaks", "rare", "E42 " + " ".join(f"filler{n}" for n in range(40)))
    memory.lore.add_lore("swamp", "other", "E42")
    hits = memory.kinds["world_lore"].best("dragon treasure E42", n=100, where={"world_id": "peaks"})
    assert "peaks_rare" in [hit.row["id"] for hit in hits]
    assert "swamp_other" not in [hit.row["id"] for hit in hits]
    assert next(hit for hit in hits if hit.row["id"] == "peaks_rare").cosine is not None


def test_without_a_model_words_alone_are_compared_and_the_answer_says_so(away: Memory) -> None:
    answer = away.memories.search_memory("Where are the frogs?")
    assert not answer["query_embedding_generated"]
    (hit,) = answer["results"]
    assert (hit["content"], hit["relevance_score"], hit["found_by"]) == (
        "Frogs are kept in the pond", 0, "words",
    )  # fmt: skip
    assert away.lore.query_lore("peaks", "frogs") == (["Frogs forged the mountains"], False)
    (exchange,) = away.session_memory.search("elf_s1", "frogs")
    assert exchange.cosine is None
    (passage,) = away.documents.search("frogs")
    assert (passage["meaning"], passage["words"]) == (None, 1)


def test_what_passes_by_words_says_so_and_its_relevance_stays_the_cosine(memory: Memory) -> None:
    memory.memories.store_memory(
        "User prefers TypeScript over JavaScript in every project that they begin", ["preference", "language"]
    )
    answer = memory.memories.search_memory("What programming languages do I prefer?")
    assert answer["total_results"] == 0, "its cosine is too far below"
    answer = memory.memories.search_memory("What programming languages do I prefer?", threshold=10)
    (hit,) = answer["results"]
    assert hit["found_by"] == "words"
    assert hit["relevance_score"] < 10


def test_the_threshold_is_a_setting_of_each_call_and_each_root(memory: Memory) -> None:
    memory.memories.store_memory("alpha beta gamma delta epsilon zeta")  # cosine with "alpha eta": 0.29
    ask = memory.memories.search_memory
    assert memory.memories.threshold == 30
    assert ask("alpha eta theta iota")["total_results"] == 0
    assert ask("alpha eta theta iota", threshold=15)["total_results"] == 1
    memory.memories.set_threshold(15)
    assert memory.memories.threshold == 15
    assert ask("alpha eta theta iota")["total_results"] == 1
    assert ask("alpha eta theta iota", threshold=30)["total_results"] == 0
    for wrong in (-1, 101, "30", True):
        with pytest.raises(InvalidInput, match="the threshold"):
            ask("alpha", threshold=wrong)  # type: ignore[arg-type]
        with pytest.raises(InvalidInput, match="the threshold"):
            memory.memories.set_threshold(wrong)  # type: ignore[arg-type]


def test_near_misses_are_given_when_asked_for(memory: Memory) -> None:
    memory.memories.store_memory("alpha beta gamma delta epsilon zeta")
    assert "near_misses" not in memory.memories.search_memory("alpha eta theta iota")
    answer = memory.memories.search_memory("alpha eta theta iota", near_misses=3)
    assert (answer["results"], answer["threshold"]) == ([], 30)
    assert [hit["content"][:5] for hit in answer["near_misses"]] == ["alpha"]
    with pytest.raises(InvalidInput, match="near misses"):
        memory.memories.search_memory("alpha", near_misses=21)


def test_words_are_found_in_the_singular_and_the_plural() -> None:
    assert words_in("Lamps of the city.", ("lamp", "cities", "deep")) == ("lamp", "cities")
