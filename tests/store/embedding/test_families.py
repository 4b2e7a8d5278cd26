"""CLIP from a checkpoint file, sentence-transformers and embeddings endpoints, through the real libraries."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from store.embedding import open_embedder
from store.embedding.offline import weights_file
from store.errors import ModelUnavailable
from store.settings import settings
from tests.store.embedding import small_clip
from tests.store.embedding.small_clip import SMALL
from tests.store.language_model_server import LanguageModelServer, running

pytestmark = pytest.mark.slow  # importing PyTorch takes seconds


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Random weights of a small CLIP."""
    return small_clip.write(tmp_path_factory.mktemp("weights") / "clip.pt")


def activations(model: object) -> set[str]:
    network = model._parts.get().model  # the activation is not visible from outside
    return {type(module).__name__ for module in network.modules()} & {"GELU", "QuickGELU"}


def test_clip_from_a_file_gives_unit_vectors_for_texts_and_pictures(checkpoint: Path) -> None:
    model = open_embedder(f"openclip:{SMALL}@{checkpoint}")
    assert (model.dimensions, model.token_limit, model.cross_modal_scale) == (256, 77, 1.0)
    assert model.status == "not loaded"
    texts = model.embed_texts(["a dog", "", "word " * 400])
    images = model.embed_images([Image.new("RGB", (512, 512), colour) for colour in ("red", "blue")])
    assert model.status == "ready"
    for rows, count in ((texts, 3), (images, 2)):
        assert rows.shape == (count, 256)
        assert rows.dtype == np.float32
        assert np.linalg.norm(rows, axis=1) == pytest.approx(1, abs=1e-5)
    assert model.embed_texts([]).shape == model.embed_images([]).shape == (0, 256)


def test_openai_weights_from_a_file_use_quickgelu(checkpoint: Path) -> None:
    assert activations(open_embedder(f"openclip:{SMALL}/openai@{checkpoint}")) == {"QuickGELU"}
    assert activations(open_embedder(f"openclip:{SMALL}@{checkpoint}")) == {"GELU"}


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")  # OpenAI's files trigger it
@pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning")
def test_an_openai_torchscript_file_gives_the_same_vectors_with_quickgelu(
    checkpoint: Path, tmp_path: Path
) -> None:
    import torch

    named = open_embedder(f"openclip:{SMALL}/openai@{checkpoint}")
    named.warm()
    network = named._parts.get().model
    scripted = torch.jit.trace(
        network, (torch.zeros(1, 3, 224, 224), torch.zeros(1, 77, dtype=torch.long)), check_trace=False
    )
    scripted.save(str(tmp_path / "ViT.pt"))
    published = open_embedder(f"openclip:{SMALL}@{tmp_path / 'ViT.pt'}")
    assert activations(published) == {"QuickGELU"}
    assert published.embed_texts(["a dog"]) == pytest.approx(named.embed_texts(["a dog"]), abs=1e-5)


def test_openai_and_metaclip_tags_use_quickgelu_and_laion_tags_do_not() -> None:
    from store.embedding.openclip import Choice, quick_gelu

    nowhere = Path("weights.safetensors")
    assert quick_gelu(Choice.parse("ViT-L-14/openai"), nowhere)
    assert quick_gelu(Choice.parse("ViT-B-32/metaclip_400m"), nowhere)
    assert not quick_gelu(Choice.parse("ViT-B-32/laion2b_s34b_b79k"), nowhere)


def test_quickgelu_changes_the_fingerprint(checkpoint: Path) -> None:
    names = (f"openclip:{SMALL}/openai@{checkpoint}", f"openclip:{SMALL}@{checkpoint}")
    assert len({open_embedder(name).fingerprint for name in names}) == 2


def test_clip_reads_captions_longer_than_77_tokens_to_the_end(checkpoint: Path) -> None:
    model = open_embedder(f"openclip:{SMALL}@{checkpoint}")
    start = "harbour " * 100
    assert model.count_tokens(start) == 102
    plain, changed = model.embed_texts([start, start + "shiba"])
    assert not np.allclose(plain, changed, atol=1e-4)


def test_short_texts_give_the_same_vectors_as_open_clip(checkpoint: Path) -> None:
    import open_clip
    import torch

    model = open_embedder(f"openclip:{SMALL}@{checkpoint}")
    texts = ["a Dog  &amp; a cat", "ünïcode"]
    own = model.embed_texts(texts)
    network = model._parts.get().model
    with torch.inference_mode():
        theirs = network.encode_text(open_clip.get_tokenizer(SMALL)(texts), normalize=True).numpy()
    assert own == pytest.approx(theirs, abs=1e-5)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("openclip:ViT-L-14@/nowhere/clip.pt", "there is no file /nowhere/clip.pt"),
        ("openclip:ViT-L-14", "names no weights"),
        ("openclip:../../x/y", "open_clip has no model '..'"),
        ("openclip:ViT-Z-99/openai", "open_clip has no model 'ViT-Z-99'"),
    ],
)
def test_an_impossible_clip_name_is_refused_when_opened(name: str, message: str) -> None:
    with pytest.raises(ModelUnavailable, match=message):
        open_embedder(name)


