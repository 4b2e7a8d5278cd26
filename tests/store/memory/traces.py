"""What is left of texts and vectors in the bytes of every file below a root."""

import struct
from pathlib import Path

import numpy as np


def traces(root: Path, texts: list[str], vectors: list[np.ndarray]) -> dict[str, list[str]]:
    """The files below root that still contain any of these texts or vectors."""
    found: dict[str, list[str]] = {}
    needles = {text: [text.encode(), text.encode("utf-16-le"), text.lower().encode()] for text in texts}
    for path in root.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            here = [text for text, forms in needles.items() if any(form in content for form in forms)]
            here += [f"vector {n}" for n, vector in enumerate(vectors) if _holds(content, vector)]
            if here:
                found[path.name] = here
    return found


def _holds(content: bytes, vector: np.ndarray) -> bool:
    """Whether four consecutive numbers of the vector are in the content, within Chroma's rounding."""
    start = int(np.argmax(np.abs(vector[: len(vector) - 4])))
    wanted = vector[start : start + 4]
    for shift in range(4):
        length = (len(content) - shift) // 4 * 4
        numbers = np.frombuffer(content[shift : shift + length], np.float32)
        with np.errstate(invalid="ignore", over="ignore"):
            near = np.flatnonzero(np.abs(numbers - wanted[0]) < 1e-6)
            near = near[near + 4 <= len(numbers)]
            if any(np.allclose(numbers[at : at + 4], wanted, atol=1e-6) for at in near[:100_000]):
                return True
    return struct.pack("<4f", *wanted) in content
