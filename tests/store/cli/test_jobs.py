"""The command `jobs`."""

import json
from pathlib import Path

import pytest

from store.runtime import open_library
from tests.store.cli.program import Run


@pytest.mark.parametrize("action", ["cancel", "resume", "retry"])
def test_an_unknown_job_is_named(run: Run, root: Path, action: str) -> None:
    done = run("jobs", action, "99")
    assert (done.returncode, done.stderr) == (1, "jobs: there is no job 99; `jobs` lists those there are\n")


def test_only_a_job_that_has_not_ended_can_be_cancelled(run: Run, root: Path) -> None:
    with open_library(root) as library:
        ended = library.jobs.run("Add", lambda _: 1).id
        assert library.jobs.wait(ended, timeout=60)
    done = run("jobs", "cancel", ended)
    assert (done.returncode, done.stderr) == (1, f"jobs: job {ended} has ended\n")
    assert [job["state"] for job in json.loads(run("jobs", "--json").stdout)] == ["done"]
