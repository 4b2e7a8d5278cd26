"""Jobs with a catalog of their own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from store.jobs import jobs
from tests.store.jobs.harness import JobHarness


@pytest.fixture
def harness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[JobHarness]:
    monkeypatch.setattr(jobs, "_TIMEOUT", 60.0)  # the machine may be busy
    harness = JobHarness(tmp_path)
    yield harness
    harness.jobs.close()
    harness.catalog.close()
