"""The taxonomy: coins follow an edited file, and a viewer changes nothing."""

from store.library import Library
from store.tasks import tags as tags_task
from tests.pages.conftest import finish_jobs, opened, rerun, send, sendable, words


def test_coins_are_updated_to_an_edited_taxonomy_file(library: Library) -> None:
    (library.layout.root / "taxonomy.json").write_text('{"dog": "hounds"}')
    behind = len(tags_task.straying(library, library.taxonomy))
    assert behind
    app = send(opened("settings", section="Tags"), "follow-taxonomy")
    finish_jobs()
    assert tags_task.straying(library, library.taxonomy) == []
    assert "do not follow" not in words(rerun(app))


def test_a_viewer_sees_tags_and_taxonomy_but_cannot_change_them(library: Library) -> None:
    app = opened("settings", section="Tags", reading_only=True)
    assert sendable() == []
    assert len(app.dataframe) == 2
