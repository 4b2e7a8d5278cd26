"""`search`: what it finds and prints, and which questions it refuses."""

import json
from pathlib import Path

import pytest

from tests.store.cli.program import ALSO_KEPT, CAPTIONED, KEPT, NOWHERE, Run
from tests.store.conftest import picture


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
    assert "usage:" in done.stderr


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
