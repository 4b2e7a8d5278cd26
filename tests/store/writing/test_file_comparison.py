"""A large library opens at once; what was changed outside is found while people work in it."""

import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from store.catalog.filters import Filter
from store.library import Library
from store.runtime import LibraryRuntime, open_library
from store.writing import differences, file_comparison, reconcile
from tests.store.conftest import address, approved_with_caption, coin, normal_picture, written
from tests.store.hashed import Hashed
from tests.store.invariants import holds
from tests.store.writing.conftest import edit
from tests.waiting import eventually

FIRST, SECOND, THIRD = address(0), address(1), address(2)

pytestmark = pytest.mark.usefixtures("without_chroma", "close_library_at_end")


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Every library is a large one, and its files are compared once this is set."""
    is_open = threading.Event()

    def after_the_gate(*given: object, **named: object) -> object:
        is_open.wait()
        return reconcile.reconcile(*given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(differences, "LARGE", 0)
    monkeypatch.setattr(file_comparison, "reconcile", after_the_gate)
    yield is_open
    is_open.set()


@pytest.fixture
def opened(library: Library, root: Path, embedder: Hashed) -> Callable[[], Library]:
    """A function that opens the library as a dashboard does."""
    return partial(open_library, root, embedder=embedder, files_later=True)


def compared(library: Library) -> Library:
    assert eventually(lambda: library.status().comparing is None)
    return library


def test_it_is_open_before_its_files_are_compared_and_says_so(
    library: Library, opened: Callable[[], Library], gate: threading.Event
) -> None:
    library.add([coin(0), coin(1), coin(2)])
    library.close()
    layout = library.layout
    edit(layout.sidecar("pending", FIRST), token_name="By Hand")
    layout.sidecar("pending", SECOND).unlink()
    layout.image("pending", SECOND).unlink()
    layout.sidecar("pending", THIRD).write_text("[]")

    library = opened()
    assert library.status().comparing is not None
    assert library.get(FIRST).name == "Coin 0"
    gate.set()

    assert compared(library).get(FIRST).name == "By Hand"
    assert sorted(library.addresses(Filter())) == [FIRST, THIRD]
    assert {event.address: event.verb for event in library.history(limit=2)} == {
        FIRST: "change",
        SECOND: "remove",
    }
    assert "not a JSON object" in library.status().faults[0]


def test_nothing_is_decided_about_a_coin_whose_changes_were_not_found_yet(
    library: Library, opened: Callable[[], Library], gate: threading.Event
) -> None:
    library.add([coin(0), coin(1)])
    library.close()
    sidecar = library.layout.sidecar("pending", FIRST)
    edit(sidecar, token_name="By Hand")
    written_by_hand = sidecar.read_text()

    library = opened()
    outcome = library.approve([FIRST, SECOND])
    assert outcome.done == [SECOND]
    assert "changed outside" in outcome.refused[0].reason
    assert sidecar.read_text() == written_by_hand
    assert (library.get(FIRST).name, library.get(FIRST).tier) == ("By Hand", "pending"), "found at once"
    assert library.approve([FIRST]).done == [FIRST]
    gate.set()
    holds(compared(library))


def test_an_edited_caption_of_the_library_is_embedded_once_it_is_found(
    library: Library, opened: Callable[[], Library], gate: threading.Event
) -> None:
    library.promote(approved_with_caption(library, 0, 1))
    library.close()
    edit(library.layout.sidecar("library", FIRST), caption=written("by hand"))
    gate.set()
    library = compared(opened())
    assert library.get(FIRST).caption["entity"] == "by hand entity"
    assert eventually(lambda: "entity" in library.embedded_facets(FIRST))


def test_a_picture_replaced_outside_is_not_embedded_under_the_old_ones_name(
    library: Library, opened: Callable[[], Library], gate: threading.Event, embedder: Hashed
) -> None:
    approved_with_caption(library, 0, 1)
    library.close()
    library.layout.image("approved", FIRST).write_bytes(normal_picture(7))
    library = opened()
    requests = embedder.requests
    assert library.promote([FIRST]).refused
    assert embedder.requests == requests, "nothing of it was computed"
    assert library.promote([SECOND]).done == [SECOND]


def test_closed_in_the_middle_it_is_compared_by_the_next_opening(
    library: Library, opened: Callable[[], Library], gate: threading.Event
) -> None:
    library.add([coin(0)])
    library.close()
    edit(library.layout.sidecar("pending", FIRST), token_name="By Hand")
    library = opened()
    assert isinstance(library, LibraryRuntime)
    assert library._comparison
    library._comparison.worker._progress.cancel()
    gate.set()
    library.close()
    assert compared(opened()).get(FIRST).name == "By Hand"


def test_a_small_library_is_compared_while_it_opens(library: Library, opened: Callable[[], Library]) -> None:
    library.add([coin(0)])
    library.close()
    edit(library.layout.sidecar("pending", FIRST), token_name="By Hand")
    library = opened()
    assert library.status().comparing is None
    assert library.get(FIRST).name == "By Hand"


def test_a_decision_looks_at_the_files_of_its_own_coins_alone(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.add([coin(0), coin(1)])
    for one in (FIRST, SECOND):
        edit(library.layout.sidecar("pending", one), token_name="By Hand")

    def all_of_them(*_: object, **__: object) -> object:
        raise AssertionError("compared all files")

    monkeypatch.setattr(reconcile, "find_suspects", all_of_them)
    assert library.approve([FIRST]).refused
    assert [library.get(one).name for one in (FIRST, SECOND)] == ["By Hand", "Coin 1"]
