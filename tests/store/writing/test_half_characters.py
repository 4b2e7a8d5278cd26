"""Half a character, as a browser can send it, in words of a decision: the library goes on."""

import sqlite3
from contextlib import closing

import pytest

from store.library import Library
from store.operations import CaptionSource, DecisionIntent, Operation
from store.runtime import open_library
from tests.store.conftest import address, coin
from tests.store.hashed import Hashed
from tests.store.world import abandon

pytestmark = pytest.mark.usefixtures("without_chroma")
HALF = "a\ud83d"


def test_a_reason_or_person_with_half_a_character_is_stored(library: Library) -> None:
    library.add(coin(number) for number in range(3))
    assert library.reject([address(0)], reason=HALF).done
    assert library.approve([address(1)], actor=HALF).done
    assert library.caption(
        address(1), caption={"entity": "a dog"}, sources={"entity": CaptionSource(HALF, HALF)}
    ).done
    assert library.history(address=address(0))[0].reason == "a?"
    assert library.undo().done
    assert library.approve([address(2)]).done


def test_a_journal_with_half_a_character_is_finished_on_opening(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.add([coin(0)])
    root, catalog = library.layout.root, library.layout.catalog
    for kind in (Operation, DecisionIntent):
        monkeypatch.setattr(kind, "__post_init__", lambda self: None)
    assert library.reject([address(0)], reason=HALF).refused
    monkeypatch.undo()
    abandon(library)
    with closing(sqlite3.connect(catalog)) as db:
        assert db.execute("SELECT count(*) FROM journal").fetchone() == (1,)

    with open_library(root, embedder=Hashed()) as again:
        assert again.get(address(0)).tier == "trash"
        assert again.history(address=address(0))[0].reason == "a?"
