"""Wrong usage exits with 2, help is whole, and every flag is documented."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from store.cli import main
from tests.store.cli.interface_lines import verbs
from tests.store.cli.program import APPROVED, KEPT, PROJECT, Run, environment


@pytest.mark.parametrize(
    "wrong",
    [
        [],
        ["approve"],
        ["list", "--js"],
        ["undo", "-1"],
        ["import", ""],
        ["--root", "", "list"],
        ["memory", "import-transcripts", " "],
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
    assert "Usage:" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("alias", "verb"), [("return", "back-to-review"), ("degrade", "remove"), ("take", "accept")]
)
def test_three_verbs_have_a_second_name(alias: str, verb: str) -> None:
    every = dict(verbs())
    assert every[alias].callback.__wrapped__ is every[verb].callback.__wrapped__
    rows = (PROJECT / "docs" / "command-line.md").read_text(encoding="utf-8").split("## Second names")[1]
    assert f"| `{alias}` | `{verb}` |" in rows


def test_every_command_and_flag_is_documented() -> None:
    text = (PROJECT / "docs" / "command-line.md").read_text(encoding="utf-8")
    for name, verb in verbs():
        if name.startswith("memory "):
            continue
        assert f"`{name}" in text, name
        for one in verb.params:
            assert all(flag in text for flag in one.opts if flag.startswith("-")), f"{name} {one.opts}"


@pytest.mark.parametrize(("name", "verb"), list(verbs()), ids=lambda one: one if isinstance(one, str) else "")
def test_help_prints_every_argument_and_sentence_on_lines_that_fit(
    name: str, verb: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main([*name.split(), "--help"]) == 0
    printed = capsys.readouterr().out
    assert "\x1b" not in printed
    assert "─" not in printed
    line = " ".join(printed.split())
    for text in [
        verb.help,
        *(one.help for one in verb.params),
        *(flag for one in verb.params for flag in flags(one)),
    ]:
        assert " ".join((text or "").split()) in line, text


def flags(one: Any) -> list[str]:
    return [flag for flag in one.opts if flag.startswith("-")] or [one.metavar]


def test_the_help_lists_every_verb_with_its_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    line = " ".join(capsys.readouterr().out.split())
    assert [name for name, verb in verbs() if " " not in name and f"{name} {verb.help}" not in line] == [
        "return", "degrade", "take",
    ]  # fmt: skip
    assert "remove From the library back to approved; captions and vectors stay. Also `degrade`." in line


@pytest.mark.usefixtures("root")
def test_a_line_with_a_blank_may_begin_with_a_minus_and_an_option_take_several_words(run: Run) -> None:
    assert run("list", "-tag:dog name").stderr == "no records\n"
    assert run("list", "-tag:dog").returncode == 2
    assert run("list", "--json", "--", "-tag:dog").stdout == "[]\n"
    done = run("export", "out", "--only", KEPT, APPROVED, "--format", "csv")
    assert (done.returncode, done.stderr) == (0, "exported 2 to out\n")
    assert run("caption", KEPT, "--entity=a dog -- or so", "--context", "- none -").returncode == 0
    assert caption_of(run, KEPT) == ("a dog -- or so", "- none -")


def caption_of(run: Run, key: str) -> tuple[str, str]:
    caption = json.loads(run("show", key, "--json").stdout)["caption"]
    return caption["entity"], caption["context"]


@pytest.mark.usefixtures("own_interpreter")
def test_an_installed_command_completes_verbs_and_options() -> None:
    script = "import sys; sys.argv[0] = 'memedex'; from store.cli import main; main()"

    def printed(*arguments: str, **more: str) -> str:
        command, given = [sys.executable, "-c", script, *arguments], environment(**more)
        return subprocess.run(command, env=given, capture_output=True, text=True, check=True).stdout

    for typed, offered in {"memedex unf": "unfit-words", "memedex memory ask --wor": "--world"}.items():
        asked = {"COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" "))}
        assert printed(_MEMEDEX_COMPLETE="complete_bash", **asked).split() == [offered]
    assert "--install-completion" in printed("--help")


@pytest.mark.parametrize("verb", ["list", "index", "run"])
def test_a_setting_that_means_nothing_is_named_in_one_sentence(run: Run, verb: str) -> None:
    done = run(verb, MEMEDEX_CHROMA_URL="localhost:8000", MEMEDEX_SEARCH="disk", MEMEDEX_KEEP_CONTEXTS="x")
    assert (done.returncode, done.stdout) == (2, "")
    url, search, kept = done.stderr.split("; ")
    assert url.startswith("MEMEDEX_CHROMA_URL is 'localhost:8000': ")
    assert search.startswith("MEMEDEX_SEARCH is 'disk': ")
    assert kept.startswith("MEMEDEX_KEEP_CONTEXTS is 'x': ")
    assert len(kept.splitlines()) == 1
