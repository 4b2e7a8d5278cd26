"""An adoption that is killed continues where it stopped, as the same decision."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from store.catalog.catalog import Catalog
from store.disk.files import Disk
from store.runtime import open_library
from store.tasks import adopt
from tests.store.conftest import address
from tests.store.hashed import Hashed
from tests.store.other_systems import three_tier_library
from tests.waiting import eventually

pytestmark = pytest.mark.kills
PROGRAM = Path(__file__).resolve().parents[3]
COUNT = 200
ADOPT = """
import sys
from pathlib import Path
from store.adopting.systems import recognise
from store.chroma.follower import ChromaFollower
from store.runtime import open_library
from store.tasks import adopt
from tests.store.hashed import Hashed
ChromaFollower.wake = lambda self: None
library = open_library(Path(sys.argv[1]), embedder=Hashed())
print("going", flush=True)
job = adopt.start(library, recognise(Path(sys.argv[2])), vectors="openclip:ViT-L-14/openai")
library.jobs.wait(job.id)
print("done", flush=True)
"""


def test_a_killed_adoption_continues_as_one_decision(tmp_path: Path) -> None:
    root, other = tmp_path / "res", tmp_path / "other"
    three_tier_library(other, range(COUNT))

    def has_begun() -> bool:
        catalog = Catalog(root / "memecoins" / "catalog.sqlite3", disk=Disk(), writable=False)
        try:
            with catalog.reading() as db:
                return bool(db.execute("SELECT 1 FROM history").fetchone())
        finally:
            catalog.close()

    command = [sys.executable, "-c", ADOPT, str(root), str(other)]
    with subprocess.Popen(command, cwd=PROGRAM, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "going\n"
        assert eventually(has_begun, every=0.002)
        os.kill(process.pid, signal.SIGKILL)
        assert "done" not in process.stdout.read()
    library = open_library(root, embedder=Hashed())
    try:
        assert 0 < library.counts()["library"] < COUNT
        library.jobs.resume_interrupted()
        (job,) = library.jobs.all()
        assert library.jobs.wait(job.id, timeout=60)
        report = adopt.report_of(library, job)
        assert report
        assert sorted(report.taken) == sorted(address(number) for number in range(COUNT))
        assert (report.present, report.refused, report.reused) == ([], [], 3 * COUNT)
        library.undo()
        assert library.counts()["trash"] == COUNT
    finally:
        library.close()
