"""`context` and `generate`: the examples of a generator, and a coin that waits for review."""

import json
from functools import partial
from pathlib import Path

import pytest

from store.disk.images import normalise
from tests.store.cli.program import Run
from tests.store.conftest import picture
from tests.store.language_model_server import draws, running, says

COIN = {"name": "Vault Dog", "ticker": "$vlt", "entity": "a dog at a vault", "context": "money guards"}


def test_context_prints_the_examples_with_pictures(run: Run, root: Path) -> None:
    done = run("context", "a dog in space", "--json", "--top", "2")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["examples"]
    assert len(rows) == 2
    assert all(row["image"].startswith("data:image/jpeg;base64,") for row in rows)
    texts = run("context", "a dog in space", "--no-pictures").stdout
    assert texts.startswith("Example 1:\nEntity: ")


@pytest.mark.slow
def test_generate_prints_a_coin_and_saves_it_on_request(run: Run, root: Path) -> None:
    assert "no language model is configured" in run("generate", "a dog").stderr
    with running() as server:
        answer = says(json.dumps(COIN))
        answer.streamed = True
        server.answers = [answer]
        ask = partial(
            run, MEMEDEX_CAPTION_MODEL="openai/gpt-4o-mini", MEMEDEX_CAPTION_API_BASE=server.address,
            OPENAI_API_KEY="none", LITELLM_LOCAL_MODEL_COST_MAP="True",
        )  # fmt: skip
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
