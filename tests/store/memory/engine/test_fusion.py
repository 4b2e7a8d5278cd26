"""Words and meaning together: both parts of every hit, in every kind, words alone, and late interaction."""

import json
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from store.embedding import open_embedder
from store.embedding.protocol import unit
from store.errors import ModelUnavailable
from store.memory.engine.fusion import WEIGHT, EntryHit, best, closest, mmr_ranking, ordered, packed, unpacked
from store.memory.engine.inputs import InvalidInput
from store.memory.memory import Memory
from tests.store.memory.bags import Bags
from tests.store.memory.earlier import as_of_1_2


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
    hits = best(memory.kinds["world_lore"], "dragon treasure E42", n=100, where={"world_id": "peaks"})
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


# -- words inside Chinese, Japanese and Korean text ----------------------------------------------------------

TEXTS = {"zh": "安娜对花生过敏。", "ja": "サーバーは毎週日曜に再起動される", "ko": "사용자의고양이는 미소다"}
ASKED = {"zh": "谁不能吃花生", "ja": "再起動はいつ", "ko": "고양이"}


@pytest.fixture
def filled(memory: Memory, tmp_path: Path) -> Memory:
    for number, text in enumerate(TEXTS.values()):
        memory.memories.store_memory(text)
        memory.lore.add_lore("peaks", str(number), text)
        memory.session_memory.add_memory("elf_s1", str(number), text)
        memory.documents.import_document(Path(f"{number}.md"), protocol="aave", content=text.encode())
    lines = [json.dumps({"role": "user", "content": text}) for text in TEXTS.values()]
    (tmp_path / "s.jsonl").write_text("\n".join(lines))
    memory.transcripts.import_sessions([tmp_path / "s.jsonl"])
    return memory


@pytest.mark.parametrize("language", TEXTS)
@pytest.mark.parametrize("kind", ["memories", "world_lore", "session_memory", "documents"])
def test_a_word_inside_a_run_is_found_and_listed(filled: Memory, kind: str, language: str) -> None:
    entries = filled.kinds[kind]
    hits = best(entries, ASKED[language], n=3)
    assert [hit.row[entries.kind.text] for hit in hits if hit.words] == [TEXTS[language]]
    assert hits[0].words > 0
    inner = {"zh": "花生", "ja": "日曜", "ko": "고양이"}[language]
    (row,) = entries.find(words=inner)
    assert row[entries.kind.text] == TEXTS[language]
    assert entries.find(words=f"{inner} moon") == []


@pytest.mark.parametrize("language", TEXTS)
@pytest.mark.parametrize("mode", ["full_text", "hybrid"])
def test_transcripts_are_found_by_words_inside_runs(filled: Memory, language: str, mode: str) -> None:
    best, *_ = filled.transcripts.search(ASKED[language], mode=mode)  # type: ignore[arg-type]
    assert (best.message["text_content"], best.words_rank) == (TEXTS[language], 1)
    assert filled.transcripts.search("火星", mode="full_text") == []


def test_the_pair_that_few_texts_have_decides(memory: Memory) -> None:
    for number in range(5):
        memory.lore.add_lore("peaks", f"x{number}", "什么都没有")
    memory.lore.add_lore("peaks", "nut", "花生在这里")
    hits = best(memory.kinds["world_lore"], "什么花生", n=6)
    words = {hit.row["lore_id"]: hit.words for hit in hits}
    assert words["nut"] > words["x0"] > 0


def test_a_word_that_a_papers_line_end_cuts_is_found(memory: Memory) -> None:
    memory.documents.import_document(Path("a.txt"), protocol="aave", content="备份保存九\n十天。".encode())
    (passage,) = memory.documents.search("九十")
    assert passage["content"] == "备份保存九十天。"
    assert passage["words"] == 1


# -- late interaction ----------------------------------------------------------------------------------------

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


def test_each_token_of_a_question_has_its_best_match_in_an_entry() -> None:
    question = np.array([[1, 0], [0, 1]], np.float32)
    entry = np.array([[0.6, 0.8], [1, 0]], np.float32)
    assert closest(question, entry).tolist() == pytest.approx([1, 0.8])
    assert closest(question, entry[:0]).tolist() == [0, 0]


@pytest.mark.parametrize(("entry", "answers"), [([[0.6, 0.6]], True), ([[1, 0.2]], False)])
def test_a_word_that_is_close_to_nothing_counts_against_an_answer(
    entry: list[list[float]], answers: bool
) -> None:
    hit = EntryHit({"id": "a"}, 0, 0, 0, (), 0)
    states = {"a": np.array(entry, np.float32)}
    (found,) = ordered([hit], np.eye(2, dtype=np.float32), states, floor=0.7)
    assert found.score == pytest.approx(0.6)
    assert found.answers is answers


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
    hits = best(real.documents.entries, "What about rates?", n=100)
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


def angle(degrees: float) -> list[float]:
    return [float(np.cos(np.radians(degrees))), float(np.sin(np.radians(degrees)))]


def test_mmr_prefers_diverse_results_and_ranks_all_when_k_is_large() -> None:
    vectors = np.array([angle(0), angle(1), angle(40)], np.float32)
    relevance = [1.0, 0.99, 0.8]
    assert mmr_ranking(relevance, vectors, k=3, trade_off=1.0) == [0, 1, 2]
    assert mmr_ranking(relevance, vectors, k=3, trade_off=0.5) == [0, 2, 1]
    assert mmr_ranking(relevance, vectors, k=2, trade_off=0.5) == [0, 2]
    assert mmr_ranking(relevance, vectors, k=9, trade_off=0.0) == [0, 2, 1]
    assert mmr_ranking([], vectors[:0], k=3, trade_off=0.5) == []
