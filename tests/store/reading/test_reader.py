"""A reader, and the views of it that people have."""

import pytest

from store.library import Library
from store.permissions import Actor
from store.runtime import open_reader

pytestmark = pytest.mark.usefixtures("without_chroma")


def test_closing_a_view_leaves_the_search_of_others_open(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[str] = []
    with open_reader(library.layout.root) as reader:
        monkeypatch.setattr(reader._searches, "close", lambda: closed.append("search"))
        reader.for_actor(Actor("Ann")).close()
        assert not closed
        assert reader.counts()
    assert closed == ["search"]
