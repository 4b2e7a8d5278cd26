"""The watched folder: what is put there arrives by itself, and nothing of it is touched."""

import json
from pathlib import Path

import pytest

from store import inbox as inboxes
from store.filter import Filter
from store.inbox import LOG, Inbox
from store.library import Library
from tests.store.conftest import address, coin, picture

pytestmark = pytest.mark.usefixtures("without_chroma")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "inbox"
    folder.mkdir()
    return folder


@pytest.fixture
def inbox(library: Library, folder: Path) -> Inbox:
    return Inbox(library, folder)


def arrive(inbox: Inbox) -> list[str]:
    """Two looks: the first sees what is there, the second that it has come to rest."""
    inbox.look()
    return inbox.look().done


def put_pair(folder: Path, number: int) -> None:
    (folder / f"coin{number}.json").write_text(json.dumps(coin(number).sidecar))
    (folder / f"coin{number}.png").write_bytes(picture(number))


def put_list(folder: Path, *numbers: int) -> None:
    folder.mkdir(exist_ok=True)
    tokens = [
        {"chainId": 1, "address": address(n), "symbol": f"C{n}", "name": f"Coin {n}", "logoURI": f"{n}.png"}
        for n in numbers
    ]
    (folder / "tokenlist.json").write_text(json.dumps({"name": "A list", "tokens": tokens}))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name != LOG}


def test_what_is_put_there_arrives_and_stays_where_it_is(
    inbox: Inbox, library: Library, folder: Path
) -> None:
    put_pair(folder, 1)
    (folder / "doge.png").write_bytes(picture(2))
    before = contents(folder)
    assert len(arrive(inbox)) == 2
    assert library.get(address(1)).name == "Coin 1"
    assert {library.get(one).name for one in library.addresses(Filter(tier="pending"))} == {"Coin 1", "doge"}
    assert contents(folder) == before
    assert {decision.who for decision in library.decisions()} == {"inbox"}


def test_a_file_that_grows_is_waited_for(inbox: Inbox, folder: Path) -> None:
    path = folder / "doge.png"
    whole = picture(1)
    path.write_bytes(whole[:10])
    inbox.look()
    path.write_bytes(whole[:-20])
    assert not inbox.look().refused
    path.write_bytes(whole)
    assert inbox.look().done == []
    assert len(inbox.look().done) == 1


def test_files_of_an_unfinished_download_are_left_alone(inbox: Inbox, folder: Path) -> None:
    for name in ("doge.png.part", "doge.crdownload", ".hidden.png"):
        (folder / name).write_bytes(picture(1))
    assert arrive(inbox) == []
    assert inbox.look().refused == []


def test_what_was_taken_is_not_taken_again_not_even_when_its_coin_was_rejected(
    inbox: Inbox, library: Library, folder: Path, root: Path
) -> None:
    put_pair(folder, 1)
    arrive(inbox)
    library.reject([address(1)])
    decisions = len(library.decisions())
    assert arrive(Inbox(library, folder)) == []  # also after a restart of the program
    put_pair(folder, 2)
    assert arrive(inbox) == [address(2)]
    assert library.get(address(1)).tier == "trash"
    assert len(library.decisions()) == decisions + 1


def test_what_was_refused_is_said_with_the_reason_once(inbox: Inbox, library: Library, folder: Path) -> None:
    (folder / "notes.docx").write_bytes(b"words")
    (folder / "broken.png").write_bytes(b"no picture")
    arrive(inbox)
    arrive(inbox)
    reasons = {one.path: one.reason for one in inboxes.refused(library)}
    assert reasons.keys() == {"notes.docx", "broken.png"}
    assert "neither a picture" in reasons["notes.docx"]
    lines = (folder / LOG).read_text().splitlines()
    assert len(lines) == 2
    assert any("broken.png: " in line for line in lines)


def test_a_sidecar_that_came_before_its_picture_is_taken_with_it(
    inbox: Inbox, library: Library, folder: Path
) -> None:
    (folder / "coin1.json").write_text(json.dumps(coin(1).sidecar))
    arrive(inbox)
    assert "no picture" in inboxes.refused(library)[0].reason
    (folder / "coin1.png").write_bytes(picture(1))
    assert arrive(inbox) == [address(1)]
    assert inboxes.refused(library) == []
    assert library.counts()["pending"] == 1


@pytest.mark.parametrize("where", ["", "list of today"])
def test_a_token_list_and_its_pictures_may_come_in_any_order(
    inbox: Inbox, library: Library, folder: Path, where: str
) -> None:
    put_list(folder / where, 1, 2)
    (folder / where / "1.png").write_bytes(picture(1))
    assert arrive(inbox) == [address(1)]
    assert "2.png is not in the import" in inboxes.refused(library)[0].reason
    (folder / where / "2.png").write_bytes(picture(2))
    assert arrive(inbox) == [address(2)]
    assert inboxes.refused(library) == []
    assert library.counts()["pending"] == 2, "no picture arrived a second time as a coin of its own"


def test_a_folder_is_taken_once_all_of_it_has_come_to_rest(inbox: Inbox, folder: Path) -> None:
    put_list(folder / "list", 1, 2)
    (folder / "list" / "1.png").write_bytes(picture(1))
    inbox.look()
    (folder / "list" / "2.png").write_bytes(picture(2))
    assert inbox.look().done == []
    assert sorted(inbox.look().done) == sorted([address(1), address(2)])


def test_a_link_out_of_the_folder_is_not_followed(inbox: Inbox, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(picture(1))
    (folder / "a.png").symlink_to(tmp_path / "secret.png")
    assert arrive(inbox) == []


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inboxes, "EVERY", 0.02)


@pytest.mark.usefixtures("impatient")
def test_a_library_that_watches_takes_in_by_itself_until_it_is_closed(library: Library, folder: Path) -> None:
    library.watch_inbox(folder)
    put_pair(folder, 1)
    watcher = library._inbox
    assert watcher is not None
    while not library.counts()["pending"]:
        assert watcher._thread.is_alive()
    library.close()
    assert not watcher._thread.is_alive()
