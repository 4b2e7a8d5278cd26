"""Who may decide, and who may only look."""

from collections.abc import Iterator
from operator import attrgetter

import pytest

from store.desk import Desk
from store.errors import ReadOnly
from store.library import Library
from store.people import may_change
from store.settings import settings
from tests.store.conftest import address, coin

pytestmark = pytest.mark.usefixtures("without_chroma")

FIRST = address(0)


@pytest.fixture
def setting(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    settings.cache_clear()
    yield monkeypatch
    settings.cache_clear()


@pytest.mark.parametrize(
    ("viewers", "curators", "may"),
    [
        ("", "", True),
        ("eve@x.org", "", True),
        ("eve@x.org, Ann@x.org", "", False),
        ("", "bob@x.org", False),
        ("", "bob@x.org,ann@X.org", True),
        ("ann@x.org", "ann@x.org", False),
    ],
)
def test_lists_of_people_say_who_decides(
    setting: pytest.MonkeyPatch, viewers: str, curators: str, may: bool
) -> None:
    setting.setenv("MEMEDEX_VIEWERS", viewers)
    setting.setenv("MEMEDEX_CURATORS", curators)
    assert may_change("ann@x.org") is may


def test_every_verb_at_a_desk_says_whose_it_is(library: Library) -> None:
    ann, bob = Desk(library, who="ann"), Desk(library, who="bob")
    ann.add([coin(0)])
    bob.approve([FIRST])
    bob.edit_tags([FIRST], add=["moon"])
    assert [decision.who for decision in library.decisions()] == ["bob", "bob", "ann"]
    bob.undo()
    assert library.get(FIRST).tags == ["dog"]


@pytest.mark.parametrize(
    ("verb", "arguments"),
    [
        ("approve", ([FIRST],)),
        ("caption", (FIRST,)),
        ("drafts.save", (FIRST, {})),
        ("drafts.discard", (FIRST,)),
        ("undo", ()),
        ("rebuild_chroma", ()),
        ("embed_all", (None,)),
    ],
)
def test_a_viewer_is_refused_whatever_the_page_asks(
    library: Library, setting: pytest.MonkeyPatch, verb: str, arguments: tuple[object, ...]
) -> None:
    library.add([coin(0)])
    setting.setenv("MEMEDEX_VIEWERS", "eve")
    settings.cache_clear()
    eve = Desk(library, who="eve")
    generation = library.generation
    assert not eve.can_write
    with pytest.raises(ReadOnly, match="eve may look"):
        attrgetter(verb)(eve)(*arguments)
    with pytest.raises(ReadOnly), eve.catalog.writing():
        pass
    assert eve.get(FIRST).tier == "pending"
    assert library.generation == generation


def test_nobody_opens_a_read_only_library_for_writing(library: Library, setting: pytest.MonkeyPatch) -> None:
    library.add([coin(0)])
    setting.setenv("MEMEDEX_READ_ONLY", "1")
    settings.cache_clear()
    with pytest.raises(ReadOnly, match="MEMEDEX_READ_ONLY"):
        Library.open(library.layout.root)
    with Library.open_for_reading(library.layout.root) as reader:
        assert reader.get(FIRST).tier == "pending"
