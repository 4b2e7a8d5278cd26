"""Session memory: names and limits, and deletion that leaves nothing in any file."""

from collections.abc import Callable
from pathlib import Path

import pytest

from store.disk.files import Disk
from store.errors import NothingToUndo, NotWritten
from store.memory.engine.inputs import InvalidInput, UnknownEntry
from store.memory.memory import Memory
from store.memory.trust import review
from store.runtime import open_library
from tests.store.conftest import approved_with_caption
from tests.store.hashed import Hashed
from tests.store.memory.bags import Bags
from tests.store.memory.chroma_as_it_is import stored
from tests.store.memory.engine.test_versions import by_agent
from tests.store.memory.traces import traces

SECRET = "The vault opens with zanzibarium and quicksilverish words"


# -- keys, adding, querying ----------------------------------------------------------------------------------


@pytest.mark.usefixtures("chroma")
def test_a_memory_is_stored_under_session_and_memory_id(memory: Memory, tmp_path: Path) -> None:
    memory.session_memory.add_memory("elf_s1", "m1", "User: hello\nAI: hail")
    assert memory.wait_for_chroma(60)
    memory.close()
    (found,) = stored(tmp_path / "res", "session_memory").items()
    assert found[0] == "elf_s1_m1"
    assert found[1]["metadata"] == {"session_id": "elf_s1"}
    assert found[1]["document"] is None


def test_adding_the_same_memory_id_replaces_the_text(memory: Memory) -> None:
    memory.session_memory.add_memory("elf_s1", "m1", "old words")
    memory.session_memory.add_memory("elf_s1", "m1", "new text")
    assert memory.session_memory.query_memory("elf_s1", "old words") == (["new text"], False)


def test_ambiguous_joined_keys_do_not_overwrite_each_other(memory: Memory) -> None:
    memory.session_memory.add_memory("elf", "s1_m1", "first")
    with pytest.raises(InvalidInput):
        memory.session_memory.add_memory("elf_s1", "m1", "second")


def test_memory_is_filtered_by_key_with_three_results_by_default(memory: Memory) -> None:
    for number in range(5):
        memory.session_memory.add_memory("elf_s1", str(number), f"dragon {number}")
    memory.session_memory.add_memory("orc_s1", "1", "dragon")
    documents, _ = memory.session_memory.query_memory("elf_s1", "dragon")
    assert len(documents) == 3
    assert memory.session_memory.query_memory("orc_s1", "dragon") == (["dragon"], False)


@pytest.mark.parametrize(("length", "warning"), [(1000, False), (1001, True)])
def test_results_above_1500_characters_give_a_warning(memory: Memory, length: int, warning: bool) -> None:
    memory.session_memory.add_memory("elf_s1", "1", "d" * 500)
    memory.session_memory.add_memory("elf_s1", "2", "e" * length)
    documents, warned = memory.session_memory.query_memory("elf_s1", "anything")
    assert (sorted(map(len, documents)), warned) == ([500, length], warning)


def test_a_failing_query_is_logged_and_returns_nothing(
    memory: Memory, bags: Bags, caplog: pytest.LogCaptureFixture
) -> None:
    bags.fails = True
    assert memory.session_memory.query_memory("elf_s1", "dragon") == ([], False)
    assert "Error querying memory: the model is on fire" in caplog.text


def test_all_character_keys_of_a_session_are_found(memory: Memory) -> None:
    for key in ("elf_s1", "orc_s1", "orc_s2", "s1", "s10", "elf"):
        memory.session_memory.add_memory(key, "m", "text")
    assert memory.session_memory.keys_of("s1") == ["elf_s1", "orc_s1", "s1"]


# -- deletion ------------------------------------------------------------------------------------------------


@pytest.fixture
def deleted(chroma: None, chroma_in_own_process: None, memory: Memory) -> Memory:
    """Sixty exchanges of two sessions, some edited, removed, undone and queried, before a deletion."""
    for number in range(30):
        memory.session_memory.add_memory(
            "elf_xylophonist", f"m{number}", f"{SECRET} {number} kumquatty{number}"
        )
        memory.session_memory.add_memory("orc_s2", f"m{number}", f"plain exchange {number}")
    entries = memory.session_memory.entries
    entries.edit("elf_xylophonist_m1", text="User: zanzibarium once more")
    entries.remove(["elf_xylophonist_m2", "elf_xylophonist_m3"])
    memory.undo()
    entries.remove(["elf_xylophonist_m4"])
    memory.session_memory.query_memory("elf_xylophonist", SECRET)
    assert memory.wait_for_chroma(60)
    return memory


