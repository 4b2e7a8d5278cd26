"""Drafts, suggestions, prompts and new coins, against a language model on loopback."""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from store.disk.images import normalise
from store.disk.layout import Layout
from store.disk.lock import WriterLock
from store.library import Library
from store.outcome import Outcome, Refusal
from store.runtime import open_library, open_reader
from store.tasks import generate
from tests.store.cli.program import APPROVED, CAPTIONED, Run
from tests.store.conftest import picture
from tests.store.language_model_server import GOOD, Answer, LanguageModelServer, draws, fails, running, says


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


def test_the_estimate_counts_one_coin(ask: Run, root: Path) -> None:
    assert ask("draft", APPROVED, "--estimate").stderr.startswith("1 coin, ")


COIN = {"name": "Vault Dog", "ticker": "$vlt", "entity": "a dog at a vault", "context": "money guards"}


def test_context_prints_the_examples_with_pictures(run: Run, root: Path) -> None:
    done = run("context", "a dog in space", "--json", "--top", "2")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["examples"]
    assert len(rows) == 2
    assert all(row["image"].startswith("data:image/jpeg;base64,") for row in rows)
    texts = run("context", "a dog in space", "--no-pictures").stdout
    assert texts.startswith("Example 1:\nEntity: ")


def asking(run: Run, server: LanguageModelServer) -> Run:
    return partial(
        run, MEMEDEX_CAPTION_MODEL="openai/gpt-4o-mini", MEMEDEX_CAPTION_API_BASE=server.address,
        OPENAI_API_KEY="none", LITELLM_LOCAL_MODEL_COST_MAP="True",
    )  # fmt: skip


def streamed(text: str) -> Answer:
    answer = says(text)
    answer.streamed = True
    return answer


def test_beside_an_open_dashboard_no_model_is_asked_for_a_coin_that_cannot_be_saved(
    run: Run, root: Path
) -> None:
    dashboard = WriterLock(Layout(root).lock)
    dashboard.acquire()
    try:
        with running() as server:
            server.answers = [streamed(json.dumps(COIN))]
            refused = asking(run, server)("generate", "a dog", "--save")
            assert (refused.returncode, server.requests) == (3, [])
            assert "in use by process" in refused.stderr
            shown = asking(run, server)("generate", "a dog", "--json")
            assert (shown.returncode, json.loads(shown.stdout)["ticker"]) == (0, "VLT"), shown.stderr
    finally:
        dashboard.release()


def test_an_answer_that_cannot_be_saved_is_printed_and_waits_with_its_picture(
    run: Run, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusal = Outcome(refused=[Refusal("Vault Dog", "the disk is full")])
    monkeypatch.setattr(Library, "add", lambda *_, **__: refusal)
    with running() as server:
        server.answers = [streamed(json.dumps(COIN)), draws(picture(4))]
        images = {"MEMEDEX_IMAGE_MODEL": "openai/dall-e-3", "MEMEDEX_IMAGE_API_BASE": server.address}
        done = asking(run, server)("generate", "a dog", "--save", **images)
        assert (done.returncode, len(server.requests)) == (1, 2)
    assert "entity: a dog at a vault" in done.stdout
    assert "the disk is full" in done.stderr
    with open_reader(root) as reader:
        (job,) = generate.own_jobs(reader.jobs, "ann")
    assert generate.coin_of(job).name == "Vault Dog"
    assert generate.picture_of(job) == normalise(picture(4))


@pytest.mark.parametrize("how", [(), ("--save",)], ids=["printed", "saved"])
def test_an_answer_that_is_no_coin_is_printed_whole(run: Run, root: Path, how: tuple[str, ...]) -> None:
    words = "I would rather talk about frogs. " * 20
    with running() as server:
        server.answers = [streamed(words)]
        done = asking(run, server)("generate", "a dog", *how)
        assert (done.returncode, len(server.requests)) == (1, 1)
    assert words.strip() in done.stderr


@pytest.mark.slow
def test_generate_prints_a_coin_and_saves_it_on_request(run: Run, root: Path) -> None:
    assert "no language model is configured" in run("generate", "a dog").stderr
    with running() as server:
        answer = streamed(json.dumps(COIN))
        server.answers = [answer]
        ask = asking(run, server)
        shown = ask("generate", "a dog", "--json")
        assert shown.returncode == 0, shown.stderr
        assert json.loads(shown.stdout)["ticker"] == "VLT"
        assert "saved for review: local-" in ask("generate", "a dog", "--save").stderr
        server.answers = [answer, draws(picture(4))]
        images = {"MEMEDEX_IMAGE_MODEL": "openai/dall-e-3", "MEMEDEX_IMAGE_API_BASE": server.address}
        assert "saved for review: local-" in ask("generate", "a dog", "--save", **images).stderr
    pictures = {path.read_bytes() for path in (root / "memecoins" / "pending").glob("local-*.jpg")}
    assert normalise(picture(4)) in pictures
    assert len(pictures) == 2  # and the plain card
    with open_reader(root) as reader:
        assert generate.own_jobs(reader.jobs, "ann") == [], "what is saved waits no longer"
