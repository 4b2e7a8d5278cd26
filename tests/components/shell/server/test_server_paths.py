"""Paths on the server's disk: who may name which."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import streamlit as st

from components.overview import model_choice
from components.shell.server import server_paths
from components.shell.session import login
from store.errors import BadSource, NotPermitted
from store.settings import settings

NOBODYS = "~nobody-of-this-name/coins"
LOCAL = {"Host": "localhost:8501", "Origin": "http://localhost:8501"}


@pytest.fixture
def remote_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    """The browser runs on another machine."""
    monkeypatch.setattr(login, "is_local", lambda: False)


@pytest.fixture
def allowed_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that the settings allow."""
    folder = tmp_path / "drop off"
    folder.mkdir()
    monkeypatch.setattr(settings(), "import_folders", f"/nowhere, {folder}")
    return folder


def test_a_local_browser_may_name_any_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(login, "is_local", lambda: True)
    assert server_paths.can_be_named()
    assert server_paths.named(f" {tmp_path} ") == tmp_path


@pytest.mark.parametrize(
    "path", ["z" * 100_000, "a/" * 60_000, "no such file"], ids=["name", "path", "missing"]
)
def test_a_path_that_no_file_can_have_is_refused_in_a_short_message(
    monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr(login, "is_local", lambda: True)
    with pytest.raises(BadSource, match="nothing at this path") as refusal:
        server_paths.existing(server_paths.naming(), path)
    assert len(str(refusal.value)) < 300


def test_the_name_of_nobody_after_a_tilde_is_the_name_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(login, "is_local", lambda: True)
    with pytest.raises(BadSource, match="nothing at this path"):
        server_paths.existing(server_paths.naming(), NOBODYS)
    for family in ("openclip:ViT-L-14@", "sentence-transformers:"):
        assert NOBODYS in model_choice.missing(f"{family}{NOBODYS}")
    monkeypatch.setattr(settings(), "import_folders", NOBODYS)
    monkeypatch.setattr(login, "is_local", lambda: False)
    assert server_paths.named(f"{NOBODYS}/a.zip") == tmp_path / NOBODYS / "a.zip"
    with pytest.raises(NotPermitted):
        server_paths.named("~nobody-of-this-name")


@pytest.mark.usefixtures("remote_browser")
class TestFromAnotherMachine:
    @pytest.mark.parametrize("path", ["/etc/passwd", "/", "~", ".", "..", "res", "/no/such/thing", "", "\0"])
    def test_no_path_may_be_named_and_nothing_is_revealed(self, path: str) -> None:
        assert not server_paths.can_be_named()
        with pytest.raises(NotPermitted, match="MEMEDEX_IMPORT_FOLDERS") as refusal:
            server_paths.named(path)
        assert not path or len(path) < 2 or path not in str(refusal.value)

    def test_a_path_below_an_allowed_folder_may_be_named(self, allowed_folder: Path) -> None:
        (allowed_folder / "deep").mkdir()
        assert server_paths.named(f"{allowed_folder}/deep/coins.zip") == allowed_folder / "deep" / "coins.zip"
        assert server_paths.named(str(allowed_folder)) == allowed_folder

    @pytest.mark.parametrize(
        "escape", ["{}/../secret", "{}/link/secret", "{} too/secret", "{}/../drop off/.."]
    )
    def test_a_path_cannot_escape_an_allowed_folder(self, allowed_folder: Path, escape: str) -> None:
        (allowed_folder / "link").symlink_to(allowed_folder.parent)
        (allowed_folder.parent / "secret").write_text("")
        with pytest.raises(NotPermitted):
            server_paths.named(escape.format(allowed_folder))

    @pytest.mark.parametrize(
        "model",
        [
            "openclip:ViT-L-14/openai@{}",
            "openclip:ViT-L-14@{}",
            "sentence-transformers:{}",
            "sentence-transformers:../{}",
        ],
    )
    def test_model_files_follow_the_same_rule(self, tmp_path: Path, model: str) -> None:
        for file in (tmp_path / "there.pt", tmp_path / "not there.pt"):
            assert "MEMEDEX_IMPORT_FOLDERS" in model_choice.missing(model.format(file))
        assert model_choice.missing("offline") == ""
        mine = model.format(tmp_path)
        assert "IMPORT_FOLDERS" not in model_choice.missing(mine, offered=[mine]), "the settings allow it"

    def test_only_the_last_part_of_a_path_is_shown(self, tmp_path: Path) -> None:
        assert server_paths.shown(tmp_path / "exports") == "exports"


@pytest.mark.parametrize(
    ("address", "headers", "local"),
    [
        (None, LOCAL, True),
        (None, {"Host": "127.0.0.1:8501"}, True),
        (None, {"Host": "[::1]:8501", "Origin": "http://[::1]:8501"}, True),
        ("127.0.0.7", LOCAL, True),
        ("192.168.1.7", LOCAL, False),
        ("2001:db8::1", LOCAL, False),
        (None, {**LOCAL, "Host": "memedex.example"}, False),
        (None, {**LOCAL, "Host": "localhost.evil.example"}, False),
        (None, {**LOCAL, "Host": "localhost@evil.example"}, False),
        (None, {**LOCAL, "Host": "127.0.0.1.evil.example"}, False),
        (None, {**LOCAL, "Origin": "https://memedex.example"}, False),
        (None, {**LOCAL, "Origin": "null"}, False),
        (None, {**LOCAL, "X-Forwarded-For": "127.0.0.1"}, False),
        (None, {**LOCAL, "Forwarded": "for=127.0.0.1"}, False),
    ],
)
def test_a_local_browser_is_recognised_by_address_and_headers(
    monkeypatch: pytest.MonkeyPatch, address: str | None, headers: dict[str, str], local: bool
) -> None:
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(st, "context", SimpleNamespace(ip_address=address, headers=headers))
    assert login.is_local() is local


def test_a_remote_session_stays_remote(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(st, "context", SimpleNamespace(ip_address="192.168.1.7", headers=LOCAL))
    assert not login.is_local()
    monkeypatch.setattr(st, "context", SimpleNamespace(ip_address=None, headers={}))  # the tab is gone by now
    assert not login.is_local()


def test_a_shared_server_treats_unknown_browsers_as_remote(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(st, "context", SimpleNamespace(ip_address=None, headers={}))
    monkeypatch.setattr(login, "listens_farther", lambda: True)
    assert not login.is_local()
