"""The collections lie on a Chroma server, which may go away at any moment, and never hold up a decision.

A server that comes back empty is filled from the catalog, which alone is the truth.
"""

import random
import re
import shutil
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from store.catalog.catalog import Catalog
from store.chroma import follower as chroma_follower
from store.chroma import server as server_module
from store.chroma.collections import COLLECTIONS
from store.chroma.process import ServerAway
from store.chroma.server import CLOUD_BATCH, ChromaServer, ServerCollections
from store.cli import main
from store.disk.files import Disk
from store.disk.layout import Layout
from store.maintenance import doctor
from store.memory.memory import Memory
from store.runtime import open_library
from store.settings import settings
from tests.length import repeated
from tests.ports import free_port
from tests.store.chroma.chroma_cloud import ID_BYTES, KEY, QUOTA, chroma_cloud
from tests.store.chroma.chroma_run import ChromaRun, closed_behind, entries, follows
from tests.store.conftest import address, approved_with_caption, coin
from tests.store.hashed import Hashed
from tests.store.invariants import chroma_agrees_with_the_sidecars, holds
from tests.store.memory.bags import Bags
from tests.waiting import eventually

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("closed_connections")]


KILLS = repeated(2)


def test_every_verb_reaches_the_five_collections_of_the_server(
    root: Path, embedder: Hashed, on_server: ChromaRun
) -> None:
    with open_library(root, embedder=embedder) as library:
        library.promote(approved_with_caption(library, 1, 2, 3))
        library.degrade([address(2)])
        assert follows(library)
        assert library.check_chroma() == []
        holds(library)
        assert not list(library.layout.chroma.glob("chroma.sqlite3*")), "nothing lies in the folder"
    having = {address(1), address(3)}
    assert entries(on_server) == {
        **dict.fromkeys(COLLECTIONS.values(), having),
        COLLECTIONS["emotions"]: set(),
    }


def test_decisions_wait_in_the_queue_while_the_server_is_away(
    root: Path, embedder: Hashed, on_server: ChromaRun
) -> None:
    with open_library(root, embedder=embedder) as library:
        library.promote(approved_with_caption(library, 1))
        assert follows(library)
        on_server.kill()
        assert library.promote(approved_with_caption(library, 2)).done
        assert not library.wait_for_chroma(60)
        status = library.status()
        assert status.chroma_behind == 1
        assert on_server.url in status.chroma_fault
        assert "ServerAway" not in status.chroma_fault
        assert on_server.url in library.check_chroma()[0]
        on_server.start()
        assert follows(library)
        assert not library.status().chroma_fault
        assert library.check_chroma() == []
    assert entries(on_server)[COLLECTIONS["entity"]] == {address(1), address(2)}


