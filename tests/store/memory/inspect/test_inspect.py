"""The data that the inspector shows."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from store.errors import NothingToUndo, ReadOnly
from store.identity import current_user
from store.library import Library
from store.memory import demo
from store.memory.engine.errors import InvalidInput
from store.memory.engine.reembedding import reembed
from store.memory.inspect.connections import coins_in, mentions
from store.memory.inspect.context_preview import REFERENCE, assemble, store_template, stored_template
from store.memory.inspect.health import concerns, figures
from store.memory.inspect.near_duplicates import near_duplicates
from store.memory.inspect.neighbours import around, nearest_to
from store.memory.memory import Memory
from store.memory.story.sessions import exchange
from store.memory.story.worlds import World
from store.memory.text.conflicts import compared
from store.permissions import Actor
from store.runtime import open_library
from tests.browser.coins import COINS, DOG, FROG
from tests.store.hashed import Hashed
from tests.store.memory.bags import Bags
from tests.store.memory.conftest import Clock


def add_world_and_session(memory: Memory) -> None:
    """Add a world with twelve chunks and a session with five exchanges."""
    lore = "\n".join(f"Gate {number} stands. {'stone ' * 120}" for number in range(12))
    memory.lore.put_world(World("city", "The City", "Welcome.", lore, file="city.yaml"))
    for number in range(5):
        memory.sessions.add_memory(
            "mira_one", str(number), exchange(f"question {number}", f"answer {number}")
        )


def test_surrounding_chunks_are_in_their_original_order(memory: Memory) -> None:
    add_world_and_session(memory)
    before, after = around(memory.passages["world_lore"], "city_base_lore_10", reach=2)
    assert [row["lore_id"] for row in before] == ["base_lore_8", "base_lore_9"]
    assert [row["lore_id"] for row in after] == ["base_lore_11"]


def test_the_nearest_entries_exclude_the_entry_itself(memory: Memory) -> None:
    one = memory.memories.store_memory("frogs like rain")["memory_id"]
    two = memory.memories.store_memory("frogs like mud")["memory_id"]
    memory.memories.store_memory("ledgers balance")
    found = nearest_to(memory.passages["memories"], one, n=1)
    assert [(row["id"], round(score, 2)) for row, score in found] == [(two, 0.67)]


def test_stale_entries_were_neither_written_nor_edited_since(memory: Memory, clock: Clock) -> None:
    add_world_and_session(memory)
    memory.documents.import_document(Path("a.md"), protocol="aave", content=b"loans and rates")
    old = memory.memories.store_memory("frogs like rain")["memory_id"]
    written, clock.now = clock.now, clock.now + 100
    memory.memories.store_memory("frogs like mud")
    memory.memories.edit(old, content="frogs love rain")
    memory.sessions.add_memory("mira_one", "0", "said again")
    expected = {"memories": 0, "documents": 1, "world_lore": 12, "session_memory": 4}
    for kind, count in expected.items():
        passages = memory.passages[kind]
        stale = passages.find(before=int(clock.now), order="written")
        assert (len(stale), passages.count(before=int(clock.now))) == (count, count), kind
        assert passages.count(before=int(written)) == 0, "what was written then is not from before"
        assert {*passages.written([row["id"] for row in stale]).values()} <= {written}


def test_near_duplicates_are_all_pairs_above_the_threshold(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("store.memory.inspect.near_duplicates._ROWS", 3)
    monkeypatch.setattr("store.memory.inspect.near_duplicates._COLUMNS", 2)
    texts = ["a b c d", "a b c d", "a b c e", "x y z", "a b c d e", "q"]
    memory.passages["memories"].upsert(
        [
            {"id": f"mem_{n}", "content": text, "tags": "[]", "timestamp": "2026-01-01T00:00:00Z"}
            for n, text in enumerate(texts)
        ],
        verb="test",
    )
    ids, matrix = memory.passages["memories"].resident().copied()
    cosines = matrix @ matrix.T
    expected = {frozenset((ids[i], ids[j])) for i, j in np.argwhere(cosines >= 0.7).tolist() if i < j}
    found = near_duplicates(memory.passages["memories"], floor=0.7)
    assert {frozenset((pair.one, pair.other)) for pair in found} == expected
    assert [pair.cosine for pair in found] == sorted((pair.cosine for pair in found), reverse=True)


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        ("The city has nine gates.", "The city has seven gates.", "other number"),
        ("The king is alive in the north tower.", "The king is dead in the north tower.", "opposite"),
        ("Robots vote in the city.", "Robots do not vote in the city.", "negation"),
        ("The capital of the realm is Arven.", "The capital of the realm is Brin.", "other name"),
        ("Bread rises overnight slowly.", "Slowly, bread rises overnight.", "says the same"),
    ],
)
def test_contradictions_and_repetitions_between_chunks_are_reported(
    one: str, other: str, reason: str
) -> None:
    found = compared([f"Something else first. {one}", f"{other} And more of it."])
    assert [(conflict.reason, conflict.first, conflict.second) for conflict in found] == [
        (reason, one, other)
    ]


def test_unrelated_sentences_are_not_reported() -> None:
    assert not compared(["The wolf sells light by the minute.", "The whale sings on the longest night."])


def test_a_sentence_wrapped_over_two_lines_is_compared_as_one() -> None:
    [conflict] = compared(["The city has\nnine gates.", "The city has seven\ngates."])
    assert conflict.reason == "other number"


def test_the_assembled_context_matches_the_reference(memory: Memory) -> None:
    add_world_and_session(memory)
    context = assemble(
        memory, "question 3", where={"lore": {"world_id": "city"}, "memory": {"session_id": "mira_one"}}
    )
    lore, remembered = context.sections
    assert (len(lore.chunks), len(remembered.chunks)) == (2, 3)
    assert remembered.text.startswith("--- RECENT MEMORY ---\nUser: question 3\nAI: answer 3\nUser: ")
    assert context.text == f"{lore.text}\n\n{remembered.text}"
    assert lore.context_warning, "two chunks of 740 characters are over 1,000"
    assert not remembered.context_warning
    assert context.characters == lore.characters + remembered.characters
    assert not memory.passages["session_memory"].questions.all(), "looking is not asking"


def test_without_memory_the_block_is_empty(memory: Memory) -> None:
    add_world_and_session(memory)
    context = assemble(memory, "gate", where={"memory": {"session_id": "nobody"}})
    assert "RECENT MEMORY" not in context.text
    assert assemble(memory, "gate", numbers={"lore": 0, "memory": 0}).text == ""


def test_a_custom_template_is_stored_and_unknown_placeholders_are_refused(memory: Memory) -> None:
    add_world_and_session(memory)
    own = "You are {nobody}."
    with pytest.raises(InvalidInput, match="nobody"):
        store_template(memory, own)
    assert stored_template(memory) == REFERENCE
    own = 'Lore {"as": "json"}\n{lore}\n\n{documents}\n\nAsked: {prompt}'
    store_template(memory, own)
    assert stored_template(memory) == own
    text = assemble(memory, "gate", template=own, numbers={"lore": 1}).text
    assert text.startswith('Lore {"as": "json"}\nGate ')
    assert text.endswith("\n\nAsked: gate")
    assert "{" not in text.partition("\n")[2]


def test_placeholders_inside_a_chunk_are_not_expanded(memory: Memory) -> None:
    memory.lore.add_lore("city", "odd", "the sign says {prompt}")
    assert assemble(memory, "secret", template="{lore}").text == "the sign says {prompt}"


@pytest.fixture
def coins(tmp_path: Path) -> Library:
    library = open_library(tmp_path / "res", embedder=Hashed())
    library.add([coin.candidate() for coin in COINS])
    return library


def test_mentions_of_a_coin_are_found_by_name_and_ticker(memory: Memory, coins: Library) -> None:
    with coins:
        frog = coins.get(FROG.address)
        memory.lore.add_lore("city", "named", f"At the gate sits {frog.name.upper()} and waits.")
        memory.lore.add_lore("city", "ticker", f"They paid in ${frog.ticker.lower()} again.")
        memory.lore.add_lore("city", "neither", "Nothing of the kind.")
        found = {mention.row["lore_id"]: mention.how for mention in mentions(memory, frog)}
        assert found == {"named": "name", "ticker": "ticker", "neither": "meaning"}


def test_coins_named_in_a_text_are_found(memory: Memory, coins: Library) -> None:
    with coins:
        frog, dog = coins.get(FROG.address), coins.get(DOG.address)
        found = coins_in(coins, f"{frog.name} met ${dog.ticker}.")
        assert {mentioned.record.address: mentioned.how for mentioned in found} == {
            FROG.address: "name",
            DOG.address: "ticker",
        }
        assert not coins_in(coins, "nobody at all")
        coins.delete([FROG.address])
        assert not coins_in(coins, frog.name), "what lies in the trash is not connected"


def test_health_reports_each_concern_with_a_remedy(memory: Memory) -> None:
    add_world_and_session(memory)
    memory.lore.put_world(World("blank", "Blank", "", "", file="blank.yaml"))
    memory.passages["world_lore"].edit("city_base_lore_0", text="Something else entirely.")
    memory.lore.add_lore("city", "long", "x " * 500)
    with memory.passages["memories"].database.writing() as db:
        db.execute("INSERT INTO memories (id, content, tags, timestamp) VALUES ('mem_1', ' ', '[]', '2026')")
    found = {concern.what: concern.which for concern in concerns(memory)}
    assert found["worlds without lore"] == ["blank"]
    assert found["entries edited here, unlike their world's file"] == ["city_base_lore_0"]
    assert found["entries longer than a chunk of 800 characters"] == ["city_long"]
    assert found["entries that say nothing"] == ["mem_1"]
    assert found["sessions never queried"] == ["mira_one"]
    assert "mem_1" in next(which for what, which in found.items() if "without a vector" in what)
    assert all(concern.remedy for concern in concerns(memory))
    memory.sessions.query_memory("mira_one", "question")
    assert "sessions never queried" not in {concern.what for concern in concerns(memory)}


def test_the_histogram_counts_every_entry_once(memory: Memory) -> None:
    add_world_and_session(memory)
    found = figures(memory.passages["world_lore"])
    assert sum(number for _, number in found.lengths) == found.entries == 12
    assert found.models == {"bags": 12}
    assert found.size > 0
    assert figures(memory.passages["documents"]).lengths == []


def test_undo_reverts_the_users_latest_decision_of_any_kind(memory: Memory, clock: object) -> None:
    memory.memories.store_memory("kept", actor="ann")
    clock.now += 1  # type: ignore[attr-defined]
    memory.lore.add_lore("city", "one", "taken back", actor="ann")
    clock.now += 1  # type: ignore[attr-defined]
    memory.memories.store_memory("somebody else's", actor="bob")
    memory.undo(actor="ann")
    assert memory.passages["world_lore"].count() == 0
    assert memory.passages["memories"].count() == 2
    memory.undo(actor="ann")
    with pytest.raises(NothingToUndo):
        memory.undo(actor="ann")
    assert [row["content"] for row in memory.passages["memories"].find()] == ["somebody else's"]


def test_undo_order_does_not_depend_on_the_clock(memory: Memory, clock: Clock) -> None:
    memory.lore.add_lore("city", "one", "the first")
    memory.lore.add_lore("city", "two", "the second")
    clock.now -= 3600
    memory.memories.store_memory("the last")
    clock.now -= 3600
    left = [memory.passages[name].count for name in ("memories", "world_lore")]
    for wanted in ([0, 2], [0, 1], [0, 0]):
        memory.undo()
        assert [count() for count in left] == wanted


def test_decisions_without_common_numbers_are_ordered_by_the_clock(
    memory: Memory, clock: Clock, reopen: Callable[[], Memory]
) -> None:
    memory.memories.store_memory("early")
    clock.now += 1
    memory.lore.add_lore("city", "one", "late")
    memory.close()
    for passages in memory.passages.values():
        with closing(sqlite3.connect(passages.database.path)) as db, db:
            db.execute("UPDATE decisions SET number = 7 - number")
            db.execute("UPDATE history SET decision = 7 - decision")
            db.execute("DELETE FROM meta WHERE key = 'numbered_after'")
    again = reopen()
    last = again.last_decision(by=current_user())
    assert last is not None
    assert last[0] == "world_lore"
    again.memories.store_memory("now")
    assert [(again.undo(), again.passages["world_lore"].count())[1] for _ in range(2)] == [1, 0]


def test_a_viewer_cannot_store_a_template_or_reembed(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.for_actor(Actor("ann")).memories.store_memory("one")
    assert memory.passages["memories"].decisions()[0].actor == "ann"
    monkeypatch.setattr("store.permissions.may_change", lambda actor: False)
    looking = memory.for_actor(Actor("vic"))
    assert not looking.can_write
    assert looking.memories.search_memory("one")["total_results"] == 1
    for change in (lambda: reembed(looking.passages["memories"]), lambda: store_template(looking, "{lore}")):
        with pytest.raises(ReadOnly, match="vic may look"):
            change()
    assert not memory.places.template.exists()
    assert memory.passages["memories"].count() == 1


def test_loading_the_demo_again_imports_nothing(
    memory: Memory, reopen: Callable[[], Memory], bags: Bags
) -> None:
    counts = demo.load(memory)
    assert all(counts.values())
    assert len(memory.lore.worlds()) == 4
    assert set(memory.documents.protocols()) == {"harbor", "millrace"}
    assert memory.transcripts.count_events() == 10
    memory.memories.edit("mem_1782907200", content="edited since")
    asked = len(bags.asked)
    assert demo.load(reopen()) == counts
    assert len(bags.asked) == asked, "nothing was embedded again"
