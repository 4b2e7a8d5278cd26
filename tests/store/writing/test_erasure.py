"""What was deleted for good is in no file below the root: catalog, copies, Chroma, thumbnails, the rest."""

import itertools
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from store.catalog import checksums, forgetting, snapshots
from store.catalog.filters import Filter
from store.catalog.forgetting import ERASING
from store.disk.files import Disk
from store.disk.thumbnails import thumbnail
from store.library import Library
from store.maintenance import doctor
from store.runtime import open_library
from tests.length import STRIDE
from tests.store.conftest import address, approved_with_caption, coin
from tests.store.hashed import Hashed
from tests.store.invariants import chroma_agrees_with_the_sidecars, holds
from tests.store.memory.traces import traces
from tests.store.world import FaultInjector, PowerCut, abandon

# In one process, Chroma would write its unused memory into its files, and the coin with it (`worker.py`).
pytestmark = pytest.mark.usefixtures("chroma_in_own_process")

GONE, OTHER = address(1), address(2)
WORDS = [GONE, "zanzibarium", "xylophonist", "frobnicator", "quuxdraft", "quuxtag", "quuxreason", "quuxread",
         "quuxsaid"]  # fmt: skip


@pytest.fixture
def stocked(root: Path) -> Path:
    """A closed library whose rejected coin has left words in every place there is."""
    with open_library(root, embedder=Hashed()) as library:
        library.promote(approved_with_caption(library, 1, 2))
        library.add([coin(3)])
        library.caption(GONE, caption={"entity": "a zanzibarium", "visual": "lights"})
        library.caption(GONE, caption={"entity": "a xylophonist"})
        library.edit_tags([GONE], add=["quuxtag"])
        library.comment([GONE], "a quuxsaid", actor="ann")
        library.drafts.save(GONE, {"entity": "a quuxdraft"})
        library.golden.save("sad frogs", [GONE, OTHER])
        library.golden.save("happy frogs", [GONE])
        library.golden.judge("sad frogs", GONE, True)
        library.filters.save("this one", {"words": GONE})
        picture = library.picture(GONE)
        thumbnail(library.layout, picture, library.get(GONE).image_hash, size=320)
        Disk().make_folder(library.layout.set_aside)
        (library.layout.set_aside / f"123-{GONE}.json").write_text("frobnicator")
        (library.layout.set_aside / f"123-{OTHER}.json").write_text("kept")
        library.catalog.keep_snapshot("daily")
        library.delete([GONE])
        library.reject([address(3)], reason=f"quuxreason: a copy of {GONE}")
        library.restore([address(3)])
        library.catalog.keep_snapshot("repair")
        assert library.wait_for_chroma(60)
    return root


def left_of_it(root: Path) -> dict[str, list[str]]:
    """The files that still say something of the coin."""
    words = [word for word in WORDS if word != "quuxreason"]  # the other coin's, which stays
    return traces(root, words, [])


# Tables that say nothing of one coin, and those whose rows go with the record, by its number.
OF_NO_COIN = {
    "decisions",
    "journal",
    "vectors",
    "prompts",
    "taxonomies",
    "calibrations",
    "inbox",
    "checksums",
    "copilots",
}
WITH_THE_RECORD = {"records", "labels", "embeddings", "unfit", "spellings", "suspicions", "unexamined"}


