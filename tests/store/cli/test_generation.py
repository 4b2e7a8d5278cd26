"""`context` and `generate`: the examples of a generator, and a coin that waits for review."""

import json
from functools import partial
from pathlib import Path

import pytest

from store.disk.images import normalise
from store.disk.layout import Layout
from store.disk.lock import WriterLock
from store.library import Library
from store.outcome import Outcome, Refusal
from store.runtime import open_reader
from store.tasks import generate
from tests.store.cli.program import Run
from tests.store.conftest import picture
from tests.store.language_model_server import Answer, LanguageModelServer, draws, running, says

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