def test_traces_are_found_before_the_deletion(deleted: Memory, bags: Bags) -> None:
    vector = bags.embed_texts([f"{SECRET} 7 kumquatty7"])[0]
    found = traces(deleted.places.root, ["zanzibarium", "xylophonist"], [vector])
    assert {"memory.sqlite3-wal", "chroma.sqlite3"} <= found.keys(), found.keys()
    assert any("vector 0" in here for here in found.values())


def test_a_deleted_session_leaves_no_trace_in_any_file(deleted: Memory, bags: Bags) -> None:
    texts = [f"{SECRET} {number} kumquatty{number}" for number in range(30)]
    vectors = [*bags.embed_texts([*texts, "User: zanzibarium once more"])]
    words = ["zanzibarium", "quicksilverish", "xylophonist", *(f"kumquatty{n}" for n in range(30))]
    assert deleted.session_memory.delete_session_memory("elf_xylophonist") == 29
    assert traces(deleted.places.root, words, vectors) == {}, "at once"
    assert deleted.wait_for_chroma(60)
    assert traces(deleted.places.root, words, vectors) == {}, "when Chroma has the rest again"
    deleted.close()
    assert traces(deleted.places.root, words, vectors) == {}, "and after closing"


def test_the_other_sessions_are_untouched(deleted: Memory) -> None:
    deleted.session_memory.delete_session_memory("elf_xylophonist")
    assert deleted.session_memory.entries.counts() == {"orc_s2": 30}
    assert deleted.session_memory.query_memory("orc_s2", "plain exchange 7", 1) == (
        ["plain exchange 7"],
        False,
    )
    assert deleted.session_memory.query_memory("elf_xylophonist", "zanzibarium") == ([], False)
    assert deleted.session_memory.entries.count(words="plain") == 30
    assert deleted.wait_for_chroma(60)
    assert deleted.check_chroma() == []
    deleted.close()
    assert len(stored(deleted.places.root, "session_memory")) == 30


def test_a_deletion_cannot_be_undone(deleted: Memory) -> None:
    deleted.session_memory.delete_session_memory("elf_xylophonist")
    entries = deleted.session_memory.entries
    while True:
        try:
            deleted.undo()
        except NothingToUndo:
            break
    assert "elf_xylophonist" not in entries.counts()
    assert [d.verb for d in deleted.log.find(limit=1000) if d.verb == "forget"] == ["forget"]


def test_deleting_an_unknown_session_changes_nothing(memory: Memory) -> None:
    memory.session_memory.add_memory("elf_s1", "1", "text")
    for delete in (memory.session_memory.delete_session_memory, memory.session_memory.delete_session):
        with pytest.raises(UnknownEntry, match="no session 'elf_s2'; the nearest: 'elf_s1'"):
            delete("elf_s2")
    assert memory.session_memory.entries.counts() == {"elf_s1": 1}


def test_a_session_without_its_character_is_deleted_for_all_of_them(memory: Memory) -> None:
    for key in ("elf_s1", "orc_s1", "orc_s2"):
        memory.session_memory.add_memory(key, "1", "text")
    assert memory.session_memory.delete_session("s1") == {"elf_s1": 1, "orc_s1": 1}
    assert memory.session_memory.delete_session("orc_s2") == {"orc_s2": 1}


def test_a_removed_session_can_still_be_deleted_for_good(memory: Memory) -> None:
    memory.session_memory.add_memory("elf_s1", "1", "text")
    memory.session_memory.entries.remove(["elf_s1_1"])
    assert memory.session_memory.delete_session_memory("elf_s1") == 0
    assert memory.database.rows("SELECT * FROM history WHERE id = 'elf_s1_1'") == []


def test_a_session_is_deleted_for_characters_whose_entries_were_removed_or_wait(memory: Memory) -> None:
    for key in ("elf_s1", "orc_s1"):
        memory.session_memory.add_memory(key, "1", f"{SECRET} of {key}")
    memory.session_memory.entries.remove(["orc_s1_1"])
    agent = by_agent(memory, is_reviewed=True)
    agent.session_memory.add_memory("imp_s1", "1", SECRET)
    agent.session_memory.add_memory("ent_s1", "1", SECRET)
    review.reject(memory, [one.entry.id for one in review.waiting(memory) if one.entry.target == "ent_s1_1"])
    assert memory.session_memory.delete_session("s1") == {"elf_s1": 1, "ent_s1": 0, "imp_s1": 0, "orc_s1": 0}
    assert traces(memory.places.root, ["zanzibarium"], []) == {}