def test_every_table_of_the_catalog_is_thought_of(stocked: Path) -> None:
    with closing(sqlite3.connect(stocked / "memecoins" / "catalog.sqlite3")) as db:
        found = {row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    named = {"sidecars", "golden", *forgetting._KEYS, *forgetting._GONE}
    named |= {*forgetting._PICTURES, *forgetting._MENTIONS}
    of_words = {name for name in found if name.startswith(("words", "vocabulary", "sqlite_"))}
    assert found - of_words == named | OF_NO_COIN | WITH_THE_RECORD


def test_the_coin_was_everywhere(stocked: Path) -> None:
    names = left_of_it(stocked).keys()
    assert {"catalog.sqlite3", "chroma.sqlite3", "own.json", f"{GONE}.json"} <= names
    assert sum("daily" in name or "repair" in name for name in names) == 2


def test_nothing_of_it_is_left_and_all_else_is(stocked: Path) -> None:
    with open_library(stocked, embedder=Hashed()) as library:
        picture = (library.layout.image("trash", GONE)).read_bytes()
        done = library.trash.empty(expected=1)
        assert (done.addresses, done.left) == ((GONE,), "")
        assert left_of_it(stocked) == {}, "as soon as it is said"
        assert library.wait_for_chroma(60)
        assert library.check_chroma() == []
        assert doctor.check(library) == []
        holds_but_set_aside(library)
        assert [one.answers for one in library.golden.all()] == [(OTHER,)]
        assert (library.layout.set_aside / f"123-{OTHER}.json").read_text() == "kept"
    assert left_of_it(stocked) == {}, "and after closing"
    assert not [path for path in stocked.rglob("*") if path.is_file() and picture in path.read_bytes()]
    assert not list((stocked / "memecoins" / "thumbnails").rglob("*.webp"))
    chroma_agrees_with_the_sidecars(stocked, Hashed())


def holds_but_set_aside(library: Library) -> None:
    (kept,) = library.layout.set_aside.iterdir()
    content = kept.read_bytes()
    kept.unlink()
    library.layout.set_aside.rmdir()
    holds(library)
    library.layout.set_aside.mkdir()
    kept.write_bytes(content)


def test_the_history_keeps_who_did_what_when_under_another_word(stocked: Path) -> None:
    with open_library(stocked, embedder=Hashed()) as library:
        before = [(event.verb, event.actor, event.created_at) for event in library.history(address=GONE)]
        library.trash.empty(expected=1, actor="ann")
        word = library.history(limit=1)[0].address
        after = [(event.verb, event.actor, event.created_at) for event in library.history(address=word)]
        assert after[0][:2] == ("empty trash", "ann")
        assert after[1:] == before
        (about,) = [event.reason for event in library.history(address=address(3)) if event.verb == "reject"]
        assert about == f"quuxreason: a copy of {word}"


def test_copies_of_the_catalog_stay_sound(stocked: Path) -> None:
    with open_library(stocked, embedder=Hashed()) as library:
        library.trash.empty(expected=1)
        copies = snapshots.kept(library.catalog.path)
        assert len(copies) == 2
        for copy in copies:
            with snapshots.reading(copy) as db:
                checksums.install(db)
                assert checksums.wrong(db) == []
                kept = {row[0] for row in db.execute("SELECT address FROM records")}
                assert kept == {OTHER, address(3)}


def test_a_picture_that_another_coin_has_stays(root: Path) -> None:
    with open_library(root, embedder=Hashed()) as library:
        library.add([coin(1), replace(coin(2), picture=coin(1).picture)])
        path = thumbnail(library.layout, library.picture(GONE), library.get(OTHER).image_hash, size=320)
        library.reject([GONE])
        assert library.trash.empty(expected=1).addresses == (GONE,)
        assert path.exists()


def test_a_power_cut_while_traces_are_erased_delays_it_until_the_next_opening(
    stocked: Path, tmp_path: Path
) -> None:
    for step in itertools.count(1, STRIDE):
        root = shutil.copytree(stocked, tmp_path / str(step))
        injector = FaultInjector()
        library = open_library(root, embedder=Hashed(), disk=Disk(before=injector))
        injector.cut_power(step)
        try:
            library.trash.empty(expected=1)
        except PowerCut:
            abandon(library)
        else:
            injector.stop_failing()
            library.close()
            break
        with open_library(root, embedder=Hashed()) as library:
            is_gone = GONE not in library.addresses(Filter())
            assert not library.catalog.meta(ERASING)
        if is_gone:
            assert left_of_it(root) == {}, injector.steps[step - 1]
    assert step > 10
