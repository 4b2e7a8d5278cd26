"""Sidecars edited outside the program are applied or reported; the library always opens."""

import json
from pathlib import Path

import pytest

from store.disk.layout import Layout
from store.runtime import open_library
from tests.store.conftest import address, coin
from tests.store.hashed import Hashed


def text_of(number: int) -> str:
    return json.dumps({**coin(number).sidecar, "token_name": "Étoile, by hand"}, ensure_ascii=False)


@pytest.mark.parametrize(
    "content",
    [
        text_of(1).encode("utf-16"),
        text_of(1).encode("utf-32"),
        text_of(1).encode("utf-8-sig"),
        text_of(1).encode("latin-1"),
        b"",
        b"\0" * 100,
        b"[" * 100_000,
        json.dumps({**coin(1).sidecar, "token_name": "\ud800"}).encode(),
        json.dumps({**coin(1).sidecar, "score": float("nan")}).encode(),
    ],
    ids=[
        "UTF-16",
        "UTF-32",
        "byte order mark",
        "Latin-1",
        "empty",
        "zeros",
        "deep",
        "unpaired surrogate",
        "NaN",
    ],
)
def test_a_sidecar_that_is_not_utf_8_json_is_reported_and_others_still_load(
    root: Path, content: bytes
) -> None:
    with open_library(root, embedder=Hashed()):
        open_library(root).add([coin(1), coin(2)])
    Layout(root).sidecar("pending", address(1)).write_bytes(content)
    with open_library(root, embedder=Hashed()) as library:
        (fault,) = library.status().faults
        assert fault.startswith(address(1))
        assert library.get(address(1)).name == "Coin 1"
        assert library.get(address(2)).name == "Coin 2"


def test_a_sidecar_edited_by_hand_replaces_the_stored_values(root: Path) -> None:
    with open_library(root, embedder=Hashed()):
        open_library(root).add([coin(1)])
    Layout(root).sidecar("pending", address(1)).write_text(text_of(1), encoding="utf-8")
    with open_library(root, embedder=Hashed()) as library:
        assert library.get(address(1)).name == "Étoile, by hand"
        assert library.history(address=address(1))[0].actor == "outside the program"
