"""Weights are loaded once, by the first thread that needs them, and hashed once."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from store.embedding import open_embedder, protocol
from store.embedding.local_weights import cached_file, snapshot
from store.embedding.protocol import OFFLINE, Embedder, Lazy, file_digest
from store.errors import ModelUnavailable


@pytest.fixture(scope="module")
def offline() -> Embedder:
    return open_embedder(OFFLINE)


def test_concurrent_threads_load_the_weights_once() -> None:
    started, loads = threading.Barrier(4), []
    lazy = Lazy("it", lambda: loads.append(1) or "loaded")
    found = []

    def ask() -> None:
        started.wait()
        found.append(lazy.get())

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (found, loads) == (["loaded"] * 4, [1])


def test_weights_that_were_let_go_are_loaded_again() -> None:
    loads = []
    lazy = Lazy("it", lambda: loads.append(1) or "loaded")
    lazy.release()
    assert (lazy.get(), lazy.status) == ("loaded", "ready")
    lazy.release()
    assert lazy.status == "not loaded"
    assert (lazy.get(), loads) == ("loaded", [1, 1])


def test_weights_go_once_nobody_has_used_them_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    now, timers = [100.0], []

    class RecordingTimer:
        def __init__(self, seconds: float, end: Callable[[], None]) -> None:
            self.seconds, self.end = seconds, end

        def start(self) -> None:
            timers.append(self)

    monkeypatch.setattr(protocol, "Timer", RecordingTimer)
    monkeypatch.setattr(protocol.time, "monotonic", lambda: now[0])
    loads = []
    lazy = Lazy("it", lambda: loads.append(1) or "loaded", rest=20.0)
    lazy.get()
    now[0] = 115.0
    lazy.get()
    now[0] = 120.0
    timers.pop().end()
    assert (lazy.status, timers[0].seconds) == ("ready", 15.0)
    now[0] = 135.0
    timers.pop().end()
    assert (lazy.status, timers) == ("ready", []), "pages do not wait for it again"
    assert (lazy.get(), loads) == ("loaded", [1, 1])


def test_a_failed_load_is_explained_and_retried() -> None:
    answers = [OSError("no such file"), "loaded"]

    def load() -> str:
        answer = answers.pop(0)
        if isinstance(answer, OSError):
            raise answer
        return answer

    lazy = Lazy("the model", load)
    with pytest.raises(ModelUnavailable, match="the model could not be loaded: no such file"):
        lazy.get()
    assert lazy.status.startswith("unavailable: ")
    assert (lazy.get(), lazy.status) == ("loaded", "ready")


def test_model_files_are_hashed_only_once(offline: Embedder) -> None:
    assert offline.fingerprint is offline.fingerprint


def test_the_digest_of_a_cached_file_is_its_name_in_the_cache(tmp_path: Path) -> None:
    blob = tmp_path / ("0123456789abcdef" * 4)
    blob.write_bytes(b"anything")
    (tmp_path / "weights.safetensors").symlink_to(blob)
    assert file_digest(tmp_path / "weights.safetensors") == blob.name


def test_a_download_is_found_by_its_main_revision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    assert (cached_file("someone/small", "model.bin"), snapshot("someone/small")) == (None, None)
    repository = tmp_path / "models--someone--small"
    weights = repository / "snapshots" / "abc" / "model.bin"
    for path, content in ((weights, "weights"), (repository / "refs" / "main", "abc")):
        path.parent.mkdir(parents=True)
        path.write_text(content)
    assert cached_file("someone/small", "model.safetensors", "model.bin") == weights
    assert snapshot("someone/small") == weights.parent
    assert cached_file("someone/small", "model.safetensors") is None
    assert snapshot("no name") is None
