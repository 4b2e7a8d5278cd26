"""A new version of the model embeds the library again by itself, as a job."""

from pathlib import Path

import pytest

from store.embedding import reembed
from store.embedding.protocol import described
from store.runtime import open_library
from store.tasks import switch_model
from tests.store.conftest import create_in_tier
from tests.store.hashed import Hashed
from tests.waiting import eventually

pytestmark = pytest.mark.usefixtures("without_chroma")


class NewVersion(Hashed):
    """The same model with other pictures' vectors."""

    fingerprint = "hashed 2"


def test_a_new_version_of_the_model_embeds_the_library_again_once(root: Path) -> None:
    with open_library(root, embedder=Hashed()) as library:
        create_in_tier(library, "library", 1, 2)
    with open_library(root, embedder=NewVersion()) as library:
        library.work_in_background()
        assert eventually(lambda: [job.state for job in library.jobs.all()] == ["done"])
        assert library.jobs.all()[0].name == "Embed with the new version of hashed"
        assert reembed.incomplete(library.catalog, library.layout, library.embedder) == []
        switch_model.start_if_outdated(library)
        assert len(library.jobs.all()) == 1


def test_jobs_name_the_built_in_model_as_the_pages_do() -> None:
    assert described("offline") == "the built-in model"
    assert described("openclip:ViT-L-14/openai") == "openclip:ViT-L-14/openai"
