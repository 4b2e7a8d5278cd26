"""The trash is emptied for good: by age, with the number of files and bytes that was agreed to."""

import pytest

from store.catalog.filters import Filter
from store.errors import InvalidRecord, NothingToUndo
from store.library import Library
from store.progress import Progress
from store.runtime import open_library
from store.writing import trash
from tests.store.conftest import address, coin
from tests.store.hashed import Hashed

pytestmark = pytest.mark.usefixtures("without_chroma")


@pytest.fixture
def rejected(tmp_path):
    library = open_library(tmp_path / "res", embedder=Hashed())
    library.add([coin(number) for number in range(3)])
    library.reject([address(0), address(1)])
    yield library
    library.close()


def test_the_number_of_files_and_bytes_is_named_before(rejected: Library) -> None:
    found = rejected.trash.contents()
    files = [path for path in (rejected.layout.memecoins / "trash").iterdir() if path.is_file()]
    assert (len(found.addresses), found.files) == (2, 4)
    assert found.size == sum(path.stat().st_size for path in files)
    assert rejected.trash.contents(days=1).addresses == ()


def test_only_what_was_rejected_long_enough_ago_goes(rejected: Library) -> None:
    with rejected.catalog.writing() as db:
        db.execute("UPDATE records SET moved_at = moved_at - 31 * 86400 WHERE address = ?", [address(1)])
    assert rejected.trash.contents(days=32).addresses == ()
    found = rejected.trash.contents(days=30)
    assert (found.addresses, found.files) == ((address(1),), 2)
    assert rejected.trash.empty(days=30, expected=1) == found
    assert (rejected.counts()["trash"], rejected.get(address(0)).tier) == (1, "trash")


def test_emptied_coins_are_gone_with_their_files_and_others_stay(rejected: Library) -> None:
    done = rejected.trash.empty(expected=2)
    assert sorted(done.addresses) == sorted([address(0), address(1)])
    assert list((rejected.layout.memecoins / "trash").iterdir()) == []
    assert [record.address for record in rejected.find(Filter())] == [address(2)]
    assert rejected.counts()["trash"] == 0
    assert rejected.decisions(limit=1)[0].verb == "empty trash"


def test_it_cannot_be_undone_and_what_came_before_still_can(rejected: Library) -> None:
    rejected.trash.empty(expected=2)
    outcome = rejected.undo()  # of the rejection, whose coins are gone
    assert {refusal.reason for refusal in outcome.refused} == {"no record has this address"}
    assert not {refusal.item for refusal in outcome.refused} & {address(0), address(1)}
    rejected.undo()  # of the import
    assert rejected.counts()["trash"] == 1
    with pytest.raises(NothingToUndo):
        rejected.undo()


def test_more_than_was_agreed_to_is_refused(rejected: Library) -> None:
    rejected.reject([address(2)])
    with pytest.raises(InvalidRecord, match="look again"):
        rejected.trash.empty(expected=2)
    assert rejected.counts()["trash"] == 3


def test_a_deleted_coin_can_be_imported_again(rejected: Library) -> None:
    rejected.trash.empty(expected=2)
    assert rejected.add([coin(0)]).done == [address(0)]


def test_a_file_that_was_changed_outside_is_not_deleted(rejected: Library) -> None:
    sidecar = rejected.layout.sidecar("trash", address(0))
    sidecar.write_text(sidecar.read_text().replace("Coin 0", "By Hand"))
    done = rejected.trash.empty(expected=2)
    assert done.addresses == (address(1),)
    assert "look at it again" in done.refused[0].reason
    assert "By Hand" in sidecar.read_text()
    assert rejected.get(address(0)).name == "By Hand"


def test_a_coin_whose_files_are_gone_is_deleted_all_the_same(rejected: Library) -> None:
    rejected.layout.image("trash", address(0)).unlink()
    done = rejected.trash.empty(expected=2)
    assert (len(done.addresses), done.files, done.refused) == (2, 3, ())
    assert list((rejected.layout.memecoins / "trash").iterdir()) == []


def test_an_emptying_that_is_stopped_names_only_what_it_deleted(
    rejected: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    rejected.reject([address(2)])
    monkeypatch.setattr(trash, "_BATCH", 1)
    progress = Progress()
    monkeypatch.setattr(rejected._disk, "_before", lambda name, _: progress.cancel())
    found = rejected.trash.contents()
    done = rejected.trash.empty(expected=3, progress=progress)
    assert done.addresses == found.addresses[:1]
    left = rejected.trash.contents()
    assert left.addresses == found.addresses[1:]
    assert (done.files, done.size) == (2, found.size - left.size)
