"""Commands that read: list, show, history and export."""

import json
from pathlib import Path

import pytest

from store.disk.layout import Layout
from store.reading.reader import Reader
from tests.store.cli.program import ALSO_KEPT, APPROVED, CAPTIONED, KEPT, NOWHERE, PENDING, Run


def tier(root: Path, key: str) -> str:
    with Reader(root) as reader:
        return reader.get(key).tier


# -- list and show -----------------------------------------------------------------------------------------


def test_list_prints_each_sidecar_with_its_tier(run: Run, root: Path) -> None:
    listed = json.loads(run("list", "--json").stdout)
    assert {record["token_address"]: record["tier"] for record in listed} == {
        PENDING: "pending",
        APPROVED: "approved",
        CAPTIONED: "approved",
        KEPT: "library",
        ALSO_KEPT: "library",
    }
    (kept,) = (record for record in listed if record["token_address"] == KEPT)
    sidecar = json.loads(Layout(root).sidecar("library", KEPT).read_text())
    assert kept == {**sidecar, "tier": "library"}


def test_list_filters_by_tier(run: Run, root: Path) -> None:
    listed = json.loads(run("list", "--tier", "approved", "--json").stdout)
    assert {record["token_address"] for record in listed} == {APPROVED, CAPTIONED}


def test_list_filters_by_words(run: Run, root: Path) -> None:
    listed = json.loads(run("list", "--words", "frog", "--json").stdout)
    assert [record["token_address"] for record in listed] == [CAPTIONED]


def test_list_accepts_the_line_of_the_pages(run: Run, root: Path) -> None:
    def listed(*given: str) -> set[str]:
        return {record["token_address"] for record in json.loads(run("list", "--json", *given).stdout)}

    assert listed("frog OR has:visual") == {CAPTIONED, KEPT}
    assert listed("tag:dog NOT has:entity") == {PENDING, APPROVED}
    assert (
        listed("tier:library -has:visual") == listed("--tier", "library", "--", "-has:visual") == {ALSO_KEPT}
    )
    assert listed("--", "-has:entity") == {PENDING, APPROVED}
    assert listed("by:me tier:library", "--actor", "ann") == {KEPT, ALSO_KEPT}
    assert listed("by:me", "--actor", "bob") == set()


def test_list_refuses_a_line_that_it_does_not_understand(run: Run, root: Path) -> None:
    done = run("list", "frog tagg:dog", "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "Unknown filter 'tagg'. Did you mean tag:?" in done.stderr


def test_list_without_json_prints_a_table_with_full_addresses(run: Run, root: Path) -> None:
    lines = run("list").stdout.splitlines()
    assert lines[0].split() == ["ADDRESS", "TIER", "NAME", "TICKER", "CREATED", "CAPTION"]
    assert {line.split()[0] for line in lines[1:]} == {PENDING, APPROVED, CAPTIONED, KEPT, ALSO_KEPT}


@pytest.mark.parametrize("verb", [["list"], ["history"], ["search", "dog"]])
def test_reading_without_a_library_returns_and_creates_nothing(
    run: Run, tmp_path: Path, verb: list[str]
) -> None:
    done = run(*verb, "--json")
    assert done.returncode == 0
    answer = json.loads(done.stdout)
    assert (answer["hits"] if isinstance(answer, dict) else answer) == []
    assert list(tmp_path.iterdir()) == []


def test_show_prints_one_record(run: Run, root: Path) -> None:
    shown = json.loads(run("show", KEPT, "--json").stdout)
    assert (shown["token_name"], shown["tier"]) == ("Coin 3", "library")
    assert "a dog in a space suit" in run("show", KEPT).stdout


def test_show_reports_an_unknown_address(run: Run, root: Path) -> None:
    done = run("show", NOWHERE)
    assert (done.returncode, done.stdout) == (1, "")
    assert NOWHERE in done.stderr


def test_an_evm_address_may_be_written_in_capitals(run: Run, root: Path) -> None:
    assert APPROVED.startswith("0x")
    shown = run("show", f"0x{APPROVED[2:].upper()}", "--json")
    assert json.loads(shown.stdout)["token_address"] == APPROVED


# -- commands that move and change -------------------------------------------------------------------------


def test_the_history_contains_the_reason_of_a_rejection(run: Run, root: Path) -> None:
    run("reject", PENDING, "--reason", "a copy of PEPE")
    (event, *_) = json.loads(run("history", "--address", PENDING, "--json").stdout)
    assert (event["verb"], event["reason"]) == ("reject", "a copy of PEPE")
    assert (event["before_tier"], event["after_tier"], event["who"]) == ("pending", "trash", "ann")


# -- undo, redo, history -----------------------------------------------------------------------------------


def test_history_is_printed_newest_first(run: Run, root: Path) -> None:
    run("--actor", "bob", "approve", PENDING)
    events = json.loads(run("history", "--json", "--limit", 3).stdout)
    assert [event["verb"] for event in events] == ["approve", "promote", "promote"]
    assert (events[0]["token_address"], events[0]["who"]) == (PENDING, "bob")


# -- export, doctor, model, backup -------------------------------------------------------------------------


def test_an_export_can_be_imported_into_another_library(run: Run, root: Path, tmp_path: Path) -> None:
    assert run("export", "out.zip", "--format", "jsonl").returncode == 0
    assert run("--root", tmp_path / "other", "import", "out.zip").returncode == 0
    own = json.loads(run("list", "--json").stdout)
    other = json.loads(run("--root", tmp_path / "other", "list", "--json").stdout)
    assert {record["token_address"] for record in other} == {record["token_address"] for record in own}


def test_export_overwrites_nothing(run: Run, root: Path, tmp_path: Path) -> None:
    (tmp_path / "out.zip").write_text("mine")
    assert run("export", "out.zip").returncode == 1
    assert (tmp_path / "out.zip").read_text() == "mine"


def test_export_into_the_library_folder_is_refused(run: Run, root: Path) -> None:
    for place in ("memecoins/out.zip", "memecoins/pending/out", "memecoins/../memory/out", "memecoins"):
        done = run("export", f"{root}/{place}")
        assert done.returncode == 1
        assert "lies inside the library; export to a place outside" in done.stderr
    assert run("doctor").returncode == 0


@pytest.mark.parametrize(
    "given",
    [
        ["history", "--address", NOWHERE],
        ["suggestions", NOWHERE],
        ["context", "frog", "--only", NOWHERE],
    ],
    ids=lambda given: given[0],
)
def test_an_address_of_no_coin_is_an_error(run: Run, root: Path, given: list[str]) -> None:
    done = run(*given)
    assert (done.returncode, done.stdout) == (1, "")
    assert NOWHERE in done.stderr


@pytest.mark.parametrize("verb", ["list", "search"])
@pytest.mark.parametrize("line", ["((((", ")))", "( ;"])
def test_a_line_of_which_nothing_is_understood_is_refused(run: Run, root: Path, verb: str, line: str) -> None:
    done = run(verb, line)
    assert (done.returncode, done.stdout) == (2, "")
    assert "The" in done.stderr.splitlines()[-1]
    assert "at character" in done.stderr


def test_a_previous_list_that_cannot_be_read_is_named(run: Run, root: Path, tmp_path: Path) -> None:
    (tmp_path / "before.json").write_text("[")
    done = run("export", tmp_path / "out", "--format", "tokenlist", "--previous", tmp_path / "before.json")
    assert done.stderr.startswith(f"export: {tmp_path / 'before.json'}: it is not JSON")