def test_the_collections_move_to_a_server_and_back(
    root: Path, embedder: Hashed, server: ChromaRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_library(root, embedder=embedder) as library:
        library.promote(approved_with_caption(library, 1, 2))
        assert library.wait_for_chroma(60)
    with monkeypatch.context() as patch:
        patch.setenv("MEMEDEX_CHROMA_URL", server.url)
        settings.cache_clear()
        with open_library(root, embedder=embedder) as library:
            assert follows(library)
            assert library.check_chroma() == []
            library.degrade([address(1)])
            assert follows(library)
        assert entries(server)[COLLECTIONS["image"]] == {address(2)}
    settings.cache_clear()
    with open_library(root, embedder=embedder) as library:
        assert library.wait_for_chroma(60)
        assert library.check_chroma() == []
    chroma_agrees_with_the_sidecars(root, embedder)
    assert entries(server)[COLLECTIONS["image"]] == {address(2)}, "what is on the server stays there"


@pytest.mark.usefixtures("chroma_in_own_process")
def test_a_server_that_never_answers_holds_up_neither_decisions_nor_the_end_and_is_not_filled_again(
    root: Path, embedder: Hashed, server: ChromaRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chroma_follower, "SERVER_TIMEOUT", 0.5)
    monkeypatch.setattr(chroma_follower, "TIMEOUT", 0.5)
    monkeypatch.setattr(chroma_follower, "PATIENCE", 0.5)
    with open_library(root, embedder=embedder) as library:
        library.promote(approved_with_caption(library, 1, 2, 3))
        assert library.wait_for_chroma(60)
    with monkeypatch.context() as patch, socket.create_server(("127.0.0.1", 0)) as silent:
        patch.setenv("MEMEDEX_CHROMA_URL", f"http://127.0.0.1:{silent.getsockname()[1]}")
        settings.cache_clear()
        with closed_behind(open_library(root, embedder=embedder)) as library:
            assert library.degrade([address(1)]).done
            asked, _ = silent.accept()
        asked.close()
        with Catalog(Layout(root).catalog, disk=Disk(), writable=False).reading() as db:
            assert [row["address"] for row in db.execute("SELECT address FROM chroma_queue")] == [address(1)]
    settings.cache_clear()
    with open_library(root, embedder=embedder) as library:
        assert not library.catalog.meta("chroma_rebuild")
        assert library.wait_for_chroma(60)
        assert library.check_chroma() == []


def test_a_server_that_accepts_and_stays_silent_is_named_in_bounded_time(
    root: Path, embedder: Hashed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_module, "_TIMEOUT", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        monkeypatch.setenv("MEMEDEX_CHROMA_URL", url)
        settings.cache_clear()
        with closed_behind(open_library(root, embedder=embedder)) as library:
            assert library.promote(approved_with_caption(library, 1)).done
            assert not library.wait_for_chroma(60), "it ended before these seconds, without a server"
            assert url in library.status().chroma_fault
            [named] = [one for one in doctor.check(library) if url in one.what]
            assert (named.is_fault, named.remedy) == (
                True,
                "nothing is lost, Chroma follows when the server answers",
            )
        [unopened] = [one for one in doctor.check_unopened(root) if url in one.what]
        assert unopened.remedy == named.remedy
    settings.cache_clear()


def test_collections_of_another_library_are_refused_by_name_and_kept(
    tmp_path: Path, root: Path, embedder: Hashed, on_server: ChromaRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_library(root, embedder=embedder) as library:
        library.promote(approved_with_caption(library, 1))
        assert follows(library)
    before = entries(on_server)
    opened = open_library(tmp_path / "other", embedder=embedder)
    with closed_behind(opened, says="belongs to another library") as other:
        assert other.add([coin(7)]).done
        other.promote(approved_with_caption(other, 8))
        assert not other.wait_for_chroma(60)
        assert "belongs to another library" in other.status().chroma_fault
        assert "MEMEDEX_CHROMA_DATABASE" in other.status().chroma_fault
        other.rebuild_chroma()
        assert not other.wait_for_chroma(60)
    assert entries(on_server) == before
    monkeypatch.setenv("MEMEDEX_CHROMA_DATABASE", "second")
    settings.cache_clear()
    with open_library(tmp_path / "other", embedder=embedder) as other:
        assert follows(other)
        assert other.check_chroma() == []
    assert entries(on_server) == before
    assert entries(on_server, database="second")[COLLECTIONS["entity"]] == {address(8)}


@pytest.mark.kills
@pytest.mark.usefixtures("chroma_in_own_process", "comparison_in_own_process")
def test_a_server_killed_again_and_again_agrees_with_the_catalog_in_the_end(
    root: Path, embedder: Hashed, on_server: ChromaRun
) -> None:
    with open_library(root, embedder=embedder) as library:
        addresses = approved_with_caption(library, *range(1, 41))
        moments = random.Random(KILLS)
        for kill in range(KILLS):
            library.promote(addresses) if kill % 2 == 0 else library.degrade(addresses[kill::3])
            library.wait_for_chroma(moments.uniform(0.0, 3.0))  # it is at work, or done, when the server dies
            on_server.kill()
            on_server.start()
        library.promote(addresses)
        assert follows(library)
        assert library.check_chroma() == []
    assert entries(on_server)[COLLECTIONS["visual"]] == set(addresses)


def test_the_text_memory_follows_to_the_server_and_leaves_nothing_of_a_forgotten_session(
    tmp_path: Path, on_server: ChromaRun
) -> None:
    with Memory.open(tmp_path / "res", embedder=Bags()) as memory:
        memory.session_memory.add_memory("one", "dawn", "The vault opens at dawn.")
        memory.session_memory.add_memory("two", "swamp", "The swamp has frogs.")
        assert eventually(lambda: memory.wait_for_chroma(5))
        assert memory.check_chroma() == []
        assert len(entries(on_server)["session_memory"]) == 2
        on_server.kill()
        memory.session_memory.delete_session("one")
        on_server.start()
        assert eventually(lambda: memory.wait_for_chroma(5))
        assert memory.check_chroma() == []
    assert len(entries(on_server)["session_memory"]) == 1


def test_chroma_cloud_is_never_asked_beyond_its_limits_and_a_busy_one_is_waited_for(
    root: Path, embedder: Hashed, server: ChromaRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    count, quota = 35, 30
    assert CLOUD_BATCH <= QUOTA
    with open_library(root, embedder=embedder) as library:
        library.promote(approved_with_caption(library, *range(count)))
        assert library.wait_for_chroma(120)
    with monkeypatch.context() as patch, chroma_cloud(server, quota=quota, busy_every=9) as cloud:
        patch.setattr("store.chroma.server.CLOUD", "127.0.0.1")
        patch.setattr("store.chroma.server.CLOUD_BATCH", quota)
        patch.setenv("MEMEDEX_CHROMA_URL", cloud.url)
        patch.setenv("MEMEDEX_CHROMA_API_KEY", KEY)
        settings.cache_clear()
        with open_library(root, embedder=embedder) as library:
            assert follows(library)
            cloud.busy_every = 1_000_000
            assert library.check_chroma() == []
            assert not [finding for finding in doctor.check(library) if "lets everybody" in finding.what]
        patch.setenv("MEMEDEX_CHROMA_API_KEY", "wrong")
        settings.cache_clear()
        opened = open_library(root, embedder=embedder)
        with closed_behind(opened, says="asks for another key") as library:
            library.degrade([address(1)])
            assert not library.wait_for_chroma(60)
            fault = library.status().chroma_fault
            assert "status 401: it asks for another key (MEMEDEX_CHROMA_API_KEY)" in fault
            assert "no valid key" in fault
    settings.cache_clear()
    assert {refusal.split()[0] for refusal in cloud.refused} == {"429", "401"}
    assert len(entries(server)[COLLECTIONS["entity"]]) == count


def test_without_chroma_everything_else_works_and_its_queue_waits(
    root: Path, embedder: Hashed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMEDEX_CHROMA", "off")
    settings.cache_clear()
    with open_library(root, embedder=embedder) as library:
        library.promote(approved_with_caption(library, 1))
        assert library.wait_for_chroma(0)
        assert library.check_chroma() == []
        assert library.status().chroma_behind == 0
        assert not list(library.layout.chroma.glob("chroma.sqlite3*"))
    monkeypatch.setenv("MEMEDEX_CHROMA", "on")
    settings.cache_clear()
    with open_library(root, embedder=embedder) as library:
        assert library.wait_for_chroma(60)
    chroma_agrees_with_the_sidecars(root, embedder)
    settings.cache_clear()


def test_a_server_that_comes_back_empty_is_noticed_without_a_decision(
    root: Path, embedder: Hashed, on_server: ChromaRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chroma_follower, "LOOK", 0.1)
    with open_library(root, embedder=embedder) as library:
        library.promote(approved_with_caption(library, 1, 2))
        assert follows(library)
        before = entries(on_server)
        generation, requests = library.generation, embedder.requests
        on_server.kill()
        assert eventually(lambda: on_server.url in library.status().chroma_fault)
        on_server.folder.rename(on_server.folder.with_name("lost"))
        on_server.start()
        assert eventually(lambda: entries(on_server) == before)
        assert eventually(lambda: not library.status().chroma_fault)
        assert before[COLLECTIONS["entity"]] == {address(1), address(2)}
        assert (library.generation, embedder.requests) == (generation, requests)


def test_others_collections_in_place_of_ours_are_noticed_without_a_decision(
    tmp_path: Path, root: Path, embedder: Hashed, on_server: ChromaRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_library(tmp_path / "other", embedder=embedder) as other:
        other.promote(approved_with_caption(other, 8))
        assert follows(other)
    on_server.kill()
    theirs = on_server.folder.rename(on_server.folder.with_name("theirs"))
    on_server.start()
    with open_library(root, embedder=embedder) as library:
        library.promote(approved_with_caption(library, 1))
        assert follows(library)
    ours = on_server.folder.with_name("ours")
    monkeypatch.setattr(chroma_follower, "LOOK", 0.1)
    with open_library(root, embedder=embedder) as library:
        on_server.kill()
        on_server.folder.rename(ours)
        theirs.rename(on_server.folder)
        on_server.start()
        assert eventually(lambda: "belongs to another library" in library.status().chroma_fault)
        assert "OthersCollection" not in library.status().chroma_fault
        assert entries(on_server)[COLLECTIONS["entity"]] == {address(8)}
        on_server.kill()
        on_server.folder.rename(theirs)
        ours.rename(on_server.folder)
        on_server.start()
        assert eventually(lambda: not library.status().chroma_fault)
        assert entries(on_server)[COLLECTIONS["entity"]] == {address(1)}


def test_a_memory_on_a_server_that_comes_back_empty_is_filled_again(
    tmp_path: Path, on_server: ChromaRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chroma_follower, "LOOK", 0.1)
    with Memory.open(tmp_path / "res", embedder=Bags()) as memory:
        memory.session_memory.add_memory("one", "dawn", "The vault opens at dawn.")
        assert eventually(lambda: memory.wait_for_chroma(5))
        before = entries(on_server)
        on_server.kill()
        on_server.folder.rename(on_server.folder.with_name("lost"))
        on_server.start()
        assert eventually(lambda: entries(on_server) == before)
    assert len(before["session_memory"]) == 1


def test_index_fills_a_server_that_came_back_empty_while_nothing_changed(
    root: Path, embedder: Hashed, on_server: ChromaRun, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_library(root, embedder=embedder) as library:
        library.promote(approved_with_caption(library, 1, 2))
        assert follows(library)
    on_server.kill()
    on_server.folder.rename(on_server.folder.with_name("lost"))
    on_server.start()
    assert main(["--root", str(root), "index"]) == 0
    assert "the index agrees with the library" in capsys.readouterr().err
    assert entries(on_server)[COLLECTIONS["entity"]] == {address(1), address(2)}

    on_server.kill()
    assert main(["--root", str(root), "index"]) == 1
    on_server.start()
    with open_library(root, embedder=embedder) as library:
        assert not library.catalog.meta("chroma_rebuild"), "what cannot be asked is not rebuilt"


def test_a_tenant_that_the_server_does_not_have_is_named(
    root: Path, embedder: Hashed, on_server: ChromaRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMEDEX_CHROMA_TENANT", "nobody")
    settings.cache_clear()
    with closed_behind(open_library(root, embedder=embedder)) as library:
        library.promote(approved_with_caption(library, 1))
        assert not library.wait_for_chroma(60)
        assert "it has no tenant nobody (MEMEDEX_CHROMA_TENANT)" in library.status().chroma_fault


@pytest.mark.parametrize(
    ("url", "port"), [("http://one", 80), ("https://one/chroma", 443), ("http://one:8000", 8000)]
)
def test_an_address_without_a_port_has_that_of_its_scheme(url: str, port: int) -> None:
    assert ChromaServer(url).port == port


def test_a_tls_error_is_explained(server: ChromaRun) -> None:
    address = server.url.replace("http:", "https:")  # which this server does not speak
    with pytest.raises(ServerAway, match="SSL"):
        ServerCollections(ChromaServer(address), {}).has("memories")


def test_the_key_of_a_server_is_in_no_text() -> None:
    server = ChromaServer("http://one", api_key="secret")
    assert "secret" not in f"{server} {server!r}"


def test_doctor_says_that_a_server_ignores_keys(root: Path, embedder: Hashed, on_server: ChromaRun) -> None:
    with open_library(root, embedder=embedder) as library:
        found = [finding for finding in doctor.check(library) if not finding.is_fault]
    assert ["lets everybody in" in finding.what for finding in found] == [True]


NEVER = 1_000_000


def test_a_session_with_a_very_long_key_reaches_chroma_cloud_and_leaves_nothing_once_it_is_deleted(
    tmp_path: Path, server: ChromaRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "ä" * ID_BYTES
    with monkeypatch.context() as patch, chroma_cloud(server, busy_every=NEVER) as cloud:
        patch.setattr("store.chroma.server.CLOUD", "127.0.0.1")
        patch.setenv("MEMEDEX_CHROMA_URL", cloud.url)
        patch.setenv("MEMEDEX_CHROMA_API_KEY", KEY)
        settings.cache_clear()
        with Memory.open(tmp_path / "res", embedder=Bags()) as memory:
            memory.session_memory.add_memory("one", "dawn", "The vault opens at dawn.")
            memory.session_memory.add_memory(key, "swamp", "The swamp has frogs.")
            assert eventually(lambda: memory.wait_for_chroma(5))
            assert memory.check_chroma() == []
            assert len(stored := entries(server)["session_memory"]) == 2
            assert max(len(id.encode()) for id in stored) <= ID_BYTES
            memory.session_memory.delete_session(key)
            assert eventually(lambda: memory.wait_for_chroma(5))
            assert memory.check_chroma() == []
        assert not cloud.refused
    settings.cache_clear()
    assert len(entries(server)["session_memory"]) == 1


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
