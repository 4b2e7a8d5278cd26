"""One process writes and any process can read; within a process, several threads do both."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from store.catalog.filters import Filter
from store.errors import LibraryInUse
from store.library import Library
from store.records import TIERS
from store.runtime import open_library, open_reader
from store.search.query import Part, Query
from tests.store.conftest import address, approved_with_caption, coin, written
from tests.store.hashed import Hashed
from tests.store.invariants import contents, holds
from tests.store.other_process import other_process, output_of

pytestmark = [pytest.mark.usefixtures("without_chroma"), pytest.mark.kills]


HOLD = """
library = open_library(root, embedder=Hashed())
library.add([coin(1)])
print("open", flush=True)
sys.stdin.read()
"""


def test_a_second_process_is_told_which_process_holds_the_library(root: Path) -> None:
    with other_process(root, HOLD) as holder:
        assert holder.stdout
        assert holder.stdout.readline() == "open\n"
        with pytest.raises(LibraryInUse) as refusal:
            open_library(root, embedder=Hashed())
        assert f"in use by process {holder.pid} since" in str(refusal.value)
        assert "close that one first" in str(refusal.value)
        holder.kill()
        holder.wait()
    with open_library(root, embedder=Hashed()) as library:
        assert library.counts()["pending"] == 1


def test_another_process_can_read_while_one_writes(library: Library) -> None:
    promoted = approved_with_caption(library, 1, 2)
    library.promote(promoted)
    answer = output_of(
        library.layout.root,
        """
with open_reader(root, embedder=Hashed()) as reader:
    hits = reader.search(Query((Part(text="text 2 entity"),))).hits
    print(reader.can_write, reader.counts()["library"], hits[0].address, len(reader.history()))
""",
    )
    assert answer == f"False 2 {address(2)} 8"


def test_an_open_reader_sees_later_changes(library: Library) -> None:
    with open_reader(library.layout.root, embedder=Hashed()) as reader:
        promoted = approved_with_caption(library, 1, 2)
        assert reader.counts()["approved"] == 2
        library.promote(promoted)
        assert len(reader.search(Query((Part(text="anything"),))).hits) == 2
        library.degrade(promoted[:1])
        assert [hit.address for hit in reader.search(Query((Part(text="anything"),))).hits] == promoted[1:]


def test_a_reader_applies_external_edits_when_no_process_writes(root: Path) -> None:
    with open_library(root, embedder=Hashed()) as library:
        library.add([coin(1)])
        sidecar = library.layout.sidecar("pending", address(1))
    sidecar.write_text(sidecar.read_text().replace("Coin 1", "Renamed"))
    with open_reader(root, embedder=Hashed()) as reader:
        assert reader.get(address(1)).name == "Renamed"


def test_a_catalog_left_empty_by_a_crash_is_rebuilt(root: Path) -> None:
    (root / "memecoins").mkdir()
    (root / "memecoins" / "catalog.sqlite3").touch()
    with open_reader(root, embedder=Hashed()) as reader:
        assert reader.find(Filter()) == []


def test_concurrent_threads_approve_each_record_once(library: Library) -> None:
    addresses = [address(number) for number in range(20)]
    library.add(coin(number) for number in range(20))
    start = threading.Barrier(4)

    def decide(person: str) -> list[str]:
        start.wait()
        return [known for each in addresses for known in library.approve([each], actor=person).done]

    with ThreadPoolExecutor(4) as threads:
        done = [known for answer in threads.map(decide, "abcd") for known in answer]
    assert sorted(done) == sorted(addresses)
    assert [event.verb for event in library.history()].count("approve") == 20
    holds(library)


def test_concurrent_threads_add_each_coin_once(library: Library) -> None:
    start = threading.Barrier(3)

    def import_coins(_: int) -> list[str]:
        start.wait()
        return library.add(coin(number) for number in range(6)).done

    with ThreadPoolExecutor(3) as threads:
        done = [known for answer in threads.map(import_coins, range(3)) for known in answer]
    assert sorted(done) == sorted(address(number) for number in range(6))
    holds(library)


def test_concurrent_imports_of_addresses_differing_in_case_add_one(library: Library) -> None:
    one, other = address(0), address(0).replace("x", "X")
    assert one != other
    start = threading.Barrier(2)

    def import_coins(own: str) -> list[str]:
        start.wait()
        return library.add([coin(0, token_address=own)]).done

    with ThreadPoolExecutor(2) as threads:
        done = [known for answer in threads.map(import_coins, (one, other)) for known in answer]
    assert len(done) == 1
    assert library.approve(done).done == done
    holds(library)


def test_a_reader_never_sees_a_partial_decision(library: Library) -> None:
    """Two coins that move together are never seen in different tiers, nor a caption half written."""
    pair = approved_with_caption(library, 1, 2)
    stop = threading.Event()
    seen: list[str] = []

    def watch() -> None:
        while not stop.is_set():
            kept = contents(library).records
            if len({kept[known].tier for known in pair}) != 1:
                seen.append(f"apart: {[kept[known].tier for known in pair]}")
            hits = {hit.address for hit in library.search(Query((Part(text="any"),))).hits}
            if hits not in (set(), set(pair)):
                seen.append(f"found {hits}")

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        for number in range(15):
            assert library.promote(pair).done == pair
            library.caption(pair[0], caption=written(f"again {number}"))
            assert library.degrade(pair).done == pair
            assert library.send_back(pair).done == pair
            assert library.approve(pair).done == pair
    finally:
        stop.set()
        watcher.join()
    assert not seen
    assert sum(library.counts()[tier] for tier in TIERS) == 2


FORK_READERS = """
from store.memory.memory import Memory
from tests.store.memory.bags import Bags
library = open_library(root, embedder=Hashed())
library.add([coin(1)])
memory = Memory.open(root, embedder=Bags(dimensions=16))
memory.lore.add_lore("peaks", "forge", "The dwarves forged the mountains.")
files = [library.catalog, *(each.database for each in memory.kinds.values())]
reader = open_reader(root, embedder=Hashed())
reader.counts()
files.append(reader.catalog)
with reader.catalog.reading() as held:
    parents = {id(db) for file in files for db in (*file._connections.pool, file._connections.writer, held)}
    child = os.fork()
    if not child:
        for file in files:
            assert file._connections.writer is None, "the child writes nothing"
            with file.reading() as db:
                assert id(db) not in parents, "the child has connections of its own"
if not child:
    assert not {id(db) for file in files for db in file._connections.pool} & parents
    print("child:", reader.counts()["pending"], memory.lore.entries.count())
    sys.stdout.flush()
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
print("parent:", library.counts()["pending"], memory.lore.entries.count(), flush=True)
memory.close()
"""


def test_a_forked_child_reads_through_its_own_connections(root: Path) -> None:
    assert output_of(root, FORK_READERS) == "child: 1 1\nparent: 1 1"
