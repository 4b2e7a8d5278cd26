"""A job watched from another page, in a real browser: it continues without the tab that started it."""

import json
import shutil
from pathlib import Path

from playwright.sync_api import Page, expect

from store.runtime import open_library
from store.tasks.export import destination, start
from tests.browser.coins import UNCAPTIONED
from tests.browser.conftest import Serve
from tests.browser.dashboard import visit
from tests.store.language_model_server import GOOD, Answer, running, says
from tests.waiting import eventually


def test_a_job_is_visible_on_other_pages_and_survives_its_tab_and_the_server(
    page: Page, seed: Path, tmp_path: Path, serve: Serve
) -> None:
    root = shutil.copytree(seed, tmp_path / "res")
    with running() as model:
        model.answers = [Answer(silent=True), says(json.dumps(GOOD))]
        settings = {
            "MEMEDEX_CAPTION_MODEL": "openai/gpt-4o-mini",
            "MEMEDEX_CAPTION_API_BASE": model.address,
            "OPENAI_API_KEY": "none",
        }
        server = serve(root, **settings)
        other = page.context.new_page()
        visit(other, server, "activity?view=Jobs", title="Activity")
        page.bring_to_front()  # a background tab checks for changes only once a minute
        visit(page, server, "captions?view=AI+drafts", title="Captions")
        page.get_by_role("button", name="Draft 1 coin").click()
        assert eventually(lambda: bool(model.requests))
        other.bring_to_front()
        expect(other.get_by_role("button", name="Pause")).to_be_visible()
        page.bring_to_front()
        visit(page, server, "activity", title="Activity")
        expect(page.get_by_role("button", name="Pause")).to_be_visible()
        page.close()
        server.kill()

        again = serve(root, **settings)
        visit(other, again, "activity?view=Jobs", title="Activity")
        expect(other.get_by_text("1 of 1 done")).to_be_visible()
        expect(other.get_by_role("button", name="Continue")).to_have_count(0)
        with again.stored() as library:
            assert [one.facet for one in library.suggestions.of(UNCAPTIONED.address)].count("entity") == 1


def test_an_interrupted_job_resumes_before_anybody_opens_a_page(
    seed: Path, tmp_path: Path, serve: Serve
) -> None:
    root = shutil.copytree(seed, tmp_path / "res")
    library = open_library(root)
    job = start(library, [UNCAPTIONED.address], format="jsonl")
    assert library.jobs.wait(job.id, timeout=60)
    place = destination(library.layout, job)
    place.unlink()
    with library.catalog.writing() as db:  # the state after a kill during the job
        db.execute("UPDATE jobs SET state = 'running', done = 0")
        db.execute("UPDATE job_items SET state = 'waiting'")
    library.close()
    with serve(root).stored() as stored:

        def is_done() -> bool:
            found = stored.jobs.get(job.id)
            return found is not None and found.state == "done"

        assert eventually(is_done, within=60)
    assert place.exists()
