"""Imports, logos, the watched folder, and what other programs left."""

import csv
import json
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from store import close_all
from store.catalog.filters import Filter
from store.cli import exchange
from store.progress import Progress
from store.reading.reader import Reader
from store.writing import trash
from tests.store.cli.program import APPROVED, PENDING, Run, run_in_process
from tests.store.conftest import address, picture
from tests.store.other_systems import three_tier_library, transcript_database


@pytest.mark.usefixtures("root")
def test_the_inbox_command_imports_each_file_once(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "EVERY", 0.0)
    (tmp_path / "inbox").mkdir()
    (tmp_path / "inbox" / "doge.png").write_bytes(picture(77))
    (tmp_path / "inbox" / "notes.txt").write_bytes(b"words")
    done = run_in_process("inbox", folder=tmp_path, MEMEDEX_INBOX=str(tmp_path / "inbox"))
    assert done.returncode == 1
    assert "added 1, already there 0, refused 1" in done.stderr
    assert run("inbox", "--folder", tmp_path / "inbox").stderr.startswith(
        "added 0, already there 0, refused 0"
    )
    assert run("inbox").returncode == 2


def test_a_preview_changes_nothing_and_says_what_a_choice_would_bring(run: Run, tmp_path: Path) -> None:
    folder, root = tmp_path / "frogs", tmp_path / "new"
    folder.mkdir()
    (folder / "a.png").write_bytes(picture(1))
    (folder / "t.csv").write_text("Abbild,Kürzelchen\na.png,FROG\n", encoding="cp1252")
    shown = run("import", folder, "--preview", "--root", root)
    assert shown.returncode == 1
    assert "no column is called address" in shown.stderr
    assert not root.exists()
    choice = ("--field", "Abbild=picture", "--field", "Kürzelchen=ticker")
    shown = run("import", folder, "--preview", *choice, "--root", root)
    assert shown.returncode == 0, shown.stderr
    assert "CSV table, 1 file: 1 coin (frogs/t.csv)" in shown.stderr
    assert "1 read as Windows-1252" in shown.stderr
    kinds = json.loads(run("import", folder, "--preview", *choice, "--root", root, "--json").stdout)
    assert kinds[0]["example"]["ticker"] == "FROG"
    done = run("import", folder, *choice, "--root", root)
    assert "added 1" in done.stderr
    assert "“frogs/t.csv” is read as Windows-1252" in done.stderr
    assert run("import", folder, "--field", "Bild=nothing", "--root", root).returncode == 2


class _Pictures(SimpleHTTPRequestHandler):
    def do_GET(self) -> None:
        content = picture(int(self.path.strip("/").removesuffix(".png")))
        self.send_response(200 if self.path != "/51.png" else 404)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


@pytest.mark.usefixtures("root")
def test_fetch_logos_imports_logos_and_reports_failures(run: Run, tmp_path: Path) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Pictures)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    tokens = [
        {
            "chainId": 1,
            "address": address(number),
            "name": f"Coin {number}",
            "symbol": "C",
            "logoURI": f"http://127.0.0.1:{server.server_port}/{number}.png",
        }
        for number in (50, 51)
    ]
    path = tmp_path / "list.json"
    path.write_text(json.dumps({"name": "list", "tokens": tokens}))
    try:
        assert "lies on the network" not in run("fetch-logos", path).stderr
        done = run_in_process("fetch-logos", "--json", folder=tmp_path, MEMEDEX_FETCH_PRIVATE="1")
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    assert done.returncode == 1
    assert json.loads(done.stdout)["fetched"] == 1
    assert "404" in done.stderr
    with Reader(tmp_path / "res") as reader:
        assert address(50) in reader.addresses(Filter(tier="pending"))


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
    close_all()  # as the program does when it ends


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
