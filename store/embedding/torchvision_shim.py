"""Let transformers, sentence_transformers and open_clip import beside any pairing of torch and torchvision.

All three import torchvision, which registers shapes for its compiled operators. If its binary does not fit
the torch build (PyPI's torchvision needs PyPI's CUDA torch, so they are missing with the CPU build), that
fails: "operator torchvision::nms does not exist". None of the three calls these operators here; they only
have to exist. If the binary fits, its own definitions are left alone.
"""

from threading import Lock
from typing import Any

SCHEMA = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
OPERATORS = ("nms", "qnms")

_lock = Lock()
_library: list[Any] = []  # the definitions live as long as this object


def define_missing_operators() -> None:
    """Make `import torchvision` succeed; call it before importing anything that might do so."""
    with _lock:
        if _library or _binary_fits():
            return
        from torch.library import Library

        library: Any = Library("torchvision", "FRAGMENT")  # type: ignore[no-untyped-call]  # torch leaves its types out
        for operator in OPERATORS:
            if not _exists(operator):
                library.define(f"{operator}{SCHEMA}")
        _library.append(library)


def _exists(operator: str) -> bool:
    import torch

    try:
        getattr(torch.ops.torchvision, operator)
    except AttributeError:
        return False
    return True


def _binary_fits() -> bool:
    """Load torchvision's compiled operators like torchvision itself; returns whether they exist then."""
    from importlib.util import find_spec
    from pathlib import Path

    import torch

    spec = find_spec("torchvision")
    if spec is None or spec.origin is None:
        return True  # nothing to mend
    for binary in sorted(Path(spec.origin).parent.glob("_C.*")):
        try:
            torch.ops.load_library(str(binary))  # type: ignore[no-untyped-call]  # torch leaves its types out
        except OSError:  # built for another torch: symbols or CUDA libraries are missing
            return False
    return all(_exists(operator) for operator in OPERATORS)
