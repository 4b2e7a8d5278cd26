"""Downloads from a hub continue where they broke off, are checked, and say what went wrong."""

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from store.errors import BadSource, NotWritten
from store.fetching import hub as hub_module
from store.fetching.hub import Hub, HubFile
from store.progress import Progress
from tests.store.fetching.hub_server import COMMIT, HubServer, hub_serving

REPOSITORY, NAME = "someone/small", "open_clip_model.safetensors"
CONTENT = bytes(range(256)) * 20_000  # 5.12 MB
PROGRAM = Path(__file__).resolve().parents[3]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    monkeypatch.setattr(hub_module, "_FIRST_WAIT", 0.01)
    with hub_serving() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.address)
        server.files[f"{REPOSITORY}/{NAME}"] = CONTENT
        yield server


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "hub"


def place(cache: Path) -> Path:
    return cache / "models--someone--small" / "snapshots" / COMMIT / NAME


def found(hub: Hub) -> HubFile:
    file = hub.find(REPOSITORY, NAME)
    assert file is not None
    return file


def fetch(cache: Path, progress: Progress | None = None) -> bool:
    with Hub() as hub:
        return hub.fetch(found(hub), cache, progress or Progress())


def test_a_file_is_stored_as_huggingface_hub_stores_it(server: HubServer, cache: Path) -> None:
    from huggingface_hub import try_to_load_from_cache

    os.environ["HF_HUB_OFFLINE"] = "1"  # as other parts of the program set it
    progress = Progress()
    assert fetch(cache, progress)
    assert try_to_load_from_cache(REPOSITORY, NAME, cache_dir=cache) == str(place(cache))
    assert place(cache).read_bytes() == CONTENT
    assert progress.done == len(CONTENT) // 1_000_000
    assert [asked for _, asked in server.gets] == [""], "of one commit, in one go"
    assert COMMIT in server.gets[0][0]
    assert fetch(cache)
    assert len(server.gets) == 1, "it is not fetched twice"


def test_a_broken_connection_is_continued_at_its_byte(server: HubServer, cache: Path) -> None:
    server.cuts = [1_000_000, 3_500_000]
    assert fetch(cache)
    assert [asked for _, asked in server.gets] == ["", "bytes=1000000-", "bytes=3500000-"]
    assert place(cache).read_bytes() == CONTENT


def test_a_server_without_ranges_begins_again(server: HubServer, cache: Path) -> None:
    server.cuts, server.has_ranges = [1_000_000], False
    assert fetch(cache)
    assert place(cache).read_bytes() == CONTENT


def test_content_with_another_hash_is_refused_by_name_and_thrown_away(server: HubServer, cache: Path) -> None:
    server.digests[f"{REPOSITORY}/{NAME}"] = "a" * 64
    with pytest.raises(BadSource, match=rf"{NAME} of {REPOSITORY} is not what 127.0.0.1 announced"):
        fetch(cache)
    assert not [path for path in cache.rglob("*") if path.is_file() and path.suffix != ".lock"]


def test_a_hash_that_leads_out_of_the_cache_is_refused(server: HubServer, cache: Path) -> None:
    server.digests[f"{REPOSITORY}/{NAME}"] = "../../../" + "a" * 55
    with pytest.raises(BadSource, match="names no hash"):
        fetch(cache)
    assert not cache.exists()


def test_a_hub_that_stays_away_is_named_and_what_came_is_kept(server: HubServer, cache: Path) -> None:
    with Hub() as hub:
        file = found(hub)
        server.files[f"{REPOSITORY}/{NAME}"] = CONTENT[:2_000_001]  # nothing more comes
        with pytest.raises(BadSource, match=r"at 2 of 5 MB .*kept"):
            hub.fetch(file, cache, Progress())
    server.files[f"{REPOSITORY}/{NAME}"] = CONTENT
    assert fetch(cache)
    assert server.gets[-1][1] == "bytes=2000001-"


def test_without_a_network_the_error_says_what_to_check(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with Hub() as hub, pytest.raises(BadSource, match=r"127\.0\.0\.1 cannot be reached.*HF_ENDPOINT"):
        hub.find(REPOSITORY, NAME)


@pytest.mark.usefixtures("server")
def test_a_full_disk_is_named_with_what_is_missing(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = shutil._ntuple_diskusage(10, 10, 1_000_000)  # type: ignore[attr-defined]  a private name of the standard library
    monkeypatch.setattr(shutil, "disk_usage", lambda _: full)
    with pytest.raises(NotWritten, match=r"full: 6 MB are still to come, 1 MB are free.*HF_HUB_CACHE"):
        fetch(cache)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the device that is always full")
@pytest.mark.usefixtures("server")
def test_a_disk_that_fills_up_meanwhile_is_named(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_module, "_partial", lambda _: Path("/dev/full"))
    with pytest.raises(NotWritten, match="full"):
        fetch(cache)


def test_a_cancelled_download_keeps_its_part_and_goes_on(server: HubServer, cache: Path) -> None:
    server.cuts, server.gate = [2_000_000], threading.Event()
    progress = Progress()
    thread = threading.Thread(target=fetch, args=(cache, progress))
    thread.start()
    assert server.reached.wait(60)
    progress.cancel()
    server.gate.set()
    thread.join(60)
    assert not place(cache).exists()
    assert fetch(cache)
    assert place(cache).read_bytes() == CONTENT
    assert server.gets[-1][1].startswith("bytes="), "continued"


def test_a_killed_download_goes_on_in_the_next_process(server: HubServer, cache: Path) -> None:
    server.cuts, server.gate = [3_000_000], threading.Event()
    code = (
        "import sys; from pathlib import Path\n"
        "from store.fetching.hub import Hub; from store.progress import Progress\n"
        "with Hub() as hub: hub.fetch(hub.find(sys.argv[1], sys.argv[2]), Path(sys.argv[3]), Progress())"
    )
    with subprocess.Popen([sys.executable, "-c", code, REPOSITORY, NAME, str(cache)], cwd=PROGRAM) as process:
        assert server.reached.wait(60)
        os.kill(process.pid, signal.SIGKILL)
    server.gate.set()
    assert fetch(cache)
    assert place(cache).read_bytes() == CONTENT


def test_a_file_that_the_repository_lacks_is_none(server: HubServer) -> None:
    with Hub() as hub:
        assert hub.find(REPOSITORY, "nothing.bin") is None
