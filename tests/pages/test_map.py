"""The page Map."""

import pytest

from components.map import view
from store.library import Library
from store.progress import Progress
from store.settings import settings
from store.tasks import models
from tests.browser.coins import FROG
from tests.pages.conftest import finish_jobs, opened, press, rerun, sendable, words
from tests.waiting import eventually


def test_the_map_of_a_viewer_has_no_button_that_changes_anything(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMEDEX_VIEWERS", "tester")
    settings.cache_clear()
    app = opened("search?view=Map", map_by="t-SNE")
    assert "has not been computed yet" in words(app)
    assert not library.jobs.all()
    assert "Recompute layout" not in [button.label for button in app.button]


def test_a_query_shows_only_the_best_matches_on_the_map(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view, "_BEST", (2, 1_000))
    assert "2 coins that answer this best" in words(opened("search?view=Map", q=FROG.entity))
    assert "answer this best" not in words(opened("search?view=Map", q="tag:frog"))


def test_a_cancelled_or_impossible_layout_is_not_restarted_automatically(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    def until_stopped(*_: object, progress: Progress) -> None:
        assert eventually(lambda: progress.cancelled)

    with monkeypatch.context() as patched:
        patched.setattr(models, "tsne_map", until_stopped)
        assert "at least 3 coins" in words(opened("search?view=Map", map_of="emotions", map_by="t-SNE"))
        assert not library.jobs.all()
        job = library.jobs.start("map", name="arrange", options={"space": "fused"})
        library.jobs.cancel(job.id)
        assert library.jobs.wait(job.id, timeout=60)
        app = opened("search?view=Map", map_by="t-SNE")
        assert "was stopped" in words(app)
        assert [job.state for job in library.jobs.all()] == ["cancelled"]
    press(app, "Compute layout")
    finish_jobs()
    assert library.maps.of("fused", "tsne") is not None


def test_the_tsne_layout_is_computed_when_it_is_first_opened(library: Library) -> None:
    app = opened("search?view=Map", map_by="t-SNE")
    finish_jobs()
    rerun(app)
    assert library.maps.of("fused", "tsne") is not None
    assert "compute-map-fused" in sendable()
