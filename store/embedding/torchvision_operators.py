"""Let transformers, sentence_transformers and open_clip import beside any pairing of torch and torchvision.

All three import torchvision, which on import registers shapes for its own compiled operators. Beside a
torch build its binary does not fit (PyPI's torchvision needs PyPI's CUDA torch; with the CPU build they are
missing) that fails: "operator torchvision::nms does not exist". None of the three calls these operators
here; that they exist is enough. Where torchvision's binary fits, its own definitions are left alone.
"""

from threading import Lock
from typing import Any

SCHEMA = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
OPERATORS = ("nms", "qnms")

_lock = Lock()
_library: list[Any] = []  # the definitions live as long as this object


def define_missing_operators() -> None:
    """Make sure that `import torchvision` succeeds; call it before importing anything that might do so."""
    with _lock:
        if _library or _binary_fits():
            return
        from torch.library import Library

        library: Any = Library("torchvision", "FRAGMENT")  # type: ignore[no-untyped-call]
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
    """Load torchvision's compiled operators as torchvision itself would, and tell whether they are there."""
    from importlib.util import find_spec
    from pathlib import Path

    import torch

    spec = find_spec("torchvision")
    if spec is None or spec.origin is None:
        return True  # nothing to mend
    for binary in sorted(Path(spec.origin).parent.glob("_C.*")):
        try:
            torch.ops.load_library(str(binary))  # type: ignore[no-untyped-call]
        except OSError:  # built for another torch: symbols or CUDA libraries are missing
            return False
    return all(_exists(operator) for operator in OPERATORS)
