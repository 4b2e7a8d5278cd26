"""Several processes write to one text memory: none is refused, nothing is lost, one keeps it in order."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from store.disk.lock import WriterLock
from store.errors import NotWritten
from store.memory.engine.database import Places
from store.memory.engine.entries import Entries
from store.memory.kinds import KINDS
from store.memory.memory import Memory
from tests.store.memory.bags import Bags

PROJECT = Path(__file__).resolve().parents[3]
AGENT = """
import sys
from pathlib import Path
from store.memory.memory import Memory
from tests.store.memory.bags import Bags
name, may_keep, count = sys.argv[2], sys.argv[3] == "True", int(sys.argv[4])
with Memory.open(Path(sys.argv[1]), embedder=Bags(), may_keep=may_keep) as memory:
    for number in range(count):
        stored = memory.memories.store_memory(f"{name} saw number {number}", actor=name)
        print(stored["memory_id"], flush=True)
        memory.lore.add_lore("peaks", f"{name}{number}", f"{name} told number {number}", actor=name)
    sys.stdin.read()
"""


def agent(root: Path, name: str, *, may_keep: bool = False, count: int = 20) -> "subprocess.Popen[str]":
    """A process that stores memories and lore, prints the ids, and then waits for the end of its input."""
    command = [sys.executable, "-W", "ignore", "-c", AGENT, str(root), name, str(may_keep), str(count)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=PROJECT)


@pytest.mark.slow
def test_three_processes_store_beside_an_open_memory_and_nothing_is_lost(memory: Memory) -> None:
    root = memory.places.root
    agents = {name: agent(root, name) for name in ("ann", "bob", "cid")}
    own = [memory.memories.store_memory(f"the page saw number {number}")["memory_id"] for number in range(20)]
    ids = {name: one.communicate("")[0].split() for name, one in agents.items()}
    assert [one.returncode for one in agents.values()] == [0, 0, 0]
    stored = {row["id"]: row["content"] for row in memory.memories.entries.find(limit=None)}
    assert len(stored) == 80
    assert stored.keys() == {*own, *(id for some in ids.values() for id in some)}
    for name, some in ids.items():
        assert [stored[id] for id in some] == [f"{name} saw number {number}" for number in range(20)]
    assert memory.lore.entries.counts() == {"peaks": 60}
    found = memory.memories.search_memory("bob saw number 7", 1)["results"]
    assert found[0]["memory_id"] == ids["bob"][7], "vectors in memory follow what other processes stored"
    decisions = {decision.id for decision in memory.log.find(limit=1000)}
    assert len(decisions) == 140, "decisions of all processes and kinds are in one row"
    assert memory.undo(actor="ann").done == ["peaks_ann19"], "the last of her own"


@pytest.mark.usefixtures("chroma")
def test_chroma_follows_what_other_processes_stored(memory: Memory) -> None:
    done = agent(memory.places.root, "ann", count=3)
    assert len(done.communicate("")[0].split()) == 3
    assert memory._maintainer
    memory._maintainer.maintain()
    assert memory.wait_for_chroma(60)
    assert memory.check_chroma() == []


def test_a_session_deleted_beside_the_maintainer_leaves_nothing(memory: Memory, bags: Bags) -> None:
    memory.session_memory.add_memory("elf_s1", "m0", "zanzibarium")
    with Memory.open(memory.places.root, embedder=bags, may_keep=False) as beside:
        assert beside.session_memory.delete_session("s1") == {"elf_s1": 1}
    assert memory.session_memory.entries.count() == 0
    assert memory.session_memory.entries.database.meta("forgetting") == "", "the maintainer rewrote the file"
    left = [
        path.name
        for path in memory.places.folder.rglob("*")
        if path.is_file() and b"zanzibarium" in path.read_bytes()
    ]
    assert left == []


@pytest.mark.slow
def test_another_process_takes_over_when_the_maintainer_ends(
    tmp_path: Path, bags: Bags, reopen: Callable[[], Memory]
) -> None:
    root = tmp_path / "res"
    other = agent(root, "ann", may_keep=True, count=1)
    assert other.stdout
    assert other.stdout.readline().startswith("mem_")
    memory = reopen()
    assert memory._maintainer
    assert memory._maintainer.follower is None, "the other process keeps it"
    memory.memories.store_memory("stored beside it")
    other.communicate("")
    memory._maintainer.maintain()
    assert memory._maintainer.follower is not None
    assert not WriterLock(Places(root).lock).is_free()
    assert memory.memories.entries.count() == 2


def test_a_memory_that_cannot_be_kept_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = []

    def refuse(*_: object) -> None:
        raise NotWritten("the disk says no")

    close = Entries.close
    monkeypatch.setattr(Entries, "close", lambda entries: (closed.append(entries), close(entries)))
    monkeypatch.setattr(Memory, "_recover", refuse)
    with pytest.raises(NotWritten):
        Memory.open(tmp_path, embedder=Bags())
    assert len(closed) == len(KINDS)
    monkeypatch.undo()
    Memory.open(tmp_path, embedder=Bags()).close()
