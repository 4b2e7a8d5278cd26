"""Health: stale entries, concerns with remedies, a histogram that counts all."""

from collections.abc import Callable
from pathlib import Path

import pytest

from store.memory.inspect.health import concerns, figures, junk
from store.memory.memory import Memory
from store.memory.story.lore import World
from store.settings import settings
from tests.store.memory.conftest import Clock
from tests.store.memory.inspect.city import add_world_and_session


def test_stale_entries_were_neither_written_nor_edited_since(memory: Memory, clock: Clock) -> None:
    add_world_and_session(memory)
    memory.documents.import_document(Path("a.md"), protocol="aave", content=b"loans and rates")
    old = memory.memories.store_memory("frogs like rain")["memory_id"]
    written, clock.now = clock.now, clock.now + 100
    memory.memories.store_memory("frogs like mud")
    memory.memories.edit(old, content="frogs love rain")
    memory.session_memory.add_memory("mira_one", "0", "said again")
    expected = {"memories": 0, "documents": 1, "world_lore": 12, "session_memory": 4}
    for kind, count in expected.items():
        entries = memory.kinds[kind]
        stale = entries.find(before=int(clock.now), order="written")
        assert (len(stale), entries.count(before=int(clock.now))) == (count, count), kind
        assert entries.count(before=int(written)) == 0, "what was written then is not from before"
        assert {*entries.written([row["id"] for row in stale]).values()} <= {written}


def test_health_reports_each_concern_with_a_remedy(memory: Memory) -> None:
    add_world_and_session(memory)
    memory.lore.put_world(World("blank", "Blank", "", "", file="blank.yaml"))
    memory.kinds["world_lore"].edit("city_base_lore_0", text="Something else entirely.")
    memory.lore.add_lore("city", "long", "x " * 500)
    with memory.kinds["memories"].database.writing() as db:
        db.execute("INSERT INTO memories (id, content, tags, timestamp) VALUES ('mem_1', ' ', '[]', '2026')")
    found = {concern.what: concern.which for concern in concerns(memory)}
    assert found["worlds without lore"] == ["blank"]
    assert found["entries edited here, unlike their world's file"] == ["city_base_lore_0"]
    assert found["entries longer than a chunk of 800 characters"] == ["city_long"]
    assert found["entries that say nothing"] == ["mem_1"]
    assert found["sessions never queried"] == ["mira_one"]
    assert "mem_1" in next(which for what, which in found.items() if "without a vector" in what)
    assert all(concern.remedy for concern in concerns(memory))
    memory.session_memory.query_memory("mira_one", "question")
    assert "sessions never queried" not in {concern.what for concern in concerns(memory)}


def test_the_histogram_counts_every_entry_once(memory: Memory) -> None:
    add_world_and_session(memory)
    found = figures(memory.kinds["world_lore"])
    assert sum(number for _, number in found.lengths) == found.entries == 12
    assert found.models == {"bags": 12}
    assert found.size > 0
    assert figures(memory.kinds["documents"]).lengths == []


def remembered(memory: Memory, *texts: str) -> list[str]:
    """Store these memories; returns their ids."""
    return [memory.memories.store_memory(text)["memory_id"] for text in texts]


def whys(memory: Memory, kind: str = "memories") -> dict[str, list[str]]:
    """Why the worst entries count, by their texts."""
    return {one.text: [reason.why for reason in one.reasons] for one in junk(memory, kind).worst}


def test_an_empty_memory_has_no_junk(memory: Memory) -> None:
    found = junk(memory)
    assert (found.share, found.entries, found.worst) == (0.0, 0, [])


def test_the_share_counts_each_entry_once_and_the_parts_say_why(memory: Memory) -> None:
    remembered(
        memory, "Frogs like rain", "Ledgers balance daily", "What do frogs like?", "What do frogs  LIKE?"
    )
    found = junk(memory)
    assert (found.entries, found.junk, found.share) == (4, 2, 0.5)
    assert found.parts == {"repeat": 1, "prompt": 2}
    assert [one.text for one in found.worst] == ["What do frogs  LIKE?", "What do frogs like?"], (
        "two reasons first"
    )


def test_copies_of_one_text_are_one_proposal_that_merges_all_of_them(memory: Memory) -> None:
    ids = remembered(memory, *["Frogs like rain"] * 4, "Ledgers balance daily")
    found = junk(memory)
    assert found.parts == {"repeat": 3}
    (one,) = found.worst
    assert one.merge == tuple(ids[:4])
    assert one.reasons[0].words == f"Says the same as {ids[0]}, as 2 more do."
    memory.merge(one.merge[0], one.merge[1:])
    assert {row["content"] for row in memory.memories.entries.find()} == {
        "Frogs like rain", "Ledgers balance daily",
    }  # fmt: skip
    assert junk(memory).junk == 0


def test_a_near_repeat_is_one_that_differs_in_no_number_name_or_negation(memory: Memory) -> None:
    words = " ".join(f"word{number}" for number in range(30))
    first, *_ = remembered(memory, f"{words} pond", f"{words} pond indeed")
    assert list(whys(memory).values()) == [["near repeat"]]
    assert junk(memory).worst[0].reasons[0].other == first
    remembered(memory, f"Never {words} pond")
    assert junk(memory).parts == {"near repeat": 1, "contradicted": 1}, "no merge of what contradicts"


