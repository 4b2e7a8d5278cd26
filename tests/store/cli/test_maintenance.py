"""The doctor, the model, its vectors, and backups."""

import json
from pathlib import Path

import pytest

from store.chroma.collections import own_files
from store.disk.layout import Layout
from store.embedding import open_embedder
from store.reading.reader import Reader
from store.runtime import open_library, open_reader
from tests.store.cli.program import CAPTIONED, KEPT, PENDING, Run, caption, tier
from tests.store.invariants import chroma_agrees_with_the_sidecars


def test_doctor_exits_with_1_and_names_the_problem(run: Run, root: Path) -> None:
    Layout(root).image("library", KEPT).unlink()
    done = run("doctor", "--json")
    assert done.returncode == 1
    assert KEPT in {finding["address"] for finding in json.loads(done.stdout)["findings"]}


@pytest.mark.parametrize("repair", [[], ["--repair"]])
def test_doctor_does_not_find_a_missing_library_well(run: Run, tmp_path: Path, repair: list[str]) -> None:
    done = run("doctor", *repair)
    message = f"there is no library in {tmp_path / 'res'} (import makes one, --root names another place)\n"
    assert (done.returncode, done.stderr) == (1, message)
    assert json.loads(run("doctor", "--json").stdout)["well"] is False
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_doctor_changes_nothing_without_the_repair_flag(run: Run, root: Path) -> None:
    layout = Layout(root)
    for path in own_files(layout.chroma):
        path.unlink()
    sidecar = layout.sidecar("library", KEPT)
    sidecar.write_text(
        sidecar.read_text(encoding="utf-8").replace("to the moon", "to Mars"), encoding="utf-8"
    )
    before = everything_in(layout)
    found = {each["what"]: each["address"] for each in json.loads(run("doctor", "--json").stdout)["findings"]}
    assert found == {"its files were changed outside the program": KEPT, "Chroma's files are gone": ""}
    assert everything_in(layout) == before
    assert run("doctor", "--repair").returncode == 0
    assert caption(root, KEPT)["context"] == "to Mars"
    chroma_agrees_with_the_sidecars(root, open_embedder("offline"))


@pytest.mark.slow
def test_doctor_reports_an_interrupted_change_without_finishing_it(
    run: Run, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object) -> None:
        raise SystemExit

    with open_library(root) as library:
        monkeypatch.setattr(library._journal, "_apply", die)
        with pytest.raises(SystemExit):
            library.approve([PENDING])
    for _ in "twice":
        done = run("doctor", "--json")
        assert [each["address"] for each in json.loads(done.stdout)["findings"]] == [PENDING]
    assert PENDING in run("list", "--tier", "approved").stdout
    assert run("doctor").returncode == 0


def everything_in(layout: Layout) -> dict[Path, bytes]:
    """The content of every file of the library; for the catalog, the rows about records."""
    files = [path for path in layout.memecoins.rglob("*") if path.is_file()]
    content = {path: path.read_bytes() for path in files if not path.name.startswith(("catalog.", "writer."))}
    with Reader(layout.root) as reader, reader.catalog.reading() as db:
        rows = [
            tuple(row)
            for table in ("records", "history", "chroma_queue")
            for row in db.execute(f"SELECT * FROM {table}")
        ]
    return {**content, layout.catalog: repr(rows).encode()}


def test_doctor_repairs_a_damaged_catalog_and_a_missing_sidecar(run: Run, root: Path) -> None:
    assert run("approve", PENDING).returncode == 0  # a command that writes keeps the copy of the day
    with Layout(root).catalog.open("r+b") as catalog:
        catalog.write(bytes(100))
    refused = run("history")
    assert refused.returncode == 1
    assert "doctor --repair" in refused.stderr
    sidecar = Layout(root).sidecar("library", KEPT)
    expected = sidecar.read_bytes()
    sidecar.unlink()
    assert run("doctor").returncode == 1
    repaired = run("doctor", "--repair")
    assert repaired.returncode == 0
    assert "the old one is kept as" in repaired.stderr
    assert sidecar.read_bytes() == expected
    assert "promote" in run("history").stdout
    assert run("doctor").returncode == 0


def test_a_backup_can_be_restored(run: Run, root: Path) -> None:
    before = json.loads(run("list", "--json").stdout)
    assert run("backup", "copy").returncode == 0
    run("delete", KEPT, CAPTIONED)
    done = run("restore-backup", "copy")
    assert done.returncode == 0, done.stderr
    assert "what was there before is kept in" in done.stderr
    assert json.loads(run("list", "--json").stdout) == before
    assert run("doctor").returncode == 0
    chroma_agrees_with_the_sidecars(root, open_embedder("offline"))


def test_a_damaged_backup_is_named_and_not_restored(run: Run, root: Path, tmp_path: Path) -> None:
    run("backup", "copy")
    Layout(tmp_path / "copy").sidecar("library", KEPT).write_text("{}")
    done = run("restore-backup", "copy")
    assert done.returncode == 1
    assert f"refused memecoins/rag_db/metadata/{KEPT}.json" in done.stderr
    assert tier(root, KEPT) == "library"


def test_forget_vectors_requires_yes_and_is_recorded_in_the_history(run: Run, root: Path) -> None:
    with open_library(root) as library, library.catalog.writing() as db:
        db.execute("INSERT INTO vectors SELECT 'old' || key, 'litellm:paid', vector FROM vectors LIMIT 2")
    models = json.loads(run("delete-vectors", "--json").stdout)["vectors"]["library"]
    assert [(one["model"], one["is_in_use"]) for one in models] == [
        ("offline", True),
        ("litellm:paid", False),
    ]
    preview = run("delete-vectors", "litellm:paid")
    assert (preview.returncode, "2 vectors, 6,144 bytes" in preview.stderr) == (1, True)
    assert run("delete-vectors", "offline", "--yes").returncode == 1, "questions are embedded with it"
    done = run("delete-vectors", "litellm:paid", "--yes", "--actor", "ann")
    assert done.returncode == 0
    with open_reader(root) as reader:
        assert [one.model for one in reader.vectors_by_model()] == ["offline"]
        event = reader.history()[0]
    assert (event.verb, event.address, event.actor) == ("forget vectors", "litellm:paid", "ann")
    assert event.reason == "2 vectors, 6,144 bytes"