def test_an_unknown_tag_lists_the_known_ones() -> None:
    with pytest.raises(ModelUnavailable, match="no weights 'mine' for ViT-B-32; it has: openai, "):
        open_embedder("openclip:ViT-B-32/mine").warm()


def test_a_file_without_weights_is_reported(tmp_path: Path) -> None:
    (tmp_path / "clip.pt").write_bytes(b"not weights")
    model = open_embedder(f"openclip:{SMALL}@{tmp_path / 'clip.pt'}")
    with pytest.raises(ModelUnavailable, match=r"clip.pt is not a file of weights"):
        model.warm()
    assert model.status.startswith("unavailable: ")


def test_the_packaged_sentence_model_matches_sentence_transformers() -> None:
    texts = ["a dog on the moon", "HODL, wen lambo?", "ünï 漢字 🚀", ""]
    packaged = open_embedder("sentence-transformers:all-MiniLM-L6-v2")
    library = open_embedder(f"sentence-transformers:{weights_file().parent}")
    assert packaged.dimensions == library.dimensions == 384
    assert packaged.token_limit == library.token_limit == 256
    assert packaged.embed_texts(texts) == pytest.approx(library.embed_texts(texts), abs=2e-4)
    assert packaged.embed_texts(texts[:2]) == pytest.approx(library.embed_texts(texts[:2]), abs=1e-5)
    assert packaged.count_tokens(texts[0]) == library.count_tokens(texts[0])


def test_every_sentence_model_splits_long_texts_into_windows() -> None:
    library = open_embedder(f"sentence-transformers:{weights_file().parent}")
    start = "the annual report of the harbour authority. " * 60
    plain, dog, wanted = library.embed_texts([start, start + "a shiba dog. " * 80, "a shiba dog"])
    assert dog @ wanted > plain @ wanted + 0.2


def test_a_missing_sentence_model_names_the_download_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(ModelUnavailable, match="hf download sentence-transformers/all-mpnet-base-v2"):
        open_embedder("sentence-transformers:all-mpnet-base-v2")


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[LanguageModelServer]:
    with running() as server:
        monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
        monkeypatch.setenv("MEMEDEX_EMBEDDING_API_BASE", server.address)
        settings.cache_clear()
        yield server
    settings.cache_clear()


def test_endpoint_requests_are_batched_and_the_vectors_put_in_order(endpoint: LanguageModelServer) -> None:
    model = open_embedder("litellm:openai/my-embeddings")
    rows = model.embed_texts(["ab", "", "abcd"])
    assert rows.shape == (3, 4)
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1, abs=1e-5)
    assert rows[2, 0] > rows[0, 0] > rows[1, 0]
    assert model.dimensions == 4


def test_a_text_over_the_endpoint_limit_is_sent_in_windows(endpoint: LanguageModelServer) -> None:
    model = open_embedder("litellm:openai/my-embeddings")
    model.embed_texts(["dog " * (2 * model.token_limit)])
    assert len(endpoint.requests[-1]["input"]) > 1


def test_dimensions_known_to_litellm_are_not_requested(endpoint: LanguageModelServer) -> None:
    model = open_embedder("litellm:text-embedding-ada-002")
    assert (model.dimensions, model.token_limit) == (1536, 8191)
    assert endpoint.requests == []


@pytest.mark.parametrize("name", ["litellm:text-embedding-ada-002", "sentence-transformers:all-MiniLM-L6-v2"])
def test_a_text_only_model_names_the_models_that_embed_pictures(name: str) -> None:
    with pytest.raises(ModelUnavailable, match="reads texts only: choose offline"):
        open_embedder(name).embed_images([Image.new("RGB", (8, 8))])


def test_an_unreachable_endpoint_is_reported(endpoint: LanguageModelServer) -> None:
    endpoint.server.server_close()
    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        open_embedder("litellm:openai/my-embeddings").embed_texts(["a"])


@pytest.mark.parametrize(
    "already_there", [False, True], ids=["missing operators", "operators of a binary that fits"]
)
def test_torchvision_can_be_imported_with_this_torch(already_there: bool) -> None:
    """Operators that a matching binary has already defined must not be defined twice."""
    define = (
        "from torch.library import Library; library = Library('torchvision', 'DEF');"
        "shape = '(Tensor dets, Tensor scores, float iou_threshold) -> Tensor';"
        "[library.define(name + shape) for name in ('nms', 'qnms')];"
        if already_there
        else ""
    )
    code = (
        f"{define}from store.embedding.local_weights import define_missing_operators;"
        "define_missing_operators(); define_missing_operators(); import torchvision.transforms"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
