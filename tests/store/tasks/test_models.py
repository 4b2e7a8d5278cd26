"""Download a model, and embed the library with another."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from store.embedding import embedding_cache, model_download, open_embedder
from store.embedding.model_download import OfferedModel
from store.embedding.protocol import described
from store.library import Library
from store.runtime import open_library
from store.tasks import models
from tests.store.conftest import approved_with_caption, create_in_tier
from tests.store.embedding import small_clip
from tests.store.fetching.hub_server import HubServer, hub_serving
from tests.store.hashed import Hashed
from tests.waiting import eventually

SMALL = OfferedModel(f"openclip:{small_clip.SMALL}/tiny", "Tiny", "someone/tiny", 200, "MIT", "for tests")
WEIGHTS = "open_clip_pytorch_model.bin"


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return small_clip.write(tmp_path_factory.mktemp("weights") / "small.pt").read_bytes()


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, checkpoint: bytes) -> Iterator[HubServer]:
    from open_clip import pretrained

    known = {"tiny": {"hf_hub": "someone/tiny/", "mean": (0.5,) * 3, "std": (0.5,) * 3}}
    monkeypatch.setitem(pretrained._PRETRAINED, small_clip.SMALL, known)
    monkeypatch.setattr(model_download, "OFFERED", (SMALL,))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    with hub_serving() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.address)
        server.files[f"someone/tiny/{WEIGHTS}"] = checkpoint
        yield server


@pytest.mark.slow  # importing PyTorch takes seconds
@pytest.mark.usefixtures("without_chroma")
def test_two_clicks_lead_from_nothing_to_a_library_embedded_with_it(library: Library, hub: HubServer) -> None:
    addresses = approved_with_caption(library, 1, 2)
    library.promote(addresses)
    assert not SMALL.is_here
    assert hub.gets == [], "nothing is fetched before the click"
    hub.cuts = [hub_size(hub) // 2]
    job = models.download(library, SMALL.name)
    assert library.jobs.wait(job.id, timeout=120)
    over = library.jobs.get(job.id)
    assert (over.state, over.error) == ("done", "")
    assert over.done == over.total > 1, "counted in megabytes"
    assert len(hub.gets) == 2, "the broken connection was continued"
    assert SMALL.is_here
    job = library.jobs.start("model", name="Embed", options={"model": SMALL.name})
    assert library.jobs.wait(job.id, timeout=120)
    assert library.model == SMALL.name, library.jobs.get(job.id)
    assert open_embedder(SMALL.name).dimensions == 256


@pytest.mark.slow  # importing PyTorch takes seconds
@pytest.mark.usefixtures("without_chroma")
def test_a_download_that_was_paused_twice_continues_after_a_restart_with_the_same_revision(
    library: Library, hub: HubServer, root: Path
) -> None:
    size = hub_size(hub)
    hub.cuts, hub.gate = [size // 4, size // 2], threading.Event()
    job = models.download(library, SMALL.name)
    for _ in range(2):
        assert hub.reached.wait(60)
        library.jobs.pause(job.id)
        hub.reached.clear()
        hub.gate.set()
        assert library.jobs.wait(job.id, timeout=60)
        assert library.jobs.get(job.id).state == "paused"
        hub.gate.clear()
        if hub.cuts:
            library.jobs.resume(job.id)
    library.close()
    with open_library(root, embedder=Hashed()) as again:
        assert models.download(again, SMALL.name).id == job.id
        assert again.jobs.wait(job.id, timeout=60)
    assert SMALL.is_here
    assert all("/resolve/c0ffee" in path for path, _ in hub.gets)


@pytest.mark.slow  # importing PyTorch takes seconds
@pytest.mark.usefixtures("without_chroma")
def test_a_wrong_hash_fails_the_job_and_leaves_no_model(library: Library, hub: HubServer) -> None:
    hub.digests[f"someone/tiny/{WEIGHTS}"] = "b" * 64
    job = models.download(library, SMALL.name)
    assert library.jobs.wait(job.id, timeout=60)
    over = library.jobs.get(job.id)
    assert over.state == "failed"
    assert f"{WEIGHTS} of someone/tiny is not what" in over.error
    assert not SMALL.is_here


@pytest.mark.slow  # importing PyTorch takes seconds
@pytest.mark.usefixtures("without_chroma")
def test_the_environment_keeps_other_libraries_offline_meanwhile(library: Library, hub: HubServer) -> None:
    job = models.download(library, SMALL.name)
    assert library.jobs.wait(job.id, timeout=60)
    assert os.environ["HF_HUB_OFFLINE"] == "1"


def hub_size(hub: HubServer) -> int:
    return len(hub.files[f"someone/tiny/{WEIGHTS}"])


class NewVersion(Hashed):
    """The same model with other pictures' vectors."""

    fingerprint = "hashed 2"


@pytest.mark.usefixtures("without_chroma")
def test_a_new_version_of_the_model_embeds_the_library_again_once(root: Path) -> None:
    with open_library(root, embedder=Hashed()) as library:
        create_in_tier(library, "library", 1, 2)
    with open_library(root, embedder=NewVersion()) as library:
        library.work_in_background()
        assert eventually(lambda: [job.state for job in library.jobs.all()] == ["done"])
        assert library.jobs.all()[0].name == "Embed with the new version of hashed"
        assert embedding_cache.incomplete(library.catalog, library.layout, library.embedder) == []
        models.start_if_outdated(library)
        assert len(library.jobs.all()) == 1


@pytest.mark.usefixtures("without_chroma")
def test_jobs_name_the_built_in_model_as_the_pages_do() -> None:
    assert described("offline") == "the built-in model"
    assert described("openclip:ViT-L-14/openai") == "openclip:ViT-L-14/openai"
