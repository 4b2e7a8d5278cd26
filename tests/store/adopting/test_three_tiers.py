"""A meme library of three tiers comes in whole: tiers, tags, categories, pictures and Chroma's vectors."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from store.adopting.systems import recognise
from store.catalog.filters import Filter
from store.disk.aside import KEPT
from store.errors import ModelUnavailable
from store.exporting import export
from store.importing import candidates
from store.jobs import Job
from store.library import Library
from store.maintenance import doctor
from store.runtime import open_library
from store.search.query import Part, Query
from store.tasks import adopt
from tests.store.conftest import address, normal_picture
from tests.store.embedding import small_clip
from tests.store.hashed import Hashed
from tests.store.other_systems import client_of, read_three_tier_library, three_tier_library, vector

CLIP = "openclip:ViT-L-14/openai"
COINS = range(3)


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """Two tiers beside a library of six coins, one sidecar in each as small as can be."""
    top = tmp_path / "other" / "memecoins"
    three_tier_library(tmp_path / "other", range(6))
    for tier, number in (("pending", 10), ("approved", 11)):
        (top / tier).mkdir()
        (top / tier / f"{address(number)}.jpg").write_bytes(normal_picture(number))
        (top / tier / f"{address(number)}.json").write_text(json.dumps({"ticker": "T", "tags": "dog;moon"}))
    return top


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with_library = open_library(tmp_path / "res", embedder=Hashed())
    yield with_library
    with_library.close()


def adopted(library: Library, path: Path, *, vectors: str = "") -> Job:
    (survey,) = recognise(path)
    job = adopt.start(library, [survey], vectors=vectors)
    assert library.jobs.wait(job.id, timeout=60)
    done = library.jobs.get(job.id)
    assert done
    assert done.state == "done", done.error
    return done


def files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_preview_counts_and_changes_nothing(other: Path) -> None:
    before = files(other)
    (survey,) = recognise(other.parent)
    assert {one.what: one.count for one in survey.found} == {
        "coins in review": 1, "approved coins": 1, "coins of the library": 6, "vectors of 768 numbers": 6,
    }  # fmt: skip
    assert survey.needs_model
    assert survey.refused == ()
    assert files(other) == before


@pytest.mark.slow
def test_everything_comes_in_and_the_source_stays_as_it_is(other: Path, library: Library) -> None:
    before = files(other)
    job = adopted(library, other, vectors=CLIP)
    assert files(other) == before
    assert library.counts() == {"pending": 1, "approved": 1, "library": 6, "trash": 0}
    record = library.get(address(3))
    assert record.tags == ["dog", "moon 3"]
    assert record.categories == ["animals", "space"]
    small = library.get(address(10))
    assert small.tags == ["dog", "moon"]
    assert small.sidecar["filled_in"] == ["token_name", "description", "created_at"]
    report = adopt.report_of(library, job)
    assert report
    assert len(report.taken) == 8
    assert (report.refused, report.reused, report.embedded) == ([], 18, 0)


@pytest.mark.slow
def test_vectors_of_a_model_that_is_not_here_compare_coins_and_refuse_texts(
    other: Path, library: Library
) -> None:
    adopted(library, other, vectors=CLIP)
    assert library.model == CLIP
    results = library.search(Query([Part(like=address(0))], weights={"image": 1}))
    assert len(results.hits) == 5
    expected = vector("meme_image_embeddings", 0) @ vector("meme_image_embeddings", 1)
    (found,) = [hit for hit in results.hits if hit.address == address(1)]
    assert found.facets["image"].cosine == pytest.approx(float(expected), abs=1e-6)
    with pytest.raises(ModelUnavailable, match="not on this machine"):
        library.search(Query([Part(text="a dog")]))


@pytest.mark.slow
def test_an_adoption_is_repeated_without_harm_and_undone_as_one_decision(
    other: Path, library: Library
) -> None:
    adopted(library, other, vectors=CLIP)
    again = adopt.report_of(library, adopted(library, other, vectors=CLIP))
    assert again
    assert (again.taken, len(again.present), again.refused) == ([], 8, [])
    library.undo()
    assert library.counts() == {"pending": 0, "approved": 0, "library": 0, "trash": 8}
    library.redo()
    assert library.counts() == {"pending": 1, "approved": 1, "library": 6, "trash": 0}


@pytest.mark.slow
def test_vectors_of_another_model_than_was_named_are_refused(
    other: Path, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "store.adopting.three_tiers.open_embedder", lambda name: Hashed(name=name, dimensions=768)
    )
    report = adopt.report_of(library, adopted(library, other, vectors=CLIP))
    assert report
    assert report.reused == 0
    assert "they are not of openclip" in report.refused[0].reason
    assert library.model == "hashed"
    assert len(library.search(Query([Part(text="dog")])).hits) == 6


def test_importing_the_folder_keeps_tiers_and_tags(other: Path, library: Library) -> None:
    done = library.add(candidates([other]), source="other")
    assert done.refused == []
    assert library.counts() == {"pending": 1, "approved": 1, "library": 6, "trash": 0}
    assert library.get(address(2)).tags == ["dog", "moon 2"]
    assert len(library.search(Query([Part(text="dog")])).hits) == 6


@pytest.mark.slow
@pytest.mark.usefixtures("chroma")
def test_a_root_that_was_opened_gets_its_tags_and_vectors_back(tmp_path: Path) -> None:
    root = tmp_path / "res"
    three_tier_library(root, range(4))
    library = open_library(root, embedder=Hashed())
    try:
        assert library.get(address(1)).tags == []
        assert library.wait_for_chroma(60)  # it moves the other program's files aside
        job = adopted(library, root, vectors=CLIP)
        assert library.get(address(1)).tags == ["dog", "moon 1"]
        assert library.model == CLIP
        report = adopt.report_of(library, job)
        assert report
        assert (report.reused, report.refused) == (12, [])
        (finding,) = (one for one in doctor.check(library) if not one.is_fault)
        assert finding.remedy == KEPT, "it was adopted, so it is not offered any more"
    finally:
        library.close()


@pytest.mark.slow
def test_what_was_adopted_and_used_goes_back_with_the_same_ids_texts_tags_and_vectors(
    other: Path, library: Library, tmp_path: Path
) -> None:
    adopted(library, other, vectors=CLIP)
    library.approve([address(10)])
    library.edit_tags([address(0)], add=["cat"])
    records = [
        record for tier in ("pending", "approved", "library") for record in library.find(Filter(tier=tier))
    ]
    back = tmp_path / "back"
    done = export(
        records, library.picture, destination=back, format="reference", vectors_of=library.stored_vectors
    )
    assert len(done.done) == 8
    before, after = read_three_tier_library(other), read_three_tier_library(back)
    assert after.ids == before.ids
    assert after.tags[address(0)] == "dog,moon 0,cat"
    del before.tags[address(0)], after.tags[address(0)]
    assert (after.tags, after.captions) == (before.tags, before.captions)
    assert before.vectors.keys() == after.vectors.keys()
    for key, row in before.vectors.items():
        assert np.abs(row - after.vectors[key]).max() <= 1e-6
    assert (back / "approved" / f"{address(10)}.json").is_file()
    (survey,) = recognise(back)
    assert "vectors of 768 numbers" in [one.what for one in survey.found]


@pytest.fixture(scope="module")
def made_by_open_clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
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


@pytest.mark.slow  # importing PyTorch takes seconds
@pytest.mark.usefixtures("without_chroma")
def test_vectors_by_open_clip_agree_with_a_sample_and_are_all_reused(
    library: Library, made_by_open_clip: Path
) -> None:
    name = f"openclip:{small_clip.SMALL}@{made_by_open_clip / 'clip.pt'}"
    report = adopt.report_of(library, adopted(library, made_by_open_clip, vectors=name))
    assert report
    assert (report.reused, report.refused) == (2 * len(COINS), [])
    assert library.model == name
    asked = Query([Part(text="a dog with 1 hats")], weights={"entity": 1})
    assert library.search(asked).hits[0].facets["entity"].cosine == pytest.approx(1, abs=1e-3)


@pytest.mark.slow  # importing PyTorch takes seconds
@pytest.mark.usefixtures("without_chroma")
def test_vectors_by_other_weights_of_that_model_are_refused(
    library: Library, made_by_open_clip: Path, tmp_path: Path
) -> None:
    weights = small_clip.write(tmp_path / "clip.pt", seed=2)
    report = adopt.report_of(
        library, adopted(library, made_by_open_clip, vectors=f"openclip:{small_clip.SMALL}@{weights}")
    )
    assert report
    assert report.reused == 0
    assert "computed again, differs by" in report.refused[0].reason
    assert library.model == "hashed"
