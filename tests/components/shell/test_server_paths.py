"""Paths on the server's disk: who may name which."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import streamlit as st

from components.overview import model_choice
from components.shell import login, server_paths
from store.errors import NotPermitted
from store.settings import settings

LOCAL = {"Host": "localhost:8501", "Origin": "http://localhost:8501"}


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks sits at another machine."""
    monkeypatch.setattr(login, "is_local", lambda: False)


@pytest.fixture
def allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that the settings allow."""
    folder = tmp_path / "drop off"
    folder.mkdir()
    monkeypatch.setattr(settings(), "import_folders", f"/nowhere, {folder}")
    return folder


def test_at_this_machine_any_path_can_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(login, "is_local", lambda: True)
    assert server_paths.can_be_named()
    assert server_paths.named(f" {tmp_path} ") == tmp_path


@pytest.mark.usefixtures("elsewhere")
class TestFromAnotherMachine:
    @pytest.mark.parametrize("path", ["/etc/passwd", "/", "~", ".", "..", "res", "/no/such/thing", "", "\0"])
    def test_no_path_can_be_named_nor_is_it_told_what_is_there(self, path: str) -> None:
        assert not server_paths.can_be_named()
        with pytest.raises(NotPermitted, match="MEMEDEX_IMPORT_FOLDERS") as refusal:
            server_paths.named(path)
        assert not path or len(path) < 2 or path not in str(refusal.value)

    def test_below_an_allowed_folder_it_can(self, allowed: Path) -> None:
        (allowed / "deep").mkdir()
        assert server_paths.named(f"{allowed}/deep/coins.zip") == allowed / "deep" / "coins.zip"
        assert server_paths.named(str(allowed)) == allowed

    @pytest.mark.parametrize(
        "way_out", ["{}/../secret", "{}/link/secret", "{} too/secret", "{}/../drop off/.."]
    )
    def test_no_way_leads_out_of_an_allowed_folder(self, allowed: Path, way_out: str) -> None:
        (allowed / "link").symlink_to(allowed.parent)
        (allowed.parent / "secret").write_text("")
        with pytest.raises(NotPermitted):
            server_paths.named(way_out.format(allowed))

    @pytest.mark.parametrize(
        "model",
        [
            "openclip:ViT-L-14/openai@{}", "openclip:ViT-L-14@{}", "sentence-transformers:{}",
            "sentence-transformers:../{}",
        ],
    )  # fmt: skip
    def test_a_models_file_is_a_path_too(self, tmp_path: Path, model: str) -> None:
        for file in (tmp_path / "there.pt", tmp_path / "not there.pt"):
            assert "MEMEDEX_IMPORT_FOLDERS" in model_choice.missing(model.format(file))
        assert model_choice.missing("offline") == ""
        mine = model.format(tmp_path)
        assert "IMPORT_FOLDERS" not in model_choice.missing(mine, offered=[mine]), "the settings named it"

    def test_where_things_lie_is_told_by_their_last_part(self, tmp_path: Path) -> None:
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
def test_who_sits_at_this_machine(
    monkeypatch: pytest.MonkeyPatch, address: str | None, headers: dict[str, str], local: bool
) -> None:
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(st, "context", SimpleNamespace(ip_address=address, headers=headers))
    assert login.is_local() is local


def test_who_came_from_elsewhere_once_stays_a_stranger(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(st, "context", SimpleNamespace(ip_address="192.168.1.7", headers=LOCAL))
    assert not login.is_local()
    monkeypatch.setattr(st, "context", SimpleNamespace(ip_address=None, headers={}))  # the tab is gone by now
    assert not login.is_local()


def test_without_a_browser_to_ask_a_shared_server_takes_nobody_for_local(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(st, "context", SimpleNamespace(ip_address=None, headers={}))
    monkeypatch.setattr(login, "listens_farther", lambda: True)
    assert not login.is_local()
