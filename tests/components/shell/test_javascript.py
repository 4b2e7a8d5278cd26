"""The modules are served as one under a hash of their content, and no other file of the program is served."""

import re

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from components.grid import grid
from components.shell import javascript


@pytest.fixture
def client() -> TestClient:
    return TestClient(Starlette(routes=list(javascript.routes())))


def address_of(script: str) -> str:
    found = re.search(r'load\("([^"]+)"', script)
    assert found
    return found[1]


def test_a_component_loads_its_module_and_the_browser_caches_it(client: TestClient) -> None:
    assert 'moduleAt("grid/js/main.js").default' in grid.script()
    answer = client.get(address_of(grid.script()))
    assert answer.status_code == 200
    assert '"grid/js/main.js"() {' in answer.text
    assert answer.headers["content-type"].startswith("text/javascript")
    assert "immutable" in answer.headers["cache-control"]


def test_all_components_load_the_same_file_so_that_what_they_share_exists_once() -> None:
    assert address_of(javascript.component("editor/js/main.js")) == address_of(grid.script())


def test_modules_that_failed_to_load_are_requested_under_another_address(client: TestClient) -> None:
    first, again = re.findall(r'load\("([^"]+)"', grid.script())
    assert first != again
    assert client.get(again).content == client.get(first).content


@pytest.mark.parametrize("path", ["grid/grid.py", "grid/js/main.js", "nothing.js", ""])
def test_nothing_but_the_modules_is_served(client: TestClient, path: str) -> None:
    answer = client.get(address_of(grid.script()).replace("modules.js", path))
    assert answer.status_code == 404
    assert answer.headers["cache-control"] == "no-store"


def test_changed_modules_get_a_new_address(monkeypatch: pytest.MonkeyPatch, client: TestClient) -> None:
    before = address_of(grid.script())
    monkeypatch.setattr(javascript, "bundle", lambda: b"export const moduleAt = null;")
    assert address_of(grid.script()) != before


def test_an_app_below_a_base_path_serves_modules_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(javascript, "base_path", lambda: "/memes")
    assert address_of(grid.script()).startswith("/memes/javascript/")
    assert [route.path.split("/")[1] for route in javascript.routes()] == ["memes"]
