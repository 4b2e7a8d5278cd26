"""What the editor asks of the server while one types: kept, compared, never written over unseen."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from components.shell.tokens import token
from store.library import Library
from store.permissions import Actor
from store.records import Record
from store.settings import settings
from tests.components.conftest import Client
from tests.store.conftest import address, approved_with_caption
from tests.store.language_model_server import GOOD, LanguageModelServer, fails, running, says

FIRST, SECOND = address(10), address(11)


@pytest.fixture
def captioned(library: Library) -> Library:
    approved_with_caption(library, 10, 11)
    library.promote([FIRST, SECOND])
    return library


def ask(client: Client, library: Library, verb: str, *, actor: str = "ann", **body: Any) -> dict[str, Any]:
    key = token(library.for_actor(Actor(actor)))
    answer = client.post(f"/editor/{verb}", content=json.dumps({"token": key, "address": FIRST, **body}))
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def typed(library: Library, n: int = 1, client: str = "tab", **caption: str | None) -> dict[str, Any]:
    """A draft as a page sends it, begun on what is stored now."""
    record = library.get(FIRST)
    stored = {"caption": record.caption, "tags": record.tags}
    texts = {**dict.fromkeys(("entity", "context", "visual", "emotions")), **record.caption, **caption}
    base = {"revision": record.revision, **stored}
    return {"caption": texts, "tags": record.tags, "base": base, "sources": {}, "client": client, "n": n}


def test_what_is_typed_is_kept_for_each_person(client: Client, captioned: Library) -> None:
    ask(client, captioned, "keep", draft=typed(captioned, entity="Ann's w"))
    ask(client, captioned, "keep", draft=typed(captioned, entity="Bob's"), actor="bob")
    kept = {draft.actor: draft.fields["caption"]["entity"] for draft in captioned.drafts.of(FIRST)}
    assert kept == {"ann": "Ann's w", "bob": "Bob's"}
    assert captioned.get(FIRST).caption["entity"] == "text 10 entity"


def test_an_older_sending_that_comes_late_changes_nothing(client: Client, captioned: Library) -> None:
    ask(client, captioned, "keep", draft=typed(captioned, 2, entity="all of it"))
    assert ask(client, captioned, "keep", draft=typed(captioned, 1, entity="all o")) == {"kept": 2}
    assert (captioned.drafts.own(FIRST, actor="ann") or {})["caption"]["entity"] == "all of it"


def test_a_sending_that_is_overtaken_while_it_is_answered_changes_nothing(
    client: Client, captioned: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    older, newer = typed(captioned, 1, entity="all o"), typed(captioned, 2, entity="all of it")
    get = Library.get

    def overtaken(library: Library, address: str) -> Record:
        monkeypatch.setattr(Library, "get", get)
        assert ask(client, captioned, "keep", draft=newer) == {"kept": 2}
        return get(library, address)

    monkeypatch.setattr(Library, "get", overtaken)
    assert ask(client, captioned, "keep", draft=older) == {"kept": 2}
    assert (captioned.drafts.own(FIRST, actor="ann") or {})["caption"]["entity"] == "all of it"


def test_another_window_of_the_same_person_is_not_written_over(client: Client, captioned: Library) -> None:
    ask(client, captioned, "keep", draft=typed(captioned, entity="in one window"))
    other = typed(captioned, client="another", entity="in another")
    answer = ask(client, captioned, "keep", draft=other, knows="")
    assert answer["elsewhere"]["caption"]["entity"] == "in one window"
    ask(client, captioned, "keep", draft=other, knows="tab")
    assert (captioned.drafts.own(FIRST, actor="ann") or {})["caption"]["entity"] == "in another"


def test_a_window_is_told_what_its_draft_is_by_now(client: Client, captioned: Library) -> None:
    assert ask(client, captioned, "own") == {"draft": None}
    many = [f"tag {number}" for number in range(300)]
    ask(client, captioned, "keep", draft={**typed(captioned, entity="Ann's w"), "tags": many})
    own = ask(client, captioned, "own")["draft"]
    assert (own["client"], own["caption"]["entity"], own["tags"]) == ("tab", "Ann's w", many)
    assert ask(client, captioned, "own", actor="bob") == {"draft": None}


def test_a_commit_is_stored_and_ends_the_draft(client: Client, captioned: Library) -> None:
    draft = typed(captioned, entity="a dog on the moon", visual=None, emotions="")
    draft["sources"] = {"entity": {"model": "gpt", "prompt": "caption 2", "edited": True, "text": "a dog"}}
    ask(client, captioned, "keep", draft=draft)
    saved = ask(client, captioned, "commit", draft=draft)["saved"]
    record = captioned.get(FIRST)
    assert record.caption == {"entity": "a dog on the moon", "context": "text 10 context", "emotions": ""}
    assert saved["revision"] == record.revision
    assert saved["wrote"]["entity"]["model"] == "gpt"
    assert captioned.drafts.of(FIRST) == []
    assert captioned.decisions()[0].actor == "ann"


def test_the_second_to_commit_is_shown_what_the_first_wrote(client: Client, captioned: Library) -> None:
    mine = typed(captioned, entity="Ann's")
    ask(client, captioned, "commit", draft=typed(captioned, entity="Bob's"), actor="bob")
    answer = ask(client, captioned, "commit", draft=mine)
    assert answer["conflict"]["stored"]["caption"]["entity"] == "Bob's"
    assert answer["conflict"]["changed"]["who"] == "bob"
    assert captioned.get(FIRST).caption["entity"] == "Bob's"


def test_a_commit_that_the_store_refuses_says_why(client: Client, captioned: Library) -> None:
    answer = ask(client, captioned, "commit", draft=typed(captioned, entity=None))
    assert "caption.entity is empty" in answer["failed"]
    assert captioned.get(FIRST).caption["entity"] == "text 10 entity"


def test_neighbours_measures_and_history_are_told(client: Client, captioned: Library) -> None:
    found = ask(client, captioned, "look", facet="entity", text="text 11 entity")
    assert [each["address"] for each in found["neighbours"]] == [SECOND]
    assert found["neighbours"][0]["cosine"] == pytest.approx(1, abs=1e-5)
    assert found["pictures"] == 2
    long = ask(client, captioned, "measure", texts={"entity": "word " * 100, "visual": ""})
    assert long["entity"]["windows"] == 2
    assert "visual" not in long
    newest = ask(client, captioned, "history")["revisions"][0]
    assert newest["after"]["caption"]["entity"] == "text 10 entity"


@pytest.fixture
def model(captioned: Library, monkeypatch: pytest.MonkeyPatch) -> Iterator[LanguageModelServer]:
    with running() as server:
        monkeypatch.setattr(settings(), "caption_model", "openai/any-model")
        monkeypatch.setattr(settings(), "caption_api_base", server.address)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        yield server


def suggested(client: Client, library: Library, **about: str) -> dict[str, Any]:
    job = ask(client, library, "suggest", **about)["job"]
    assert library.jobs.wait(job, timeout=60)
    return ask(client, library, "suggestions", job=job)


def test_a_suggestion_waits_beside_the_text_and_is_settled_when_it_is_saved(
    client: Client, captioned: Library, model: LanguageModelServer
) -> None:
    model.answers = [says(json.dumps(GOOD))]
    found = suggested(client, captioned)
    assert not found["asking"]
    by_facet = {each["facet"]: each for each in found["open"]}
    assert by_facet["entity"]["text"] == GOOD["entity"]
    assert by_facet["entity"]["prompt"] == "caption v1"
    assert captioned.get(FIRST).caption["entity"] == "text 10 entity", "nothing is stored before it is saved"
    assert captioned.drafts.of(FIRST) == []

    draft = typed(captioned, entity=f"{GOOD['entity']} And more.")
    draft["sources"] = {
        "entity": {
            "model": "openai/any-model",
            "prompt": "caption v1",
            "edited": True,
            "text": GOOD["entity"],
        }
    }
    ask(client, captioned, "commit", draft=draft, ids=[by_facet["entity"]["id"]])
    ask(client, captioned, "refuse", ids=[by_facet["visual"]["id"]])
    states = {
        each.facet: each.state
        for each in captioned.suggestions.of(FIRST, states=("taken", "refused", "open"))
    }
    assert (states["entity"], states["visual"], states["emotions"]) == ("taken", "refused", "open")
    (source,) = captioned.revisions(FIRST)[0].sources.values()
    assert (source.model, source.prompt, source.edited) == ("openai/any-model", "caption v1", True)


def test_one_facet_is_asked_for_anew_with_a_hint(
    client: Client, captioned: Library, model: LanguageModelServer
) -> None:
    model.answers = [says(json.dumps({"entity": "A dog."}))]
    (one,) = suggested(client, captioned, facet="entity", hint="shorter")["open"]
    assert (one["facet"], one["text"], one["hint"]) == ("entity", "A dog.", "shorter")


def test_without_a_language_model_look_alikes_are_quoted_and_marked_as_such(
    client: Client, captioned: Library
) -> None:
    found = ask(client, captioned, "nearest")["open"]
    by_facet = {each["facet"]: each for each in found}
    assert by_facet["entity"]["text"] == "text 11 entity"
    assert by_facet["entity"]["model"] == "nearest · hashed"


def test_a_model_that_fails_says_why_and_one_that_is_not_there_what_to_set(
    client: Client, captioned: Library, model: LanguageModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.answers = [fails(401, "bad key")]
    found = suggested(client, captioned)
    assert "did not accept the key" in found["why"]
    assert found["open"] == []
    monkeypatch.setattr(settings(), "caption_model", "")
    assert "MEMEDEX_CAPTION_MODEL" in ask(client, captioned, "suggest")["failed"]


@pytest.mark.parametrize("draft", [None, [], {"caption": 3}, {"caption": {}, "base": {}, "tags": [], "n": 1}])
def test_what_is_no_draft_is_refused(client: Client, captioned: Library, draft: object) -> None:
    assert "not a draft" in ask(client, captioned, "keep", draft=draft)["failed"]
    assert captioned.drafts.of(FIRST) == []


def test_a_viewer_looks_and_changes_nothing(
    client: Client, captioned: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings(), "viewers", "eve")
    draft = typed(captioned, entity="Eve's")
    for verb in ("keep", "commit", "discard", "suggest", "nearest", "refuse"):
        assert "may look" in ask(client, captioned, verb, draft=draft, actor="eve")["failed"]
    assert ask(client, captioned, "look", facet="entity", text="a dog", actor="eve")["neighbours"]
    assert captioned.get(FIRST).caption["entity"] == "text 10 entity"


def test_a_stranger_is_turned_away(client: Client, captioned: Library) -> None:
    for forged in ("", "0" * 64, None, 7):
        body = json.dumps({"token": forged, "address": FIRST, "draft": typed(captioned, entity="x")})
        assert client.post("/editor/commit", content=body).status_code == 403
    assert client.post("/editor/commit", content="{").status_code == 400
    assert captioned.get(FIRST).caption["entity"] == "text 10 entity"
