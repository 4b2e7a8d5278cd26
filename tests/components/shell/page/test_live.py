"""What a page takes for up to date."""

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from components.shell.page import live
from components.shell.server import current_state
from components.shell.session import session
from store.library import Library
from store.progress import Progress
from store.tasks import models


def test_a_page_is_out_of_date_if_a_job_ends_while_it_runs(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "st", SimpleNamespace(session_state={}))
    parts: dict[str, dict[str, Any]] = {}
    monkeypatch.setattr(live, "_mount", lambda _, part, *, shown, **__: parts.update({part: shown}))
    may_end = threading.Event()

    def work(progress: Progress) -> None:
        may_end.wait()

    job = library.jobs.run("Import tokens", work)
    generation = library.generation
    session.begin(library)
    may_end.set()
    library.jobs.wait(job.id)
    live.jobs(library, are_bars_drawn=True)
    live.records(library, with_findings=False)
    assert parts == {"bars": {"jobs": f"{job.id} #{job.id}"}, "records": {"generation": generation}}


def test_a_page_is_out_of_date_if_a_job_begins_and_ends_while_it_runs(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "st", SimpleNamespace(session_state={}))
    session.begin(library)
    library.jobs.wait(library.jobs.run("Import tokens", lambda progress: None).id)
    assert session.beginning().jobs != current_state.read(library)["jobs"]


def test_pages_are_not_run_again_for_what_the_program_begins_by_itself(library: Library) -> None:
    before = current_state.read(library)["jobs"]
    job = library.jobs.start(models.READ_PICTURES.name, [("0" * 64, "nobody")], name="Read text in 1 picture")
    under_way = current_state.read(library)
    library.jobs.wait(job.id)
    assert {under_way["jobs"], current_state.read(library)["jobs"]} == {before}
    assert all(bar["quiet"] for bar in under_way["bars"]), "only the page Jobs shows it"