def test_the_entry_stored_earlier_is_the_contradicted_one(memory: Memory) -> None:
    first, second = remembered(memory, "The vault has 3 iron gates", "The vault has 4 iron gates")
    (one,) = junk(memory).worst
    assert (one.id, one.reasons[0].why, one.reasons[0].other) == (first, "contradicted", second)
    assert "other number" in one.reasons[0].words
    assert "The vault has 4 iron gates" in one.reasons[0].words


def test_the_same_said_of_somebody_else_contradicts_nothing(memory: Memory) -> None:
    remembered(memory, "Ann prefers short green tickers", "Bob prefers short green tickers")
    remembered(memory, "Elena never uses old paper logos", "Farid uses old paper logos")
    assert junk(memory).junk == 0
    remembered(memory, "The harbour capital is Paris", "The harbour capital is London")
    assert junk(memory).parts == {"contradicted": 1}


@pytest.mark.parametrize(
    "text",
    ["Which tickers do we prefer?", "哪个代码最好？", "Please write a poem. Make it short?",
     "Summarize this page", "The user asked for a poem", "You are a helpful assistant"],
)  # fmt: skip
def test_an_entry_that_only_asks_or_instructs_is_a_prompt(memory: Memory, text: str) -> None:
    remembered(memory, text)
    assert whys(memory) == {text: ["prompt"]}


@pytest.mark.parametrize(
    "text",
    ["Use short tickers", "Always test before a release", "Who asks? Ann does.", "Explain plans need review",
     "The user prefers tea"],
)  # fmt: skip
def test_a_preference_or_an_answer_is_no_prompt(memory: Memory, text: str) -> None:
    remembered(memory, text)
    assert junk(memory).junk == 0


def test_entries_of_two_worlds_do_not_repeat_or_contradict_each_other(memory: Memory) -> None:
    memory.lore.add_lore("peaks", "gates", "The vault has 3 iron gates")
    memory.lore.add_lore("swamp", "gates", "The vault has 3 iron gates")
    memory.lore.add_lore("sea", "gates", "The vault has 4 iron gates")
    assert junk(memory, "world_lore").junk == 0
    memory.lore.add_lore("sea", "more", "The vault has 4 iron gates")
    assert junk(memory, "world_lore").parts == {"repeat": 1}


def test_never_recalled_is_not_counted_without_a_log(memory: Memory) -> None:
    remembered(memory, "Frogs like rain")
    found = junk(memory)
    assert found.junk == 0
    assert "neither MEMEDEX_RETRIEVAL_LOG nor MEMEDEX_KEEP_CONTEXTS is set" in found.not_counted


@pytest.mark.parametrize("setting", [("RETRIEVAL_LOG", "ids"), ("KEEP_CONTEXTS", "30")])
def test_never_recalled_counts_once_as_many_hits_were_handed_out_as_there_are_entries(
    reopen: Callable[[], Memory], clock: Clock, monkeypatch: pytest.MonkeyPatch, setting: tuple[str, str]
) -> None:
    monkeypatch.setenv(f"MEMEDEX_{setting[0]}", setting[1])
    settings.cache_clear()
    memory = reopen()
    remembered(memory, "Frogs like rain", "Ledgers balance daily", "Kettles whistle")
    pinned = remembered(memory, "Owls hoot")
    memory.set_recall(pinned, "never")
    assert junk(memory).not_counted == "Never recalled is not counted yet: nothing was handed out so far."
    for number in range(4):
        assert "never recalled" not in junk(memory).parts
        clock.now += 60
        if number == 2:
            remembered(memory, "Moss grows slowly")  # too late for the answers before it
        memory.memories.search_memory("Frogs like rain", 1)
    assert "4 hits were handed out, fewer than the 5 entries" in junk(memory).not_counted
    clock.now += 60
    memory.memories.search_memory("Frogs like rain", 1)
    assert whys(memory) == {
        "Ledgers balance daily": ["never recalled"],
        "Kettles whistle": ["never recalled"],
    }
    assert junk(memory).worst[0].reasons[0].words == "Was in no answer, of 5 since 2026-01-31."
    settings.cache_clear()


def test_only_the_ten_worst_are_named(memory: Memory) -> None:
    remembered(memory, *(f"What is pond {number}?" for number in range(12)))
    found = junk(memory)
    assert (len(found.worst), found.parts["prompt"]) == (10, 12)


def test_repeats_are_found_across_the_blocks_that_are_compared_at_once(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = " ".join(f"word{number}" for number in range(30))
    first, *_ = remembered(
        memory, f"{words} pond", *(f"Topic{n} differs{n} wholly{n}" for n in range(9)), f"{words} pond indeed"
    )
    whole = junk(memory)
    monkeypatch.setattr("store.memory.inspect.neighbours._ROWS", 3)
    monkeypatch.setattr("store.memory.inspect.neighbours._COLUMNS", 2)
    assert junk(memory) == whole
    (one,) = whole.worst
    assert (one.text, one.merge[0]) == (f"{words} pond indeed", first)
