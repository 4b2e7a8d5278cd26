"""Forked children and closed libraries neither hold nor release the lock."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from store.errors import LibraryInUse
from store.library import Library
from store.runtime import open_library
from tests.store.conftest import coin
from tests.store.hashed import Hashed
from tests.store.other_process import other_process, output_of

pytestmark = [pytest.mark.usefixtures("without_chroma"), pytest.mark.kills]


def test_a_library_opens_when_its_holder_file_cannot_be_written(root: Path) -> None:
    (root / "memecoins").mkdir()
    (root / "memecoins" / "writer.holder").mkdir()  # so that the file cannot be written
    with open_library(root, embedder=Hashed()) as library:
        assert library.add([coin(1)]).done


def test_the_same_folder_under_another_name_is_the_same_library(library: Library, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(library.layout.root)
    assert open_library(link) is library
    assert open_library(library.layout.root / ".." / "res") is library


def test_opening_twice_in_one_process_returns_the_same_library(library: Library) -> None:
    def ask(_: int) -> Library:
        return open_library(library.layout.root)

    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(ask, range(32))) == {library}


def test_a_process_never_locks_itself_out_while_opening_and_closing(root: Path) -> None:
    def use(number: int) -> int:
        library = open_library(root, embedder=Hashed())
        library.close()
        return number

    with ThreadPoolExecutor(4) as threads:
        assert len(list(threads.map(use, range(40)))) == 40


def test_closing_twice_does_not_affect_a_library_opened_meanwhile(root: Path) -> None:
    first = open_library(root, embedder=Hashed())
    first.close()
    with open_library(root, embedder=Hashed()) as second:
        first.close()
        assert open_library(root) is second
        assert output_of(root, "try: open_library(root)\nexcept LibraryInUse: print('in use')") == "in use"


FORK = """
library = open_library(root, embedder=Hashed())
library.add([coin(1)])
child = os.fork()
if not child:
    try:
        print("child may open:", open_library(root, embedder=Hashed()))
    except LibraryInUse as error:
        print("child:", "in use" in str(error))
    try:
        library.approve([address(1)])
    except ReadOnly as error:
        print("child:", error)
    library.close()
    sys.stdout.flush()
    os._exit(0)
os.waitpid(child, 0)
print("parent:", library.approve([address(1)]).done == [address(1)], flush=True)
sys.stdin.read()
"""


def test_a_forked_child_neither_holds_nor_releases_the_lock(root: Path) -> None:
    with other_process(root, FORK) as parent:
        assert parent.stdout
        assert parent.stdout.readline() == "child: True\n"
        assert "not open for writing here" in parent.stdout.readline()
        assert parent.stdout.readline() == "parent: True\n"
        assert not list((root / "memecoins" / "operations").iterdir())
        with pytest.raises(LibraryInUse):
            open_library(root, embedder=Hashed())
        parent.communicate()


ORPHAN = """
library = open_library(root, embedder=Hashed())
if not os.fork():
    print("child", flush=True)
    sys.stdin.read()
    os._exit(0)
os._exit(0)  # the parent dies without closing anything
"""


def test_an_orphaned_child_does_not_hold_the_lock(root: Path) -> None:
    with other_process(root, ORPHAN) as parent:
        assert parent.stdout
        assert parent.stdout.readline() == "child\n"
        parent.wait(timeout=60)
        with open_library(root, embedder=Hashed()) as library:
            assert library.add([coin(1)]).done