@pytest.mark.parametrize("is_removed", [False, True])
def test_a_session_that_was_a_key_itself_is_deleted_for_its_characters_too(
    memory: Memory, is_removed: bool
) -> None:
    for key in ("s1", "elf_s1", "orc_s10"):
        memory.session_memory.add_memory(key, "1", SECRET)
    if is_removed:
        memory.session_memory.entries.remove(["s1_1"])
    assert memory.session_memory.delete_session("s1") == {"elf_s1": 1, "s1": int(not is_removed)}
    assert memory.session_memory.entries.counts() == {"orc_s10": 1}


@pytest.mark.parametrize("waits", [False, True])
def test_a_key_without_entries_counts_as_itself_and_not_as_the_end_of_another(
    memory: Memory, waits: bool
) -> None:
    memory.session_memory.add_memory("pal_kermit_s1", "1", "text of the pal")
    if waits:
        by_agent(memory, is_reviewed=True).session_memory.add_memory("kermit_s1", "1", "text")
    else:
        memory.session_memory.add_memory("kermit_s1", "1", "text")
        memory.session_memory.entries.remove(["kermit_s1_1"])
    assert memory.session_memory.delete_session("kermit_s1") == {"kermit_s1": 0}
    assert memory.session_memory.entries.counts() == {"pal_kermit_s1": 1}


@pytest.mark.parametrize("most", [-5, 0, 1_000_001, None])
def test_a_limit_of_characters_that_is_none_is_a_failure_that_the_log_names(
    memory: Memory, most: int, caplog: pytest.LogCaptureFixture
) -> None:
    memory.session_memory.add_memory("elf_s1", "1", "text")
    memory.lore.add_lore("peaks", "1", "text")
    for query, key in ((memory.session_memory.query_memory, "elf_s1"), (memory.lore.query_lore, "peaks")):
        assert query(key, "text", max_chars=most) == ([], False)
        assert "max_chars has to be a whole number" in caplog.messages[-1]


@pytest.mark.usefixtures("chroma", "chroma_in_own_process")
@pytest.mark.parametrize("struck", ["make again", "PRAGMA wal_checkpoint(TRUNCATE)"])
def test_an_interrupted_deletion_is_reported_and_finished_on_the_next_opening(
    tmp_path: Path, bags: Bags, caplog: pytest.LogCaptureFixture, struck: str
) -> None:
    def strike(name: str, path: Path) -> None:
        if name == struck and armed:
            raise OSError("the disk says no")

    armed = False
    memory = Memory.open(tmp_path / "res", embedder=bags, disk=Disk(before=strike))
    memory.session_memory.add_memory("elf_s1", "1", SECRET)
    assert memory.wait_for_chroma(60)
    armed = True
    with pytest.raises(NotWritten, match="the disk says no"):
        memory.session_memory.delete_session_memory("elf_s1")
    assert "Failed to delete vector memory" in caplog.text
    assert memory.session_memory.query_memory("elf_s1", "vault") == ([], False)
    memory.close()
    vector = bags.embed_texts([SECRET])[0]
    with Memory.open(tmp_path / "res", embedder=bags):
        assert traces(tmp_path / "res", ["zanzibarium", "elf_s1"], [vector]) == {}


def test_a_reader_still_sees_the_other_sessions(
    deleted: Memory, reopen: Callable[[], Memory], bags: Bags
) -> None:
    with Memory.open_for_reading(deleted.places.root, embedder=bags) as reader:
        reader.session_memory.query_memory("orc_s2", "plain")
        deleted.session_memory.delete_session_memory("elf_xylophonist")
        assert reader.session_memory.query_memory("elf_xylophonist", "zanzibarium") == ([], False)
        assert len(reader.session_memory.query_memory("orc_s2", "plain")[0]) == 3


def test_a_deleted_session_leaves_no_trace_in_the_library_files(
    deleted: Memory,
) -> None:
    """Chroma may write its process's memory into its index; this process never held a text."""
    words = ["zanzibarium", "quicksilverish", "xylophonist", *(f"kumquatty{n}" for n in range(30))]
    with open_library(deleted.places.root, embedder=Hashed()) as library:
        addresses = approved_with_caption(library, *range(20))
        library.promote(addresses[:10])
        assert library.wait_for_chroma(60)
        deleted.session_memory.delete_session_memory("elf_xylophonist")
        library.promote(addresses[10:])
        assert library.wait_for_chroma(60)
    deleted.close()
    assert traces(deleted.places.root, words, []) == {}
