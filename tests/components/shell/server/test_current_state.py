"""Jobs in words."""

from dataclasses import replace

import pytest

from components.shell.server import current_state
from store.jobs.job import EPHEMERAL
from store.library import Library


@pytest.mark.parametrize(
    ("kind", "line", "figures"),
    [
        ("promote", "Work · 473 of 613", "473 of 613 done"),
        ("map", "Work · 77%", "77% done"),
        (EPHEMERAL, "Work · 77%", "77% done"),
    ],
)
def test_steps_are_not_counted_as_if_they_were_coins(
    library: Library, kind: str, line: str, figures: str
) -> None:
    begun = library.jobs.run("Work", lambda _: None)
    library.jobs.wait(begun.id, timeout=60)
    job = replace(library.jobs.get(begun.id), kind=kind, state="paused", done=473, total=613, refused=0)
    assert current_state.job_line(job).startswith(line)
    assert current_state.job_figures(job).startswith(figures)


def test_a_job_that_waits_for_the_disk_says_why(library: Library) -> None:
    begun = library.jobs.run("Work", lambda _: None)
    library.jobs.wait(begun.id, timeout=60)
    job = replace(library.jobs.get(begun.id), state="waiting", error="no space left")
    assert current_state.job_line(job) == "Work · waiting: no space left"
    assert current_state.job_line(replace(job, error="")) == "Work · waiting for its turn"
