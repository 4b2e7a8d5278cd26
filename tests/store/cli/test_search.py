"""Verbs that find and show coins."""

import json
from pathlib import Path

import pytest

from store.disk.layout import Layout
from tests.store.cli.program import ALSO_KEPT, APPROVED, CAPTIONED, KEPT, NOWHERE, PENDING, Run
from tests.store.conftest import picture

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


def test_search_lists_an_exact_ticker_match(run: Run, root: Path) -> None:
    found = json.loads(run("search", "$c3", "--json").stdout)
    assert found["named"] == [{"token_address": KEPT, "token_name": "Coin 3", "ticker": "C3"}]
    assert found["exact_matches"] == [KEPT]
    (hit, *others) = found["hits"]
    assert (hit["token_address"], hit["exact_match"]) == (KEPT, True)
    assert [other["exact_match"] for other in others] == [False]


def test_an_exact_ticker_is_the_first_row_before_the_scores(run: Run, root: Path) -> None:
    for line in ("c3", "c4"):
        _, first, second = run("search", line, "--fused").stdout.splitlines()
        assert first.split()[:4] == ["exact", "Coin", line[1], line.upper()]
        assert float(second.split()[0]) > 0
    (only,) = json.loads(run("search", "c4", "--top", "1", "--json").stdout)["hits"]
    assert (only["token_address"], only["exact_match"]) == (ALSO_KEPT, True)


def test_search_explains_each_hit(run: Run, root: Path) -> None:
    found = json.loads(run("search", "astronaut dog", "--json").stdout)
    assert (found["query"], found["exact"], found["compared"]) == ("astronaut dog", True, 2)
    assert [hit["token_address"] for hit in found["hits"]] == [KEPT, ALSO_KEPT]
    assert (found["hits"][0]["token_name"], found["hits"][0]["ticker"]) == ("Coin 3", "C3")
    for hit in found["hits"]:
        given = sum(facet["contribution"] for facet in hit["facets"].values())
        assert given == pytest.approx(hit["score"], abs=1e-6)
    assert found["hits"][1]["facets"]["visual"]["present"] is False
    assert found["hits"][1]["facets"]["visual"]["cosine"] is None
    weights = {facet: given["weight"] for facet, given in found["hits"][0]["facets"].items()}
    assert weights == {"image": 0, "entity": 4, "context": 3, "visual": 2, "emotions": 1}


def test_only_the_given_weights_count(run: Run, root: Path) -> None:
    found = json.loads(run("search", "marble", "--weights", "context=2.5", "--json").stdout)
    assert found["weights"] == {"image": 0, "entity": 0, "context": 2.5, "visual": 0, "emotions": 0}
    for hit in found["hits"]:
        assert hit["score"] == pytest.approx(hit["facets"]["context"]["cosine"], abs=1e-6)


def test_all_weights_zero_finds_nothing_and_says_why(run: Run, root: Path) -> None:
    done = run("search", "marble", "--weights", "entity=0", "--json")
    assert json.loads(done.stdout)["hits"] == []
    assert "every weight is zero" in done.stderr


def test_a_picture_finds_itself(run: Run, root: Path, tmp_path: Path) -> None:
    (tmp_path / "photo.png").write_bytes(picture(4))
    (hit, *_) = json.loads(run("search", "--image", "photo.png", "--json").stdout)["hits"]
    assert hit["token_address"] == ALSO_KEPT


def test_a_file_that_is_no_picture_is_named(run: Run, root: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("frogs")
    done = run("search", "--image", tmp_path / "notes.txt")
    assert done.returncode == 1
    assert done.stderr.startswith(f"search: {tmp_path / 'notes.txt'}: this is text, not a picture")


def test_more_like_an_example_leaves_the_example_out(run: Run, root: Path) -> None:
    found = json.loads(run("search", "--like", KEPT, "--json").stdout)
    assert [hit["token_address"] for hit in found["hits"]] == [ALSO_KEPT]


def test_search_accepts_the_syntax_of_the_search_page(run: Run, root: Path, tmp_path: Path) -> None:
    (tmp_path / "photo.png").write_bytes(picture(4))
    line = f'picture + 2 × "marble" − entity:"dog" + like:{KEPT} tier:library after:2001-01-01'
    found = json.loads(run("search", line, "--image", "photo.png", "--json").stdout)
    assert found["asked"] == line
    (hit,) = found["hits"]  # an example is not among its own results
    assert hit["token_address"] == ALSO_KEPT


def test_a_filter_in_the_line_equals_the_flag(run: Run, root: Path) -> None:
    run("tag", KEPT, "--add", "moon dog")
    by_line = json.loads(run("search", 'a coin tag:"moon dog"', "--json").stdout)
    by_flag = json.loads(run("search", "a coin", "--tag", "moon dog", "--json").stdout)
    assert by_line["hits"] == by_flag["hits"]
    assert [hit["token_address"] for hit in by_line["hits"]] == [KEPT]


def test_records_outside_the_library_are_found_by_their_words(run: Run, root: Path) -> None:
    done = run("search", "frog tier:approved", "--json")
    (hit,) = json.loads(done.stdout)["hits"]
    assert (hit["token_address"], hit["score"]) == (CAPTIONED, None)
    assert "only the library is searched by meaning" in done.stderr


def test_by_me_means_the_current_user(run: Run, root: Path) -> None:
    def found(actor: str) -> int:
        return len(json.loads(run("search", "by:me", "--actor", actor, "--json").stdout)["hits"])

    assert (found("ann"), found("bob")) == (2, 0)


def test_search_names_invalid_parts_and_uses_the_rest(run: Run, root: Path) -> None:
    done = run("search", f"marble + like:{NOWHERE} has:teeth", "--json")
    assert (done.returncode, len(json.loads(done.stdout)["hits"])) == (1, 2)
    assert "unknown facet teeth" in done.stderr
    assert NOWHERE in done.stderr


def test_search_returns_at_most_top_hits(run: Run, root: Path) -> None:
    assert len(json.loads(run("search", "coin", "--top", 1, "--json").stdout)["hits"]) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        [],
        [" "],
        ["dog", "--weights", "tail=3"],
        ["dog", "--weights", "entity"],
        ["dog", "--weights", "entity=-1"],
        ["dog", "--weights", "entity=nan"],
        ["dog", "--weights", "entity=1,entity=2"],
        ["dog", "--top", "0"],
        ["dog", "--top", "many"],
        ["dog", "--since", "yesterday"],
        ["tier:nowhere"],
        ["picture"],
    ],
    ids=" ".join,
)
def test_an_invalid_question_is_wrong_usage(run: Run, root: Path, wrong: list[str]) -> None:
    done = run("search", *wrong, "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "Usage:" in done.stderr


@pytest.mark.parametrize(
    "wrong", [["--image", "nowhere.png"], ["--image", "text.png"], ["--like", NOWHERE]], ids=" ".join
)
def test_a_question_about_a_missing_picture_or_record_is_refused(
    run: Run, root: Path, tmp_path: Path, wrong: list[str]
) -> None:
    (tmp_path / "text.png").write_text("not a picture")
    done = run("search", *wrong)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("search: ")
