"""Drafting, suggestions, prompts and jobs on the command line, against a model on loopback."""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from store.runtime import open_library, open_reader
from tests.store.cli.program import APPROVED, CAPTIONED, Run
from tests.store.language_model_server import GOOD, LanguageModelServer, fails, running, says


@pytest.fixture
def model() -> Iterator[LanguageModelServer]:
    with running() as server:
        server.answers = [says(json.dumps(GOOD))]
        yield server


@pytest.fixture
def ask(run: Run, model: LanguageModelServer) -> Run:
    """The program with a language model."""
    return partial(
        run,
        MEMEDEX_CAPTION_MODEL="openai/gpt-4o-mini",
        MEMEDEX_CAPTION_API_BASE=model.address,
        OPENAI_API_KEY="none",
        LITELLM_LOCAL_MODEL_COST_MAP="True",
    )


@pytest.mark.slow
def test_missing_captions_are_drafted_listed_and_accepted(
    model: LanguageModelServer, ask: Run, root: Path
) -> None:
    estimate = json.loads(ask("draft", "--all", "--estimate", "--json").stdout)
    assert (estimate["count"], estimate["prompt"]) == (1, "caption v1")
    assert model.requests == []

    assert ask("draft", "--all", "--budget", "1").returncode == 0
    waiting = json.loads(ask("suggestions", "--json").stdout)
    assert {one["facet"] for one in waiting} == {"entity", "context", "visual", "emotions", "new_tags"}
    assert all(one["at"] > 0 for one in waiting)
    assert ask("draft", "--all").returncode == 0, "what has a suggestion is left alone"
    assert len(model.requests) == 1

    assert ask("accept", "--all").returncode == 0
    shown = json.loads(ask("show", APPROVED, "--json").stdout)
    assert shown["caption"]["entity"] == GOOD["entity"]
    assert shown["tags"] == ["dog"], "a new tag waits for a person"
    assert [one["facet"] for one in json.loads(ask("suggestions", "--json").stdout)] == ["new_tags"]
    with open_reader(root) as reader:
        (revision,) = [one for one in reader.revisions(APPROVED) if one.sources]
        assert revision.sources["entity"].prompt == "caption v1"


def test_accepting_suggestions_replaces_no_caption_and_no_open_draft(
    model: LanguageModelServer, ask: Run, root: Path
) -> None:
    ask("draft", APPROVED, CAPTIONED)
    with open_library(root) as library:
        library.drafts.save(APPROVED, {"caption": {"entity": "my own"}}, actor="ann")
        before = library.get(CAPTIONED).caption
    taken = ask("accept", "--all")
    assert taken.returncode == 1
    assert "ann is typing" in taken.stderr
    after = json.loads(ask("show", CAPTIONED, "--json").stdout)["caption"]
    assert {**after, **before} == after
    assert after["visual"] == GOOD["visual"]


def test_a_failed_job_is_listed_and_can_be_resumed(model: LanguageModelServer, ask: Run, root: Path) -> None:
    model.answers = [fails(401, "bad key")]
    failed = ask("draft", APPROVED, "--hint", "shorter", "--facet", "entity")
    assert failed.returncode == 1
    assert "jobs resume" in failed.stderr
    (job,) = json.loads(ask("jobs", "--json").stdout)
    assert (job["state"], job["done"], job["total"]) == ("failed", 0, 1)
    model.answers = [says(json.dumps(GOOD))]
    assert ask("jobs", "resume", str(job["id"])).returncode == 0
    assert json.loads(ask("jobs", "--json").stdout)[0]["state"] == "done"
    assert ask("jobs", "resume", str(job["id"])).returncode == 1
    assert ask("jobs", "retry", str(job["id"])).returncode == 1


def test_a_prompt_can_be_shown_and_set_and_has_versions(run: Run, root: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("Describe {name}.")
    assert run("prompts", "short", "--set", str(tmp_path / "mine.txt")).returncode == 0
    (tmp_path / "mine.txt").write_text("Describe {name} well.")
    run("prompts", "short", "--set", str(tmp_path / "mine.txt"))
    assert run("prompts", "short").stdout == "Describe {name} well.\n"
    assert run("prompts", "short", "--version", "1").stdout == "Describe {name}.\n"
    assert [one["name"] for one in json.loads(run("prompts", "--json").stdout)] == ["caption", "short"]
    assert run("prompts", "nowhere").returncode == 1


def test_exported_captions_can_be_previewed_and_imported(run: Run, root: Path, tmp_path: Path) -> None:
    assert run("export", tmp_path / "out.zip", "--format", "csv", "--only", CAPTIONED).returncode == 0
    run("caption", CAPTIONED, "--entity", "something else")
    shown = json.loads(run("import-captions", tmp_path / "out.zip", "--preview", "--json").stdout)
    assert [change["caption"] for change in shown["changes"]] == [{"entity": "a frog on a lily pad"}]
    assert run("import-captions", tmp_path / "out.zip").returncode == 0
    assert "a frog on a lily pad" in run("show", CAPTIONED).stdout
    assert run("import-captions", tmp_path / "out.zip").returncode == 0, "and again, without harm"
    run("undo")
    assert "something else" in run("show", CAPTIONED).stdout


def test_an_import_that_holds_no_captions_is_refused(run: Run, root: Path, tmp_path: Path) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "a.pdf").write_bytes(b"%PDF")
    for path in (papers, papers / "a.pdf"):
        done = run("import-captions", path)
        assert done.returncode == 1
        assert f"refused {path}: it has no captions" in done.stderr
    assert "refused /dev/null: it is a device or a pipe" in run("import-captions", "/dev/null").stderr


def test_prompts_that_there_are_not_are_named_without_a_path(run: Run, root: Path) -> None:
    done = run("prompts", "nope")
    assert (done.returncode, done.stderr) == (1, "prompts: there is no prompt 'nope'; choose from: caption\n")
    done = run("prompts", "caption", "--set", "/dev/null")
    message = "prompts: /dev/null cannot be read: it is a device or a pipe, not a file\n"
    assert (done.returncode, done.stderr) == (1, message)


def test_the_estimate_counts_one_coin(ask: Run, root: Path) -> None:
    assert ask("draft", APPROVED, "--estimate").stderr.startswith("1 coin, ")
