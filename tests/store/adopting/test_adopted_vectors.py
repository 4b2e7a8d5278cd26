"""Vectors that open_clip made are taken over after a sample of them was computed again."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from PIL import Image

from store.adopting.report import AdoptionReport
from store.adopting.systems import recognise
from store.library import Library
from store.runtime import open_library
from store.search.query import Part, Query
from store.tasks import adopt
from tests.store.conftest import address, normal_picture
from tests.store.embedding import small_clip
from tests.store.hashed import Hashed
from tests.store.references import client_of

COINS = range(3)

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("without_chroma")]  # importing PyTorch takes seconds


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library of three tiers whose pictures and captions were embedded with open_clip alone."""
    top = tmp_path_factory.mktemp("other")
    weights = small_clip.write(top / "clip.pt")
    import open_clip
    import torch

    model, _, preprocess = open_clip.create_model_and_transforms(small_clip.SMALL, pretrained=str(weights))
    model.eval()
    folder = top / "memecoins" / "rag_db"
    for name in ("images", "metadata"):
        (folder / name).mkdir(parents=True)
    entities = [f"a dog with {number} hats" for number in COINS]
    for number in COINS:
        (folder / "images" / f"{address(number)}.jpg").write_bytes(normal_picture(number))
        caption = {"entity": entities[number], "context": f"joke {number}"}
        sidecar = {
            "token_name": f"Coin {number}", "ticker": f"C{number}", "description": "", "created_at": 1.7e9,
            "token_address": address(number), "caption": caption,
        }  # fmt: skip
        (folder / "metadata" / f"{address(number)}.json").write_text(json.dumps(sidecar))
    pictures = [Image.open(folder / "images" / f"{address(n)}.jpg").convert("RGB") for n in COINS]
    with torch.inference_mode():
        rows = {
            "meme_image_embeddings": model.encode_image(
                torch.stack([preprocess(one) for one in pictures]), normalize=True
            ),
            "entity_caption_embeddings": model.encode_text(
                open_clip.get_tokenizer(small_clip.SMALL)(entities), normalize=True
            ),
        }
    with closing(client_of(folder)) as client:
        for name, vectors in rows.items():
            collection = client.get_or_create_collection(name, metadata={"hnsw:space": "cosine"})
            collection.add(ids=[address(number) for number in COINS], embeddings=vectors.numpy())
    return top


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with closing(open_library(tmp_path / "res", embedder=Hashed())) as library:
        yield library


def adopted(library: Library, other: Path, *, vectors: str) -> AdoptionReport:
    job = adopt.start(library, recognise(other), vectors=vectors)
    assert library.jobs.wait(job.id, timeout=60)
    done = library.jobs.get(job.id)
    assert done
    assert done.state == "done", done.error
    report = adopt.report_of(library, done)
    assert report
    return report


def test_vectors_by_open_clip_agree_with_a_sample_and_are_all_reused(library: Library, other: Path) -> None:
    name = f"openclip:{small_clip.SMALL}@{other / 'clip.pt'}"
    report = adopted(library, other, vectors=name)
    assert (report.reused, report.refused) == (2 * len(COINS), [])
    assert library.model == name
    asked = Query([Part(text="a dog with 1 hats")], weights={"entity": 1})
    assert library.search(asked).hits[0].facets["entity"].cosine == pytest.approx(1, abs=1e-3)


def test_vectors_by_other_weights_of_that_model_are_refused(
    library: Library, other: Path, tmp_path: Path
) -> None:
    weights = small_clip.write(tmp_path / "clip.pt", seed=2)
    report = adopted(library, other, vectors=f"openclip:{small_clip.SMALL}@{weights}")
    assert report.reused == 0
    assert "computed again, differs by" in report.refused[0].reason
    assert library.model == "hashed"
