"""What changed outside while the library is open is noticed when a change is prepared."""

import os
from collections.abc import Callable

import pytest

from store.library import Library
from store.writing.reconcile import OUTSIDE
from tests.store.conftest import address, coin, normal_picture
from tests.store.writing.conftest import edit

FIRST, SECOND, THIRD = address(0), address(1), address(2)


pytestmark = pytest.mark.usefixtures("without_chroma", "close_library_at_end")


def test_a_picture_lost_while_open_blocks_only_its_own_record(library: Library) -> None:
    library.add([coin(0), coin(1)])
    library.layout.image("pending", FIRST).unlink()
    outcome = library.approve([FIRST, SECOND])
    assert outcome.done == [SECOND]
    assert "changed outside" in outcome.refused[0].reason
    assert library.delete([SECOND]).done == [SECOND]


def test_a_sidecar_edited_while_the_library_is_open_is_not_overwritten(
    library: Library, reopen: Callable[[], Library]
) -> None:
    library.add([coin(0)])
    edit(library.layout.sidecar("pending", FIRST), description="by hand")
    assert not library.edit_tags([FIRST], add=["moon"]).done
    assert reopen().get(FIRST).description == "by hand"


def test_edits_made_while_open_are_applied_at_the_next_decision(library: Library) -> None:
    library.add([coin(0), coin(1), coin(2)])
    edit(library.layout.sidecar("pending", FIRST), description="by hand")
    os.utime(library.layout.sidecar("pending", SECOND), (1, 1))  # the same content
    library.layout.sidecar("pending", THIRD).unlink()
    outcome = library.approve([FIRST, SECOND, THIRD])
    reasons = {refusal.item: refusal.reason for refusal in outcome.refused}
    assert "they count now, look at it again" in reasons[FIRST]
    assert "they count now" in reasons[SECOND]
    assert "cannot be imported: its sidecar is missing" in reasons[THIRD]
    assert library.get(FIRST).description == "by hand"
    assert library.history(address=FIRST)[0].actor == OUTSIDE
    assert sorted(library.approve([FIRST, SECOND]).done) == sorted([FIRST, SECOND])


def test_a_foreign_file_in_the_way_is_set_aside(library: Library) -> None:
    library.add([coin(0)])
    stranger = library.layout.image("approved", FIRST)
    stranger.parent.mkdir()
    stranger.write_text("something else")
    assert library.approve([FIRST]).done == [FIRST]
    assert [path.read_text() for path in library.layout.set_aside.iterdir()] == ["something else"]
    assert library.layout.image("approved", FIRST).read_bytes() == normal_picture(0)
