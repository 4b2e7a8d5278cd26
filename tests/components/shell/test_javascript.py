"""Modules are served under a hash of their content, and no other file of the program is served."""

import re

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from components.grid import assets
from components.shell import javascript


@pytest.fixture
def client() -> TestClient:
    return TestClient(Starlette(routes=list(javascript.routes())))


def address_of(script: str) -> str:
    found = re.search(r'load\("([^"]+)"', script)
    assert found
    return found[1]


def test_a_component_loads_its_module_and_the_browser_caches_it(client: TestClient) -> None:
    answer = client.get(address_of(assets.script()))
    assert answer.status_code == 200
    assert "export default function" in answer.text
    assert answer.headers["content-type"].startswith("text/javascript")
    assert "immutable" in answer.headers["cache-control"]


def test_imported_modules_are_served_below_the_same_address(client: TestClient) -> None:
    here = address_of(assets.script())
    assert client.get(here.replace("grid/js/main.js", "shell/back_button.js")).status_code == 200


def test_a_failed_module_is_retried_under_another_address(client: TestClient) -> None:
    first, again = re.findall(r'load\("([^"]+)"', assets.script())
    assert first != again
    assert client.get(again).content == client.get(first).content


@pytest.mark.parametrize(
    "path", ["grid/grid.py", "grid/js/../../shell/login.py", "grid/js", "nothing.js", ""]
)
def test_nothing_but_modules_is_served(client: TestClient, path: str) -> None:
    answer = client.get(address_of(assets.script()).replace("grid/js/main.js", path))
    assert answer.status_code == 404
    assert answer.headers["cache-control"] == "no-store"


def test_changed_modules_get_a_new_address(monkeypatch: pytest.MonkeyPatch, client: TestClient) -> None:
    before = address_of(assets.script())
    changed = {**javascript.modules(), "grid/js/rank.js": b"export const rank = 1;"}
    monkeypatch.setattr(javascript, "modules", lambda: changed)
    javascript._version.cache_clear()
    try:
        assert address_of(assets.script()) != before
    finally:
        javascript._version.cache_clear()


def test_an_app_below_a_base_path_serves_modules_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(javascript, "base_path", lambda: "/memes")
    assert address_of(assets.script()).startswith("/memes/javascript/")
    assert [route.path.split("/")[1] for route in javascript.routes()] == ["memes"]
