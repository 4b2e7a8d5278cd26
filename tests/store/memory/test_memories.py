"""Agent memories: every edge case and limit of the documents they follow."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from store.errors import NothingToUndo
from store.memory.engine.inputs import InvalidInput
from store.memory.engine.kind import NewVectors, source
from store.memory.memory import Memory
from tests.store.memory.bags import Bags
from tests.store.memory.chroma_as_it_is import stored
from tests.store.memory.conftest import Clock

# -- the table of edge cases ---------------------------------------------------------------------------------


@pytest.mark.parametrize("content", ["", " \n\t", None, 7, "half a \ud83d"])
def test_empty_content(memory: Memory, bags: Bags, content: str) -> None:
    with pytest.raises(ValueError, match="the content"):
        memory.memories.store_memory(content, ["tag"])
    assert bags.requests == [], "refused before embedding"
    assert memory.memories.entries.count() == 0


def test_duplicate_content(memory: Memory, clock: Clock) -> None:
    first = memory.memories.store_memory("the same words", [])
    clock.now += 60
    second = memory.memories.store_memory("the same words", [])
    assert first["memory_id"] != second["memory_id"]
    assert first["timestamp"] != second["timestamp"]
    found = memory.memories.search_memory("the same words")
    assert {hit["memory_id"] for hit in found["results"]} == {first["memory_id"], second["memory_id"]}


def test_search_returns_no_results(memory: Memory) -> None:
    expected = {"results": [], "total_results": 0, "query_embedding_generated": True}
    assert memory.memories.search_memory("anything at all") == expected
    memory.memories.store_memory("something", [])
    assert memory.memories.search_memory("unrelated question") == expected


@pytest.mark.usefixtures("chroma")
def test_chromadb_directory_missing(reopen: Callable[[], Memory], tmp_path: Path) -> None:
    memory = reopen()
    assert not (tmp_path / "res" / "memory" / "chroma").exists(), "opening alone does not open Chroma"
    memory.memories.store_memory("first words", [])
    assert memory.wait_for_chroma(60)
    memory.close()
    assert stored(tmp_path / "res", "memories").keys() == {"mem_1769853600"}


@pytest.mark.usefixtures("chroma")
def test_collection_doesnt_exist(reopen: Callable[[], Memory], tmp_path: Path) -> None:
    for words in ("first words", "second words"):
        memory = reopen()
        memory.memories.store_memory(words, [])
        assert memory.wait_for_chroma(60)
    memory.close()
    assert len(stored(tmp_path / "res", "memories")) == 2


def test_the_id_of_a_removed_memory_is_not_given_to_another(memory: Memory) -> None:
    removed = memory.memories.store_memory("the first")["memory_id"]
    memory.memories.entries.remove([removed])
    later = memory.memories.store_memory("the second, in the same second")["memory_id"]
    assert later != removed
    assert len(memory.memories.entries.versions(later)) == 1, "its own, and none of the removed one"


@pytest.mark.usefixtures("chroma")
def test_tag_with_commas(memory: Memory, tmp_path: Path) -> None:
    memory.memories.store_memory("words with tags", ["a,b", "c", "a,b"])
    found = memory.memories.search_memory("words with tags")
    assert found["results"][0]["tags"] == ["a,b", "c", "a,b"], "the list as it was given"
    assert memory.wait_for_chroma(60)
    memory.close()
    (entry,) = stored(tmp_path / "res", "memories").values()
    assert entry["metadata"] == {"tags": "a,b,c,a,b", "timestamp": "2026-01-31T10:00:00Z"}
    assert entry["document"] is None, "Chroma holds no text"


# -- storing -------------------------------------------------------------------------------------------------


def test_store_returns_id_success_timestamp_and_dimensions(memory: Memory) -> None:
    assert memory.memories.store_memory(
        content="User prefers TypeScript over JavaScript", tags=["preference", "language"]
    ) == {
        "memory_id": "mem_1769853600",
        "success": True,
        "timestamp": "2026-01-31T10:00:00Z",
        "embedding_dimensions": 384,
    }


def test_two_memories_in_the_same_second_are_both_kept_with_their_time(memory: Memory, clock: Clock) -> None:
    given = [memory.memories.store_memory(f"words {number}", []) for number in range(3)]
    clock.now += 1
    given.append(memory.memories.store_memory("words 3", []))
    assert [answer["memory_id"] for answer in given] == [f"mem_{1769853600 + n}" for n in range(4)]
    assert [answer["timestamp"][-3:] for answer in given] == ["00Z", "00Z", "00Z", "01Z"]
    assert memory.memories.entries.count() == 4


@pytest.mark.parametrize(
    "tags",
    [["t"] * 11, ["x" * 51], "abc", [1], ["fine", None], ["\ud83d"], ["fine", " "]],
    ids=["11", "51 long", "str", "int", "None", "unpaired surrogate", "empty"],
)
def test_too_many_too_long_or_non_text_tags_are_refused(memory: Memory, tags: list) -> None:
    with pytest.raises(InvalidInput):
        memory.memories.store_memory("words", tags)
    assert memory.memories.entries.count() == 0


def test_ten_tags_of_fifty_characters_are_accepted(memory: Memory) -> None:
    tags = [f"{number}" * 50 for number in range(10)]
    memory.memories.store_memory("words", tags)
    assert memory.memories.search_memory("words")["results"][0]["tags"] == tags


def test_memories_persist_after_a_restart(reopen: Callable[[], Memory]) -> None:
    reopen().memories.store_memory("persistent words", ["kept"])
    (hit,) = reopen().memories.search_memory("persistent words")["results"]
    assert (hit["memory_id"], hit["content"], hit["tags"]) == ("mem_1769853600", "persistent words", ["kept"])


def test_a_memory_of_two_million_characters_is_refused_with_the_limit(memory: Memory, bags: Bags) -> None:
    long = "word " * 400_000
    with pytest.raises(InvalidInput, match="2,000,000 characters; at most 100,000"):
        memory.memories.store_memory(long)
    memory.memories.store_memory("short")
    for refused in (
        lambda: memory.memories.edit("mem_1769853600", content=long),
        lambda: memory.lore.add_lore("peaks", "1", long),
        lambda: memory.session_memory.add_memory("elf_s1", "1", long),
        lambda: memory.memories.search_memory(long),
        lambda: memory.kinds["memories"].edit("mem_1769853600", content=long),
    ):
        with pytest.raises(InvalidInput, match="2,000,000 characters; at most"):
            refused()
    assert long not in bags.requests


# -- searching -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("query", ["", "  ", None])
def test_an_empty_query_is_refused(memory: Memory, query: str) -> None:
    with pytest.raises(ValueError, match="the query"):
        memory.memories.search_memory(query)


@pytest.mark.parametrize("limit", [0, -1, 21, 2.0, "5", True, None])
def test_a_limit_below_1_or_above_20_is_refused(memory: Memory, limit: int) -> None:
    with pytest.raises(ValueError, match="the limit"):
        memory.memories.search_memory("words", limit=limit)


@pytest.mark.parametrize("limit", [1, 20])
def test_search_returns_at_most_limit_results_best_first(memory: Memory, limit: int) -> None:
    for number in range(25):
        memory.memories.store_memory("shared " + " ".join(f"w{i}" for i in range(number // 5)), [])
    found = memory.memories.search_memory("shared", limit=limit)
    scores = [hit["relevance_score"] for hit in found["results"]]
    assert len(scores) == found["total_results"] == limit
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == pytest.approx(100)


def test_relevance_is_one_minus_chromas_distance_in_percent(memory: Memory, bags: Bags) -> None:
    memory.memories.store_memory("alpha beta gamma delta", [])
    (hit,) = memory.memories.search_memory("alpha beta")["results"]
    assert hit.keys() == {"memory_id", "content", "timestamp", "relevance_score", "tags"}
    one, other = bags.embed_texts(["alpha beta gamma delta", "alpha beta"])
    distance = 1 - float(np.dot(one, other))
    assert hit["relevance_score"] == pytest.approx((1 - distance) * 100, abs=1e-4)


def test_only_results_below_thirty_percent_are_excluded(memory: Memory, bags: Bags) -> None:
    entries = memory.memories.entries
    for id, cosine in (("mem_1", 0.2999), ("mem_2", 0.3001), ("mem_3", -0.5)):
        vector = np.zeros(384, np.float32)
        vector[:2] = cosine, (1 - cosine**2) ** 0.5
        key = source(entries.model, id).key
        with entries.change("store") as change:
            change.store(NewVectors(entries.model, {key: vector.tobytes()}))
            change.upsert({"id": id, "content": id, "tags": "[]", "timestamp": "2026-01-31T10:00:00Z"})
    bags.embed_texts = lambda texts: np.eye(1, 384, dtype=np.float32)  # type: ignore[method-assign]
    found = memory.memories.search_memory("exactly the first direction", limit=20)
    assert [hit["memory_id"] for hit in found["results"]] == ["mem_2"]
    assert found["results"][0]["relevance_score"] == pytest.approx(30.01, abs=1e-3)


def test_the_packaged_model_gives_384_dimensions_and_finds_by_meaning(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "res") as memory:
        stored_ = memory.memories.store_memory("User prefers TypeScript over JavaScript", ["preference"])
        memory.memories.store_memory("The cat sleeps on the sofa all day", ["animal"])
        assert stored_["embedding_dimensions"] == 384
        assert memory.memories.entries.model == "offline:text"
        found = memory.memories.search_memory("Does the user like TypeScript?")
        assert [hit["memory_id"] for hit in found["results"]] == [stored_["memory_id"]]


# -- editing, history, undo ----------------------------------------------------------------------------------


def test_an_edited_memory_is_embedded_again_and_keeps_id_and_time(memory: Memory, clock: Clock) -> None:
    id = memory.memories.store_memory("old words", ["old"])["memory_id"]
    clock.now += 100
    memory.memories.edit(id, content="quite another text", tags=["new"])
    (hit,) = memory.memories.search_memory("quite another text")["results"]
    assert (hit["memory_id"], hit["tags"], hit["timestamp"]) == (id, ["new"], "2026-01-31T10:00:00Z")
    assert memory.memories.search_memory("old words")["results"] == []
    assert [one.verb for one in memory.memories.entries.versions(id)] == ["edit", "store"]


def test_edits_removals_and_stores_can_be_undone_and_redone(memory: Memory) -> None:
    entries = memory.memories.entries
    id = memory.memories.store_memory("first version", [])["memory_id"]
    memory.memories.edit(id, content="second version")
    assert entries.remove([id]) == 1
    states = [None, "second version", "first version", None]
    for expected in states[1:]:
        memory.undo()
        assert [row["content"] for row in entries.find()] == ([expected] if expected else [])
    with pytest.raises(NothingToUndo):
        memory.undo()
    for expected in ("first version", "second version", None):
        memory.redo()
        found = [row["content"] for row in entries.find()]
        assert found == ([expected] if expected else [])
        if expected:
            assert memory.memories.search_memory(expected)["results"][0]["content"] == expected
    assert entries.find(words="version") == []


def test_undo_refuses_entries_changed_since(memory: Memory) -> None:
    entries = memory.memories.entries
    id = memory.memories.store_memory("mine", [], actor="me")["memory_id"]
    memory.memories.edit(id, content="somebody else's", actor="other")
    outcome = memory.undo(actor="me")
    assert (outcome.done, [refusal.item for refusal in outcome.refused]) == ([], [id])
    assert entries.get(id)["content"] == "somebody else's"


def test_every_identifier_is_mem_and_a_number(memory: Memory) -> None:
    for number in range(3):
        memory.memories.store_memory(f"words {number}")
    assert all(re.fullmatch(r"mem_\d+", row["id"]) for row in memory.memories.entries.find())


@pytest.mark.parametrize(
    ("memory_text", "question"),
    [
        ("User prefers TypeScript over JavaScript", "What programming languages do I prefer?"),
        ("I prefer TypeScript", "What languages do I like?"),
    ],
)
def test_both_documented_examples_are_answered_by_the_real_model(
    tmp_path: Path, memory_text: str, question: str
) -> None:
    with Memory.open(tmp_path / "real") as real:
        real.memories.store_memory(memory_text)
        real.memories.store_memory("Invoices are paid within 14 days")
        answer = real.memories.search_memory(question)
    assert [hit["content"] for hit in answer["results"]] == [memory_text]
    assert answer["results"][0]["relevance_score"] >= 30


def test_a_question_in_the_first_person_finds_what_is_said_of_the_user(memory: Memory) -> None:
    memory.memories.store_memory("the user's cat does climb")
    (hit,) = memory.memories.search_memory("my cat", threshold=60)["results"]
    assert hit["relevance_score"] == pytest.approx(100 * 3 / np.sqrt(3 * 5), abs=0.1)
    assert memory.memories.search_memory("cat", threshold=60)["total_results"] == 0


# -- a word that only one memory has -------------------------------------------------------------------------

LONG = " ".join(f"filler{number}" for number in range(90))


def contents(memory: Memory, query: str, **asked: Any) -> list[str]:
    return [hit["content"][:20] for hit in memory.memories.search_memory(query, **asked)["results"]]


@pytest.fixture
def sixty(memory: Memory) -> Memory:
    """Memories of which each has a word of its own in 90 others, far below the threshold by its cosine."""
    for number in range(60):
        memory.memories.store_memory(f"Unique{number}x says {LONG}", [f"label{number}x", "shared"])
    return memory


@pytest.mark.parametrize(
    "question", ["{}", "{}?", "What about {}?", "What do you know about {}?", "Did anybody mention {}?"]
)
@pytest.mark.parametrize("word", ["unique{}x", "LABEL{}X"])
def test_each_of_sixty_memories_is_found_by_the_word_that_only_it_has(
    sixty: Memory, question: str, word: str
) -> None:
    for number in range(0, 60, 7):
        asked = question.format(word.format(number))
        (hit,) = sixty.memories.search_memory(asked)["results"]
        assert hit["content"].startswith(f"Unique{number}x ")
        assert (hit["found_by"], hit["relevance_score"] < 30) == ("words", True)
        assert contents(sixty, asked, threshold=90) == [], "who asks for more relevance gets it"


def test_nearer_memories_do_not_take_the_place_of_the_one_that_has_the_word(memory: Memory) -> None:
    for number in range(8):
        memory.memories.store_memory(f"train {number}")
    memory.memories.store_memory(f"The night train to Zagreb leaves at {LONG}")
    found = contents(memory, "train Zagreb", limit=3)
    assert found[-1] == "The night train to Z"
    assert len(found) == 3


def test_a_label_is_found_however_many_memories_there_are(memory: Memory) -> None:
    rows = [
        {
            "id": f"mem_{n}",
            "content": f"number {n}",
            "tags": '["caf\\u00e9"]' if n == 7 else "[]",
            "timestamp": "",
        }
        for n in range(300)
    ]
    memory.memories.entries.upsert(rows, verb="store")
    assert contents(memory, "café") == contents(memory, "Cafe") == ["number 7"]


@pytest.mark.parametrize("question", ["Will", "will?", "WILL"])
def test_a_name_that_is_also_a_function_word_is_found(memory: Memory, question: str) -> None:
    memory.memories.store_memory(f"Will signs {LONG}")
    memory.memories.store_memory("They sign nothing")
    assert contents(memory, question) == ["Will signs filler0 fi"[:20]]


@pytest.fixture
def offline(tmp_path: Path) -> Iterator[Memory]:
    """The built-in model, and a long text that is far from any question."""
    with Memory.open(tmp_path / "offline") as real:
        real.memories.store_memory(f"A key ring for Zagreb hangs behind the desk of Priya, {LONG}", ["keys"])
        yield real


@pytest.mark.parametrize(
    "question",
    ["Which planet has the biggest ring?", "What is on the desk of a king?", "Behind the sun?"],
)
def test_a_single_common_word_is_not_an_answer(offline: Memory, question: str) -> None:
    assert contents(offline, question) == []
    assert contents(offline, question, near_misses=1) == []


@pytest.mark.parametrize(
    "question",
    [
        "What did Priya drink?", "zagreb weather", "How is filler42 made?", "Which keys melt?",
        "Does a planet hang behind?", "ring",
    ],
)  # fmt: skip
def test_a_name_a_code_a_tag_two_words_or_all_of_them_are(offline: Memory, question: str) -> None:
    assert contents(offline, question) == ["A key ring for Zagre"]
