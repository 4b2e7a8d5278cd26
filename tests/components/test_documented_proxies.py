"""Proxies as docs/sharing.md sets them up, in front of a dashboard below a path; where they are installed."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from store.sessions import LoginSessions
from tests.browser.conftest import dashboard
from tests.browser.dashboard import Server
from tests.components.test_strangers import ask
from tests.ports import free_port
from tests.waiting import eventually

_DOCS = Path(__file__).parents[2] / "docs" / "sharing.md"
_NAME, _PASSWORD = "coins.example.org", "correct horse"
_UPGRADE = {
    "Connection": "Upgrade", "Upgrade": "websocket", "Sec_WebSocket_Version": "13",
    "Sec_WebSocket_Key": "dGhlIHNhbXBsZSBub25jZQ==",
}  # fmt: skip
_LARGE = b"x" * 1_500_000  # more than nginx takes unless it is told, and less than the dashboard does

CADDY = ["caddy", "run", "--adapter", "caddyfile", "--config"]
NGINX = ["nginx", "-p", ".", "-c"]


def _snippet(first_line: str, app: Server) -> str:
    found = re.search(rf"```\n({re.escape(first_line)}.*?)```", _DOCS.read_text("utf-8"), re.DOTALL)
    assert found, first_line
    return found[1].replace("127.0.0.1:8501", app.url.removeprefix("http://").removesuffix("/coins"))


def _caddyfile(app: Server, port: int) -> str:
    """As documented, without certificates."""
    snippet = _snippet(f"{_NAME} {{", app)
    return "{\n admin off\n auto_https off\n}\n" + snippet.replace(_NAME, f"http://{_NAME}:{port}", 1)


def _nginx_conf(app: Server, port: int) -> str:
    folders = "".join(f"{kind}_temp_path .;" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    return (
        f"daemon off; pid nginx.pid; error_log stderr; events {{}} http {{ access_log off; {folders}\n"
        f"server {{ listen 127.0.0.1:{port}; server_name {_NAME};\n{_snippet('location /coins {', app)}}} }}"
    )


@contextmanager
def _proxy(command: list[str], config: str, folder: Path, port: int) -> Iterator[Server]:
    (folder / "config").write_text(config)
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen([*command, str(folder / "config")], cwd=folder, stdout=log, stderr=log) as process,
    ):
        try:
            proxy = Server(f"http://127.0.0.1:{port}/coins", folder)
            assert eventually(lambda: _answers(proxy)), (folder / "log").read_text()
            yield proxy
        finally:
            process.terminate()


def _answers(proxy: Server) -> bool:
    try:
        return ask(proxy, "/coins/_stcore/health", Host=_NAME).body == b"ok"
    except OSError:
        return False


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    root = tmp_path_factory.mktemp("proxied") / "res"
    LoginSessions(root).set_password(_PASSWORD)
    with dashboard(
        root, STREAMLIT_SERVER_BASE_URL_PATH="coins", STREAMLIT_SERVER_ALLOWED_HOSTS=f"{_NAME} 127.0.0.1"
    ) as app:
        yield app


def _installed(command: list[str], config: Callable[[Server, int], str]) -> ParameterSet:
    is_missing = not shutil.which(command[0])
    mark = pytest.mark.skipif(is_missing, reason=f"{command[0]} is not installed")
    return pytest.param(command, config, id=command[0], marks=mark)


@pytest.mark.parametrize(
    ("command", "config"), [_installed(CADDY, _caddyfile), _installed(NGINX, _nginx_conf)]
)
def test_a_documented_proxy_hands_on_logins_websockets_streams_and_posts(
    app: Server, command: list[str], config: Callable[[Server, int], str], tmp_path: Path
) -> None:
    port = free_port()
    with _proxy(command, config(app, port), tmp_path, port) as proxy:
        own = {"Host": _NAME, "Origin": f"http://{_NAME}"}
        assert b"<title>" in ask(proxy, "/coins/pending", Host=_NAME).body
        sent = json.dumps({"name": "Ann", "password": _PASSWORD}).encode()
        assert ask(proxy, "/coins/login", method="POST", body=sent, **own).status == 204
        assert ask(proxy, "/coins/_stcore/stream", **_UPGRADE, **own).status == 101
        stranger = {"Host": _NAME, "Origin": "http://evil.example"}
        assert ask(proxy, "/coins/_stcore/stream", **_UPGRADE, **stranger).status == 403
        assert ask(proxy, "/coins/events", X_Memedex_Token="x.y", **own).status in {401, 403}
        answer = ask(proxy, "/coins/login", method="POST", body=_LARGE, **own)
        assert (answer.status, answer.body) == (413, b"too large"), "the dashboard says so, not the proxy"
        assert ask(proxy, "/coins/form", method="POST", body=b"{}", **own).status in {401, 403}
