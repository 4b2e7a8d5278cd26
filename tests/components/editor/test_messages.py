"""The editor's messages while somebody types: drafts are kept, compared, never overwritten silently."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest

from components.shell.session.tokens import token
from store.captions.suggestions import Suggestion, Suggestions
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


def send(client: Client, library: Library, verb: str, *, actor: str = "ann", **body: Any) -> httpx.Response:
    decision = {"decision": uuid4().hex} if verb in ("commit", "promote") else {}
    page = {"token": token(library.for_actor(Actor(actor))), "address": FIRST, **decision}
    return client.post(f"/message/editor-{verb}", content=json.dumps({**page, **body}))


def ask(client: Client, library: Library, verb: str, *, actor: str = "ann", **body: Any) -> dict[str, Any]:
    answer = send(client, library, verb, actor=actor, **body)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def refused(client: Client, library: Library, verb: str, **body: Any) -> str:
    answer = send(client, library, verb, **body)
    assert answer.status_code == 409, answer.text
    return answer.text


def draft_with(library: Library, n: int = 1, client: str = "tab", **caption: str | None) -> dict[str, Any]:
    """A draft as a page sends it, based on the stored caption."""
    record = library.get(FIRST)
    stored = {"caption": record.caption, "tags": record.tags}
    texts = {**dict.fromkeys(("entity", "context", "visual", "emotions")), **record.caption, **caption}
    base = {"revision": record.revision, **stored}
    return {"caption": texts, "tags": record.tags, "base": base, "sources": {}, "client": client, "n": n}


def test_drafts_are_kept_for_each_person(client: Client, captioned: Library) -> None:
    ask(client, captioned, "keep", draft=draft_with(captioned, entity="Ann's w"))
    ask(client, captioned, "keep", draft=draft_with(captioned, entity="Bob's"), actor="bob")
    kept = {draft.actor: draft.fields["caption"]["entity"] for draft in captioned.drafts.of(FIRST)}
    assert kept == {"ann": "Ann's w", "bob": "Bob's"}
    assert captioned.get(FIRST).caption["entity"] == "text 10 entity"


def test_an_older_draft_that_arrives_late_changes_nothing(client: Client, captioned: Library) -> None:
    ask(client, captioned, "keep", draft=draft_with(captioned, 2, entity="all of it"))
    assert ask(client, captioned, "keep", draft=draft_with(captioned, 1, entity="all o")) == {"kept": 2}
    assert (captioned.drafts.own(FIRST, actor="ann") or {})["caption"]["entity"] == "all of it"


def test_a_draft_overtaken_by_a_newer_one_during_its_request_changes_nothing(
    client: Client, captioned: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    older, newer = draft_with(captioned, 1, entity="all o"), draft_with(captioned, 2, entity="all of it")
    get = Library.get

    def overtaken(library: Library, address: str) -> Record:
        monkeypatch.setattr(Library, "get", get)
        assert ask(client, captioned, "keep", draft=newer) == {"kept": 2}
        return get(library, address)

    monkeypatch.setattr(Library, "get", overtaken)
    assert ask(client, captioned, "keep", draft=older) == {"kept": 2}
    assert (captioned.drafts.own(FIRST, actor="ann") or {})["caption"]["entity"] == "all of it"


def test_another_window_of_the_same_person_is_not_overwritten(client: Client, captioned: Library) -> None:
    ask(client, captioned, "keep", draft=draft_with(captioned, entity="in one window"))
    other = draft_with(captioned, client="another", entity="in another")
    answer = ask(client, captioned, "keep", draft=other, knows="")
    assert answer["elsewhere"]["caption"]["entity"] == "in one window"
    ask(client, captioned, "keep", draft=draft_with(captioned, 2, entity="and on"))
    answer = ask(client, captioned, "keep", draft=other, knows="tab", seen=1)
    assert answer["elsewhere"]["caption"]["entity"] == "and on", "what it wrote since is seen by nobody"
    ask(client, captioned, "keep", draft=other, knows="tab", seen=2)
    assert (captioned.drafts.own(FIRST, actor="ann") or {})["caption"]["entity"] == "in another"


def test_discarding_in_one_window_keeps_what_another_wrote(client: Client, captioned: Library) -> None:
    ask(client, captioned, "keep", draft=draft_with(captioned, 2, entity="in one window"))
    other = {"client": "another", "n": 1}
    answer = ask(client, captioned, "discard", draft=other, knows="")
    assert answer["elsewhere"]["caption"]["entity"] == "in one window"
    late = ask(client, captioned, "discard", draft={"client": "tab", "n": 1}, knows="tab")
    assert "content" in late, "its own newer text stays without a question"
    assert (captioned.drafts.own(FIRST, actor="ann") or {})["caption"]["entity"] == "in one window"
    ask(client, captioned, "discard", draft=other, knows="tab", seen=2)
    assert captioned.drafts.own(FIRST, actor="ann") is None


def test_a_window_receives_its_current_draft(client: Client, captioned: Library) -> None:
    assert ask(client, captioned, "own") == {"draft": None}
    many = [f"tag {number}" for number in range(300)]
    ask(client, captioned, "keep", draft={**draft_with(captioned, entity="Ann's w"), "tags": many})
    own = ask(client, captioned, "own")["draft"]
    assert (own["client"], own["caption"]["entity"], own["tags"]) == ("tab", "Ann's w", many)
    assert ask(client, captioned, "own", actor="bob") == {"draft": None}


def test_a_commit_is_stored_and_ends_the_draft(client: Client, captioned: Library) -> None:
    draft = draft_with(captioned, entity="a dog on the moon", visual=None, emotions="")
    draft["sources"] = {"entity": {"model": "gpt", "prompt": "caption 2", "edited": True, "text": "a dog"}}
    ask(client, captioned, "keep", draft=draft)
    saved = ask(client, captioned, "commit", draft=draft)["saved"]
    record = captioned.get(FIRST)
    assert record.caption == {"entity": "a dog on the moon", "context": "text 10 context", "emotions": ""}
    assert saved["revision"] == record.revision
    assert saved["wrote"]["entity"]["author"] == "gpt"
    assert captioned.drafts.of(FIRST) == []
    assert captioned.decisions()[0].actor == "ann"


def test_the_second_to_commit_is_shown_what_the_first_wrote(client: Client, captioned: Library) -> None:
    mine = draft_with(captioned, entity="Ann's")
    ask(client, captioned, "commit", draft=draft_with(captioned, entity="Bob's"), actor="bob")
    answer = ask(client, captioned, "commit", draft=mine)
    assert answer["conflict"]["stored"]["caption"]["entity"] == "Bob's"
    assert answer["conflict"]["changed"]["who"] == "bob"
    assert captioned.get(FIRST).caption["entity"] == "Bob's"


def test_a_save_whose_answer_was_lost_is_saved_when_it_is_sent_again(
    client: Client, captioned: Library
) -> None:
    save = {"draft": draft_with(captioned, entity="Ann's"), "decision": uuid4().hex}
    ask(client, captioned, "commit", **save)  # nobody hears the answer
    ask(client, captioned, "keep", draft=draft_with(captioned, 2, entity="Ann's"))
    saved = ask(client, captioned, "commit", **save)["saved"]
    assert saved["stored"]["caption"]["entity"] == "Ann's"
    assert captioned.drafts.of(FIRST) == []
    assert [each.id for each in captioned.decisions()].count(save["decision"]) == 1
    again = ask(client, captioned, "commit", **{**save, "decision": uuid4().hex})
    assert "conflict" in again, "another decision is compared with what is stored"


def test_a_save_that_is_sent_again_after_another_persons_does_not_replace_theirs(
    client: Client, captioned: Library
) -> None:
    save = {"draft": draft_with(captioned, entity="Ann's"), "decision": uuid4().hex}
    ask(client, captioned, "commit", **save)
    ask(client, captioned, "commit", draft=draft_with(captioned, entity="Bob's"), actor="bob")
    assert ask(client, captioned, "commit", **save)["saved"]["stored"]["caption"]["entity"] == "Bob's"
    assert send(client, captioned, "commit", actor="bob", **save).status_code == 403, "the id is Ann's"


def test_a_save_that_was_undone_is_not_made_again(client: Client, captioned: Library) -> None:
    save = {"draft": draft_with(captioned, entity="Ann's"), "decision": uuid4().hex}
    ask(client, captioned, "commit", **save)
    captioned.undo(actor="ann")
    assert "undone" in refused(client, captioned, "commit", **save)
    assert captioned.get(FIRST).caption["entity"] == "text 10 entity"


def test_a_promotion_that_is_sent_again_is_the_same_job(client: Client, captioned: Library) -> None:
    captioned.degrade([FIRST])
    promotion = {"decision": uuid4().hex}
    for _ in range(3):
        assert ask(client, captioned, "promote", **promotion) == {}
        job = captioned.jobs.of_decision(promotion["decision"])
        assert captioned.jobs.wait(job.id, timeout=60)
    assert captioned.get(FIRST).tier == "library"
    assert [each.id for each in captioned.jobs.all() if each.kind == "move"] == [job.id]
    captioned.undo(actor="ann")
    ask(client, captioned, "promote", **promotion)
    assert captioned.get(FIRST).tier == "approved", "what was undone is not done again"


def test_a_commit_that_the_store_refuses_says_why(client: Client, captioned: Library) -> None:
    reason = refused(client, captioned, "commit", draft=draft_with(captioned, entity=None))
    assert "caption.entity is empty" in reason
    assert captioned.get(FIRST).caption["entity"] == "text 10 entity"


def test_neighbours_token_counts_and_history_are_returned(client: Client, captioned: Library) -> None:
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


def request_suggestions(client: Client, library: Library, **about: str) -> dict[str, Any]:
    job = ask(client, library, "suggest", **about)["job"]
    assert library.jobs.wait(job, timeout=60)
    return ask(client, library, "suggestions", job=job)


def test_a_suggestion_stays_open_until_the_caption_is_saved(
    client: Client, captioned: Library, model: LanguageModelServer
) -> None:
    model.answers = [says(json.dumps(GOOD))]
    found = request_suggestions(client, captioned)
    assert not found["asking"]
    by_facet = {each["facet"]: each for each in found["open"]}
    assert by_facet["entity"]["text"] == GOOD["entity"]
    assert by_facet["entity"]["prompt"] == "caption v1"
    assert captioned.get(FIRST).caption["entity"] == "text 10 entity", "nothing is stored before it is saved"
    assert captioned.drafts.of(FIRST) == []

    draft = draft_with(captioned, entity=f"{GOOD['entity']} And more.")
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


def test_a_model_is_not_asked_if_the_answer_to_the_page_cannot_be_made(
    client: Client, captioned: Library, model: LanguageModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(suggestions: Suggestions, address: str) -> list[Suggestion]:
        raise OSError("too many open files")

    monkeypatch.setattr(Suggestions, "of", fails)
    assert send(client, captioned, "suggest").status_code == 503
    assert not [job for job in captioned.jobs.all() if job.kind == "draft"]


def test_one_facet_is_suggested_again_with_a_hint(
    client: Client, captioned: Library, model: LanguageModelServer
) -> None:
    model.answers = [says(json.dumps({"entity": "A dog."}))]
    (one,) = request_suggestions(client, captioned, facet="entity", hint="shorter")["open"]
    assert (one["facet"], one["text"], one["hint"]) == ("entity", "A dog.", "shorter")


def test_without_a_language_model_captions_are_borrowed_from_similar_coins(
    client: Client, captioned: Library
) -> None:
    found = ask(client, captioned, "nearest")["open"]
    by_facet = {each["facet"]: each for each in found}
    assert by_facet["entity"]["text"] == "text 11 entity"
    assert by_facet["entity"]["model"].startswith("nearest · hashed · ")
    assert by_facet["entity"]["author"].startswith("similar coin · Coin ")
    assert {each["author"] for each in found if "tags" in each["facet"]} <= {"similar coins"}


def test_a_failing_model_and_a_missing_model_are_explained(
    client: Client, captioned: Library, model: LanguageModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.answers = [fails(401, "bad key")]
    found = request_suggestions(client, captioned)
    assert "did not accept the key" in found["why"]
    assert found["open"] == []
    monkeypatch.setattr(settings(), "caption_model", "")
    assert "MEMEDEX_CAPTION_MODEL" in refused(client, captioned, "suggest")


ENDLESS = {
    "caption": {},
    "base": {"revision": 1, "caption": {}, "tags": []},
    "tags": [],
    "client": "x",
    "n": 1e999,
}


@pytest.mark.parametrize(
    "draft", [None, [], {"caption": 3}, {"caption": {}, "base": {}, "tags": [], "n": 1}, ENDLESS]
)
def test_a_malformed_draft_is_refused(client: Client, captioned: Library, draft: object) -> None:
    for verb in ("keep", "commit"):
        answer = send(client, captioned, verb, draft=draft)
        assert (answer.status_code, answer.text[:5]) == (400, "draft")
    assert captioned.drafts.of(FIRST) == []


@pytest.mark.parametrize(
    "draft", [None, [], "tab", {"client": "tab"}, {"client": "tab", "n": "one"}, ENDLESS]
)
def test_a_malformed_discard_is_refused(client: Client, captioned: Library, draft: object) -> None:
    ask(client, captioned, "keep", draft=draft_with(captioned, entity="Ann's w"))
    assert send(client, captioned, "discard", draft=draft, knows="tab").status_code == 400
    other = {"client": "x", "n": 1}
    assert send(client, captioned, "discard", draft=other, knows="tab", seen="?").status_code == 400
    assert captioned.drafts.own(FIRST, actor="ann") is not None


def test_names_tags_and_hints_that_are_too_long_are_cut(client: Client, captioned: Library) -> None:
    draft = {**draft_with(captioned), "tags": [f"tag {number}" for number in range(3_000)]}
    draft["sources"] = {"entity": {"model": "m" * 300, "prompt": "p" * 300, "text": "a dog"}}
    ask(client, captioned, "keep", draft=draft)
    kept = captioned.drafts.own(FIRST, actor="ann") or {}
    assert (len(kept["tags"]), len(kept["sources"]["entity"]["model"])) == (2_000, 200)


@pytest.mark.parametrize("number", [None, "one", [], {}, 1e999, -1, True, 10**30])
def test_what_is_no_number_of_a_row_is_refused(client: Client, captioned: Library, number: object) -> None:
    assert send(client, captioned, "suggestions", job=number).status_code == 400
    assert send(client, captioned, "refuse", ids=[number]).status_code == 400


def test_a_number_that_no_row_has_finds_nothing(client: Client, captioned: Library) -> None:
    assert ask(client, captioned, "suggestions", job=4711)["why"] == ""
    assert ask(client, captioned, "refuse", ids=[4711])["open"] == []


def test_a_viewer_can_read_but_not_change_anything(
    client: Client, captioned: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings(), "viewers", "eve")
    draft = draft_with(captioned, entity="Eve's")
    for verb in ("keep", "commit", "discard", "promote", "suggest", "nearest", "refuse"):
        assert send(client, captioned, verb, draft=draft, actor="eve").status_code == 403
    assert ask(client, captioned, "look", facet="entity", text="a dog", actor="eve")["neighbours"]
    assert captioned.get(FIRST).caption["entity"] == "text 10 entity"
