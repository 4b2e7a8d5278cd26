"""Dashboards on other machines: a replica that Litestream keeps, pictures from a shared place."""

import logging
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from secrets import token_hex

import pytest
import s3fs
from moto.server import ThreadedMotoServer

from store.backup.create import backup
from store.backup.restore import restore_backup, restore_files
from store.catalog.filters import Filter
from store.cli import main
from store.errors import BadBackup, CatalogDamaged, ReadOnly
from store.library import Library
from store.maintenance import doctor
from store.memory.memory import Memory
from store.pictures.shared_pictures import SharedPictures
from store.progress import Progress
from store.runtime import check_replica, open_library, open_reader
from store.search.query import Part, Query
from store.settings import settings
from store.writing.salvage import salvage_if_damaged
from tests.ports import free_port
from tests.store import litestream
from tests.store.conftest import address, coin, written
from tests.store.hashed import Hashed
from tests.waiting import eventually

pytestmark = [pytest.mark.usefixtures("without_chroma"), pytest.mark.slow]

COINS = 6
WITHIN = 5.0  # seconds: what docs/scaling.md says of the lag


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    """The address of a server that speaks S3."""
    logging.getLogger("werkzeug").setLevel(logging.WARNING)
    server = ThreadedMotoServer("127.0.0.1", free_port(), verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def bucket(s3: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A bucket of that server."""
    environment = {
        "AWS_ENDPOINT_URL": s3, "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_REGION": "us-east-1", "AWS_DEFAULT_REGION": "us-east-1",
    }  # fmt: skip
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_CA_BUNDLE", raising=False)  # Litestream takes none of the environment
    bucket = f"coins-{token_hex(4)}"
    s3fs.S3FileSystem().mkdir(bucket)
    return bucket


@pytest.fixture(params=["folder", "bucket"])
def places(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Where Litestream copies the catalog to; the pictures' place is set."""
    if request.param == "folder":
        copy, pictures = f"file://{tmp_path / 'copy'}", str(tmp_path / "pictures")
    else:
        bucket = request.getfixturevalue("bucket")
        endpoint = os.environ["AWS_ENDPOINT_URL"]
        copy = f"s3://{bucket}/catalog?endpoint={endpoint}&region=us-east-1&forcePathStyle=true"
        pictures = f"s3://{bucket}/pictures"
    monkeypatch.setenv("MEMEDEX_PICTURES", pictures)
    settings.cache_clear()
    yield copy
    settings.cache_clear()


@pytest.fixture
def writer(places: str, root: Path, embedder: Hashed) -> Iterator[Library]:
    """A library with coins in three tiers, copied by Litestream, its pictures in the shared place."""
    with open_library(root, embedder=embedder) as library:
        library.add([coin(n, caption=written(f"coin {n}")) for n in range(COINS)])
        library.approve([address(n) for n in range(1, COINS)], actor="me")
        assert not library.promote([address(n) for n in range(2, COINS)], actor="me").refused
        with litestream.replicating(library.layout.catalog, places):
            library.work_in_background()
            pictures = SharedPictures(settings().pictures, root / "unused")
            assert eventually(lambda: len(pictures.hashes()) == COINS)
            yield library


@pytest.fixture
def replica(writer: Library, places: str, tmp_path: Path, embedder: Hashed) -> Iterator[Library]:
    """The library as another machine has it."""
    root = tmp_path / "elsewhere"
    with ExitStack() as stack:
        assert eventually(lambda: litestream.restore(places, tmp_path / "once.sqlite3"))
        stack.enter_context(litestream.following(places, root / "memecoins" / "catalog.sqlite3"))
        yield stack.enter_context(open_reader(root, embedder=embedder))


def test_decisions_are_seen_on_another_machine_within_five_seconds(writer: Library, replica: Library) -> None:
    assert eventually(lambda: replica.counts() == writer.counts())
    assert writer.approve([address(0)], actor="me").done
    assert eventually(lambda: replica.get(address(0)).tier == "approved", within=WITHIN)
    assert replica.history(limit=1)[0].verb == "approve"
    query = Query((Part(text="coin 3"),))
    found = [hit.address for hit in replica.search(query).hits]
    assert found == [hit.address for hit in writer.search(query).hits] != []
    picture = replica.picture(address(3))
    assert picture.read_bytes() == writer.picture(address(3)).read_bytes()
    assert picture.is_relative_to(replica.layout.fetched_pictures)
    assert eventually(lambda: (replica.status().seconds_behind or 0) < 2 * WITHIN)


def test_nothing_can_be_changed_on_a_replica(replica: Library, writer: Library, tmp_path: Path) -> None:
    root, copy = replica.layout.root, tmp_path / "backup"
    backup(writer, copy)
    assert not replica.can_write
    with pytest.raises(ReadOnly):
        replica.reject([address(0)], actor="me")
    with pytest.raises(ReadOnly, match="replica that Litestream writes to"):
        open_library(root)
    for writes in (
        lambda: restore_files(root, progress=Progress()),
        lambda: restore_backup(root, copy),
        lambda: salvage_if_damaged(replica.layout),
        lambda: doctor.check_unopened(root),
    ):
        with pytest.raises(ReadOnly, match="replica"):
            writes()
    assert main(["--root", str(root), "doctor", "--repair"]) == 1
    assert not doctor.check(replica)
    assert not (root / "memecoins" / "writer.lock").exists()


@pytest.mark.parametrize("places", ["folder"], indirect=True)
def test_who_reads_a_replica_sees_whole_decisions(writer: Library, replica: Library) -> None:
    everything = [address(n) for n in range(1, COINS)]
    ended, mixed, seen = threading.Event(), [], set()

    def read() -> None:
        while not ended.is_set():
            with replica.catalog.reading() as db:
                first = db.execute("SELECT count(*) FROM records WHERE tier = 'trash'").fetchone()[0]
                decided = db.execute("SELECT count(*) FROM history WHERE verb = 'delete'").fetchone()[0]
                restored = db.execute("SELECT count(*) FROM history WHERE verb = 'restore'").fetchone()[0]
            seen.add(decided)
            if first != decided - restored or first % len(everything):
                mixed.append((first, decided, restored))

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(20):
        assert not writer.delete(everything, actor="me").refused
        assert not writer.restore(everything, actor="me").refused
    decisions = 20 * len(everything)
    assert eventually(lambda: decisions in seen)
    ended.set()
    reader.join()
    assert not mixed


def test_a_library_comes_back_after_its_disk_is_gone(
    writer: Library, places: str, tmp_path: Path, embedder: Hashed
) -> None:
    records, decisions = writer.find(Filter()), writer.decisions()
    writer.close()
    root = tmp_path / "new disk"

    def is_whole() -> bool:
        catalog = root / "memecoins" / "catalog.sqlite3"
        catalog.unlink(missing_ok=True)
        if not litestream.restore(places, catalog):
            return False
        with Library(root) as found:
            return found.decisions() == decisions

    assert eventually(is_whole)
    restored = restore_files(root, progress=Progress())
    assert len(restored.done) == COINS
    assert not restored.refused
    with open_library(root, embedder=embedder) as library:
        assert library.find(Filter()) == records
        assert library.decisions() == decisions
        assert [one.what for one in doctor.check(library) if "Chroma" not in one.what] == []
    assert not restore_files(root, progress=Progress()).done


def test_a_restored_catalog_without_its_files_loses_no_record(
    writer: Library, places: str, tmp_path: Path, embedder: Hashed
) -> None:
    root = tmp_path / "new disk"
    assert eventually(lambda: litestream.restore(places, root / "memecoins" / "catalog.sqlite3"))
    for _ in range(2):
        with open_library(root, embedder=embedder) as library:
            assert library.count(Filter()) == COINS
    assert len(restore_files(root, progress=Progress()).done) == COINS


def flip_a_reason(catalog: Path) -> None:
    """Change a letter of a decision as a corrupt restore would: the pages stay well-formed."""
    content = catalog.read_bytes()
    assert content.count(b"because of a typo") >= 1
    catalog.write_bytes(content.replace(b"because of a typo", b"because of a hypo"))


@pytest.mark.parametrize("places", ["folder"], indirect=True)
def test_a_corrupt_restore_is_refused_and_a_second_one_is_taken(
    writer: Library, places: str, tmp_path: Path, embedder: Hashed
) -> None:
    """The drill of docs/scaling.md: the disk is gone, and the first restore is not what was copied."""
    assert writer.reject([address(0)], actor="me", reason="because of a typo").done
    writer.close()
    root = tmp_path / "new disk"
    catalog = root / "memecoins" / "catalog.sqlite3"

    def restored() -> bool:
        catalog.unlink(missing_ok=True)
        return litestream.restore(places, catalog) and b"because of a typo" in catalog.read_bytes()

    assert eventually(restored)
    flip_a_reason(catalog)
    with pytest.raises(CatalogDamaged, match=r"row \d+ of \w+ is not what was written.*-timestamp"):
        restore_files(root, progress=Progress())
    assert not list(root.rglob("*.json"))

    content = bytearray(catalog.read_bytes())
    content[5 * 4096 : 6 * 4096] = bytes(4096)
    catalog.write_bytes(content)
    with pytest.raises(CatalogDamaged, match=r"was not restored whole .*no file was written"):
        restore_files(root, progress=Progress())

    assert restored()
    assert len(restore_files(root, progress=Progress()).done) == COINS
    with open_library(root, embedder=embedder) as library:
        assert library.history(address=address(0))[0].reason == "because of a typo"


@pytest.mark.parametrize("places", ["folder"], indirect=True)
def test_a_corrupt_replica_is_named(writer: Library, replica: Library) -> None:
    assert writer.reject([address(0)], actor="me", reason="because of a typo").done
    assert eventually(lambda: replica.history(limit=1)[0].reason == "because of a typo")
    check_replica(replica.catalog)
    flip_a_reason(replica.layout.catalog)
    with pytest.raises(
        CatalogDamaged, match=r"the replica .* is damaged \(row \d+ of .*litestream restore -f"
    ):
        check_replica(replica.catalog)


def test_files_are_not_restored_without_a_catalog_or_a_place(tmp_path: Path, library: Library) -> None:
    with pytest.raises(BadBackup, match="restore it first"):
        restore_files(tmp_path / "empty", progress=Progress())
    library.close()
    with pytest.raises(BadBackup, match="MEMEDEX_PICTURES"):
        restore_files(library.layout.root, progress=Progress())


@pytest.mark.parametrize("places", ["folder"], indirect=True)
def test_the_text_memory_is_followed_as_well(places: str, tmp_path: Path, embedder: Hashed) -> None:
    with Memory.open(tmp_path / "here", embedder=embedder) as memory:
        memory.memories.store_memory("frogs like rain")
        database = memory.memories.entries.database.path
        shutil.copytree(
            database.parent, tmp_path / "there" / "memory", ignore=shutil.ignore_patterns(f"{database.name}*")
        )
        with litestream.replicating(database, places):
            assert eventually(lambda: litestream.restore(places, tmp_path / "once.sqlite3"))
            with (
                litestream.following(places, tmp_path / "there" / "memory" / database.name),
                Memory.open(tmp_path / "there", embedder=embedder) as replica,
            ):
                assert not replica.can_write
                memory.memories.store_memory("cats do not")
                assert eventually(lambda: replica.memories.entries.count() == 2, within=WITHIN)
                with pytest.raises(ReadOnly):
                    replica.memories.store_memory("nothing")


def test_a_replica_whose_writing_was_cut_off_names_litestream(library: Library) -> None:
    catalog = library.layout.catalog
    library.close()
    catalog.with_name(f"{catalog.name}-txid").write_text("0000000000000001\n")
    with catalog.open("r+b") as file:
        file.seek(4096)
        file.write(bytes(60_000))
    with pytest.raises(CatalogDamaged, match="because Litestream was ended while it wrote"):
        open_reader(library.layout.root)
