"""The command `jobs`."""

import json
from pathlib import Path

from store.runtime import open_library
from tests.store.cli.program import PENDING, Run, tier
from tests.store.faulty_disk import not_writable


def test_only_a_job_that_has_not_ended_can_be_cancelled(run: Run, root: Path) -> None:
    with open_library(root) as library:
        ended = library.jobs.run("Add", lambda _: 1).id
        assert library.jobs.wait(ended, timeout=60)
    done = run("jobs", "cancel", ended)
    assert (done.returncode, done.stderr) == (1, f"jobs: job {ended} has ended\n")
    assert [job["state"] for job in json.loads(run("jobs", "--json").stdout)] == ["done"]


def test_a_job_that_waits_for_the_disk_says_why_and_ends_the_command(run: Run, root: Path) -> None:
    with open_library(root) as library:
        library.jobs._runner.close()  # type: ignore[union-attr]  the job is only stored, not run
        job = library.jobs._repository.add("move", "Approve", [PENDING], {"verb": "approve"}, actor="ann")
        folder = library.layout.sidecar_folder("approved")
    with not_writable(folder):
        waits = run("jobs", "resume", job)
    assert waits.returncode == 1
    assert f"job {job}: waiting, 0 of 1 done" in waits.stderr
    assert "is decided but waits" in waits.stderr
    assert f"job {job} goes on when the dashboard opens, or with `jobs resume {job}`" in waits.stderr
    done = run("jobs", "resume", job)
    assert (done.returncode, f"job {job}: done, 1 of 1 done" in done.stderr) == (0, True)
    assert tier(root, PENDING) == "approved"
