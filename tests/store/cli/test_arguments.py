"""Wrong usage exits with 2, and every flag is documented."""

from pathlib import Path

import pytest

from store.cli.arguments import parser
from tests.store.cli.program import KEPT, PROJECT, Run


@pytest.mark.parametrize(
    "wrong",
    [
        [],
        ["fly"],
        ["list", "--tier", "heaven"],
        ["approve"],
        ["list", "--js"],
        ["undo", "-1"],
        ["undo", "0"],
        ["import", ""],
        ["--root", "", "list"],
        ["memory", "import-transcripts", " "],
        ["mcp", "--http", "x"],
        ["run", "--port", "99999"],
        ["jobs", "cancel", "-1"],
        ["context", "frog", "--budget", "-3"],
        ["draft", "--all", "--concurrency", "0"],
        ["list", "--actor", "x" * 5000],
        ["memory", "pending", "--actor", "x" * 5000],
    ],
    ids=lambda given: " ".join(given)[:40],
)
def test_wrong_usage_exits_with_2(run: Run, tmp_path: Path, wrong: list[str]) -> None:
    done = run(*wrong)
    assert (done.returncode, done.stdout) == (2, "")
    assert "usage:" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("alias", "verb"), [("return", "back-to-review"), ("degrade", "remove"), ("take", "accept")]
)
def test_three_verbs_have_a_second_name(alias: str, verb: str) -> None:
    whole = parser()
    assert vars(whole.parse_args([alias, KEPT])) == vars(whole.parse_args([verb, KEPT]))
    rows = (PROJECT / "docs" / "command-line.md").read_text(encoding="utf-8").split("## Second names")[1]
    assert f"| `{alias}` | `{verb}` |" in rows


@pytest.mark.parametrize(
    ("wrong", "most"),
    [
        (["undo", "9" * 20], "999,999,999"),
        (["history", "--limit", "9" * 5000], "999,999,999"),
        (["search", "dog", "--top", "0"], "10,000"),
        (["run", "--port", "99999"], "65,535"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_number_out_of_range_is_answered_with_the_range(run: Run, wrong: list[str], most: str) -> None:
    message = run(*wrong).stderr.splitlines()[-1]
    assert message.endswith(f"is not a whole number from 1 to {most}")
    assert len(message) < 150


def test_every_command_and_flag_is_documented() -> None:
    text = (PROJECT / "docs" / "command-line.md").read_text(encoding="utf-8")
    verbs = next(action for action in parser()._actions if action.dest == "verb").choices
    assert isinstance(verbs, dict)
    for verb, its in verbs.items():
        assert f"`{verb}" in text, verb
        for action in its._actions:
            for flag in action.option_strings:
                assert flag in ("-h", "--help") or flag in text, f"{verb} {flag}"


@pytest.mark.parametrize("verb", ["list", "index", "run"])
def test_a_setting_that_means_nothing_is_named_in_one_sentence(run: Run, verb: str) -> None:
    done = run(verb, MEMEDEX_CHROMA_URL="localhost:8000", MEMEDEX_SEARCH="disk")
    assert (done.returncode, done.stdout) == (2, "")
    url, search = done.stderr.split("; ")
    assert url.startswith("MEMEDEX_CHROMA_URL is 'localhost:8000': ")
    assert search.startswith("MEMEDEX_SEARCH is 'disk': ")
    assert len(search.splitlines()) == 1
