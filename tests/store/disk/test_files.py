"""Files named by a user are read only if they are regular files, and only up to a limit."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from store.backup.create import read_manifest
from store.cli.search import _content
from store.disk.files import NotAFile, absolute, file_hash, read_regular
from store.disk.layout import Layout
from store.disk.sidecars import read
from store.errors import BadBackup, BadPicture, BadSource, InvalidRecord
from store.memory.documents import parser as document_files
from store.memory.story.lore import read_worlds
from store.memory.transcripts import files
from store.tags.taxonomy import Taxonomy
from tests.store.conftest import address


def make_endless_device(path: Path) -> None:
    """Create a device that never ends at this path."""
    path.symlink_to("/dev/zero")


def make_silent_pipe(path: Path) -> None:
    """Create a pipe that no process writes to."""
    os.mkfifo(path)


@pytest.mark.parametrize("make", [make_endless_device, make_silent_pipe])
def test_devices_and_pipes_are_never_read(make: Callable[[Path], None], tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    for name in ("picture.png", "manifest.json", "paper.pdf", "world.yaml", "taxonomy.json", "session.json",
                 "lines.jsonl", "export.zip", "logs.db"):  # fmt: skip
        make(tmp_path / name)
    layout.sidecar_folder("pending").mkdir(parents=True)
    make(layout.sidecar("pending", address(0)))

    with pytest.raises(NotAFile, match="device or a pipe"):
        read_regular(tmp_path / "picture.png", limit=10)
    assert file_hash(tmp_path / "picture.png") is None
    with pytest.raises(BadPicture, match="device or a pipe"):
        _content(tmp_path / "picture.png")
    with pytest.raises(BadBackup, match="device or a pipe"):
        read_manifest(tmp_path)
    with pytest.raises(BadSource, match="device or a pipe"):
        document_files.read(tmp_path / "paper.pdf")
    with pytest.raises(BadSource, match="device or a pipe"):
        Taxonomy.load(tmp_path / "taxonomy.json")
    with pytest.raises(InvalidRecord, match="device or a pipe"):
        read(layout, "pending", address(0))
    assert list(read_worlds(tmp_path, known={})) == [], "what is no file is no world"
    for name in ("session.json", "lines.jsonl", "export.zip"):
        (refused,) = files.read_sessions(tmp_path / name)
        assert "device or a pipe" in refused.reason
    (refused,) = files.read_sessions(tmp_path / "logs.db")
    assert "tables are those of no known program" in refused.reason


def test_a_file_larger_than_the_limit_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"12345")
    assert read_regular(tmp_path / "file", limit=5) == b"12345"
    with pytest.raises(OSError, match="larger than 4 bytes"):
        read_regular(tmp_path / "file", limit=4)
    with pytest.raises(NotAFile, match="directory"):
        read_regular(tmp_path, limit=4)


def test_a_tilde_is_the_home_folder_unless_nobody_has_that_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert absolute("~/coins") == tmp_path / "coins"
    assert absolute("coins/../tokens") == tmp_path / "tokens"
    assert absolute("~nobody-of-this-name/coins") == tmp_path / "~nobody-of-this-name" / "coins"


def test_links_that_lead_in_a_circle_have_an_absolute_path(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert absolute(tmp_path / "a" / "coins").parent.parent == tmp_path
