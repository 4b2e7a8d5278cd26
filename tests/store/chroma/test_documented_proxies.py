"""Proxies as docs/scaling.md sets them up, in front of a Chroma server; where they are installed."""

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from store.chroma.server import ChromaServer
from tests.ports import free_port
from tests.store.chroma.chroma_run import ChromaRun
from tests.waiting import eventually

_DOCS = Path(__file__).parents[3] / "docs" / "scaling.md"
_NAME, _KEY = "chroma.example.org", "a-long-random-key"


def _snippet(first_line: str, behind: ChromaRun) -> str:
    found = re.search(rf"```\n({re.escape(first_line)}.*?)```", _DOCS.read_text("utf-8"), re.DOTALL)
    assert found, first_line
    return found[1].replace("127.0.0.1:8000", f"127.0.0.1:{behind.port}")


def caddy(behind: ChromaRun, port: int) -> tuple[list[str], str]:
    snippet = _snippet(f"{_NAME} {{", behind).replace(_NAME, f"http://127.0.0.1:{port}", 1)
    command = ["caddy", "run", "--adapter", "caddyfile", "--config"]
    return command, "{\n admin off\n auto_https off\n}\n" + snippet


def nginx(behind: ChromaRun, port: int) -> tuple[list[str], str]:
    folders = "".join(f"{kind}_temp_path .;" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    return ["nginx", "-p", ".", "-c"], (
        f"daemon off; pid nginx.pid; error_log stderr; events {{}} http {{ access_log off; {folders}\n"
        f"server {{ listen 127.0.0.1:{port};\n{_snippet('location / {', behind)}}} }}"
    )


@pytest.mark.slow
@pytest.mark.parametrize("proxy", [caddy, nginx])
def test_a_documented_proxy_asks_for_the_key(
    proxy: Callable[[ChromaRun, int], tuple[list[str], str]], tmp_path: Path
) -> None:
    behind, port = ChromaRun(tmp_path / "server"), free_port()
    command, config = proxy(behind, port)
    if not shutil.which(command[0]):
        pytest.skip(f"{command[0]} is not installed")
    behind.start()
    (tmp_path / "config").write_text(config)
    server = ChromaServer(f"http://127.0.0.1:{port}", api_key=_KEY)
    try:
        with subprocess.Popen(
            [*command, tmp_path / "config"], cwd=tmp_path, stderr=subprocess.DEVNULL
        ) as running:
            try:
                assert eventually(lambda: _answers(server))
                assert not server.lets_everybody_in()
                client = server.connect()
                assert client.create_collection("seen", embedding_function=None).count() == 0
            finally:
                running.terminate()
    finally:
        behind.kill()
    assert ChromaServer(behind.url).lets_everybody_in() is False, "it cannot be asked any more"


def _answers(server: ChromaServer) -> bool:
    try:
        return httpx.get(f"{server.url}/api/v2/heartbeat", headers=server.headers).is_success
    except httpx.HTTPError:
        return False
