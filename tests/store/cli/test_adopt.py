"""`adopt`: a dry run counts, the real one leaves a report; `empty-trash` names what goes."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from store.progress import Progress
from store.writing import trash
from tests.store.cli.program import APPROVED, PENDING, Run
from tests.store.conftest import address
from tests.store.other_systems import three_tier_library, transcript_database

CLIP = "openclip:ViT-L-14/openai"


@pytest.mark.slow
def test_a_dry_run_counts_and_the_real_one_leaves_a_report(run: Run, root: Path, tmp_path: Path) -> None:
    three_tier_library(tmp_path / "other", range(20, 23))
    dry = run("adopt", tmp_path / "other", "--dry-run", "--json")
    assert dry.returncode == 0
    (survey,) = json.loads(dry.stdout)
    assert (survey["system"], survey["needs_model"]) == ("reference-1", True)
    assert {one["what"]: one["count"] for one in survey["found"]}["coins of the library"] == 3
    done = run("adopt", tmp_path / "other", "--vectors", CLIP, "--report", tmp_path / "r.csv")
    assert done.returncode == 0, done.stderr
    assert "imported 3, already there 0, refused 0" in done.stderr
    assert "vectors reused 9" in done.stderr
    rows = list(csv.DictReader((tmp_path / "r.csv").read_text().splitlines()))
    assert {row["item"]: row["state"] for row in rows} == {address(n): "taken" for n in range(20, 23)}
    assert run("undo").returncode == 0


@pytest.mark.slow
def test_a_folder_with_several_systems_is_said_to_be_one_decision_and_undone_by_its_path(
    run: Run, root: Path, tmp_path: Path
) -> None:
    three_tier_library(tmp_path / "other", range(20, 22))
    transcript_database(tmp_path / "other" / "s.db", ["How do I deploy?"])
    done = run("adopt", tmp_path / "other")
    assert "These 2 systems are one decision" in done.stderr
    assert "imported 3, already there 0, refused 0" in done.stderr
    undone = run("adopt", tmp_path / "other", "--undo", "--json")
    assert (undone.returncode, len(json.loads(undone.stdout)["done"])) == (0, 3)


def test_what_is_no_systems_data_and_wrong_names_are_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert "nothing that is known" in run("adopt", tmp_path / "empty").stderr
    assert "there is nothing at" in run("adopt", tmp_path / "nowhere").stderr
    assert "known are reference-1" in run("adopt", tmp_path / "empty", "--as", "x").stderr
    three_tier_library(tmp_path / "other", range(1))
    refused = run("adopt", tmp_path / "other", "--vectors", "magic")
    assert refused.returncode == 1
    assert "a name begins with openclip" in refused.stderr


def test_empty_trash_names_files_and_bytes_and_waits_for_yes(run: Run, root: Path) -> None:
    run("reject", PENDING)
    preview = run("empty-trash")
    assert preview.returncode == 1
    assert "1 coins, 2 files," in preview.stderr
    assert "there is nothing to delete" in run("empty-trash", "--older-than", "1").stderr
    assert run("empty-trash", "--yes").returncode == 0
    assert not list((root / "memecoins" / "trash").iterdir())


def test_empty_trash_that_is_stopped_names_only_what_is_gone(
    run: Run, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("reject", PENDING, APPROVED)
    empty = trash.Trash.empty

    def stopped(self: trash.Trash, *, progress: Progress, **rest: Any) -> trash.TrashContents:
        monkeypatch.setattr(self._catalog._disk, "_before", lambda name, _: progress.cancel())
        return empty(self, progress=progress, **rest)

    monkeypatch.setattr(trash, "_BATCH", 1)
    monkeypatch.setattr(trash.Trash, "empty", stopped)
    done = run("empty-trash", "--yes", "--json")
    assert "deleted for good: 1 coins, 2 files," in done.stderr
    answer = json.loads(done.stdout)
    assert (answer["found"], answer["files"], len(answer["deleted"])) == (2, 2, 1)
    assert not list((root / "memecoins" / "trash").glob(f"{answer['deleted'][0]}.*"))
