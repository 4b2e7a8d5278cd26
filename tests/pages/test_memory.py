"""The page Memory: how it opens, and what its controls store."""

import re
from html import unescape
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from components.shell.page.tour import STOPS
from store.memory.memory import Memory
from store.settings import settings
from tests.pages.conftest import finish_jobs, opened, press, rerun, send, sendable, shown, words
from tests.store.language_model_server import running, says
from tests.store.memory.bags import Bags

VIEWS = ("Ask", "Browse", "Review")
README = Path(__file__).parent.parent.parent / "README.md"
QUESTION = "Who lights the lamps of the city?"


def test_an_empty_memory_says_what_it_is_for_and_loads_the_demo(empty_memory: Memory) -> None:
    app = opened("memory")
    assert "The text memory is empty" in words(app)
    press(app, "Load the demo memory")
    finish_jobs()
    assert all(empty_memory.status().counts.values())
    assert (
        "Asks 6 lore entries, 14 conversation turns, 14 memories, 4 paper passages, 16 transcript chunks"
        in words(rerun(app))
    )


def lists(app: AppTest) -> list[str]:
    """The hits of all kinds, and what was not found, as HTML."""
    return [found for one in app.get("html") if "mdx-hits" in (found := str(one.proto.body)) if "<p" in found]


def widths(html: str) -> list[int]:
    return [int(found) for found in re.findall(r'mdx-bar"><i style="width:(\d+)%', html)]


def test_hits_of_every_kind_are_one_ranking_and_near_misses_say_why(memory: Memory) -> None:
    app = opened("memory", ask=QUESTION)
    hits, misses = lists(app)
    for kind in ("Lore", "Sessions", "Transcripts"):
        assert f">{kind} · " in hits
    assert widths(hits) == sorted(widths(hits), reverse=True)
    assert hits.index("<b>strong</b>") < hits.index("<b>weak</b>")
    assert "<mark>lamps</mark>" in hits
    assert re.search('title="cosine 0[.][0-9]+ · [+][0-9.]+ σ · words', hits), (
        "figures are at hand, not in the way"
    )
    assert "<b>below the threshold</b>" in misses, "memories under 30 % are greyed, not hidden"
    assert "<b>below top 5</b>" in misses


def test_the_prompt_of_a_model_is_beside_the_hits_and_its_entries_are_lit(memory: Memory) -> None:
    app = opened("memory")
    press(app, "Who lights the lamps?")
    assert app.text_input(key="ask").value == "Who lights the lamps?"
    message = shown(app)
    assert "What a model is told" in message
    assert "in mempool" in message, "the world of the best hit"
    assert "--- RECENT MEMORY ---" in app.code[0].value
    (prompt,) = (
        str(one.proto.body) for one in app.get("html") if '<div class="mdx-prompt">' in str(one.proto.body)
    )
    text = re.sub("<[^>]+>", "", prompt.partition('<div class="mdx-prompt">')[2])
    assert unescape(text) == app.code[0].value, "word for word"
    lit = re.findall(r'mdx-lit"[^>]+entry=([^"&]+)', prompt)
    assert lit
    assert len(lit) == lists(app)[0].count("in the prompt")


def test_the_question_is_kept_over_all_views(memory: Memory) -> None:
    for view in ("Browse", "Review"):
        app = opened("memory", view=view, ask=QUESTION)
        assert app.text_input(key="ask").value == QUESTION
        assert app.query_params["ask"] in (QUESTION, [QUESTION])
        app.text_input(key="ask").set_value("Who guards the vault?")
        assert "The Silver Skull guards the vault" in rerun(app).code[0].value, (
            "another one is answered in Ask"
        )


def test_the_tour_and_the_readme_ask_what_the_demo_memory_answers(memory: Memory) -> None:
    (stop,) = [one for one in STOPS if one.heading == "Memory"]
    question, answer = stop.parameters["ask"], "The Silver Skull guards the vault"
    fifth_step = re.sub(r"\s+", " ", README.read_text("utf-8").partition("\n5. ")[2].partition("\n\n")[0])
    assert question.rstrip("?").lower() in fifth_step
    for app in (opened("memory", **stop.parameters), opened("memory", ask=question)):
        assert answer in app.code[0].value
        assert "an empty room" not in app.code[0].value, "no other world was asked"
    told = [chunk.text for chunk in memory.assemble(question, world="tide_archive").chunks]
    assert any(answer in text for text in told)


def test_beside_hits_of_papers_a_model_is_told_passages_of_papers(memory: Memory) -> None:
    app = opened("memory", ask="When is a loan liquidated?", kinds="Papers")
    told = app.code[0].value
    first = memory.documents.search("When is a loan liquidated?")[0]["content"]
    assert told.startswith("--- PASSAGES OF PAPERS ---")
    assert first in told
    assert "RECENT MEMORY" not in told, "only what is asked"
    assert told == memory.assemble("When is a loan liquidated?", kinds=["documents"]).text


def test_an_empty_prompt_says_that_nothing_fits_and_not_that_nothing_is_there(memory: Memory) -> None:
    app = opened("memory", ask="Xyzzy plugh", kinds="Memories")
    assert "The prompt is empty: nothing here fits the question." in words(app)


def test_a_template_saved_for_everybody_reaches_agents(memory: Memory) -> None:
    app = opened("memory", ask="lamps", world="mempool_city")
    app.text_area(key="memedex.template").set_value("Mira knows:\n{lore}")
    send(rerun(app), "keep-template")
    found = memory.assemble("lamps", world="mempool_city")
    assert found.text.startswith("Mira knows:\n")
    rerun(app)
    assert any(one.label.startswith("Not in it") for one in app.expander)
    assert "Papers: the template has no {documents}" in words(app)


def test_a_question_with_its_options_can_be_shared_as_a_link(memory: Memory) -> None:
    app = opened("memory", ask="fees", kinds="Papers", protocols="harbor", each="1", scores="calibrated")
    hits, misses = lists(app)
    assert hits.count('role="listitem"') == 1
    assert ">Papers · harbor · " in hits
    assert "another filter" in misses, "passages of the other protocol are near misses"
    assert "Lore" not in hits + misses


def test_two_protocols_are_compared_side_by_side(memory: Memory) -> None:
    app = opened("memory", ask="fees", kinds="Papers", by_kind="true")
    app.multiselect(key="protocols").set_value(["harbor", "millrace"])
    message = shown(rerun(app))
    assert "**Papers · harbor**" in message
    assert "**Papers · millrace**" in message


@pytest.mark.parametrize("mode", ["words", "both"])
def test_transcripts_are_also_found_by_words(mode: str, memory: Memory) -> None:
    assert "word rank 1" in shown(opened("memory", ask="restart", kinds="Transcripts", mode=mode))


def test_untrusted_text_is_shown_and_never_interpreted(memory: Memory) -> None:
    memory.memories.store_memory("lamps <img src=x onerror=alert(1)> ![](http://evil) $x$ city")
    message = shown(opened("memory", ask="lamps city", kinds="Memories"))
    assert "&lt;img src=x onerror=alert(1)&gt;" in message
    assert "<img" not in message


def test_every_kind_answers_by_words_and_says_so_while_the_model_is_away(memory: Memory) -> None:
    bags = memory.kinds["memories"].embedder
    assert isinstance(bags, Bags)
    from store.errors import ModelUnavailable

    def fails(texts: object) -> None:
        raise ModelUnavailable("no weights here")

    bags.embed_texts = fails  # type: ignore[method-assign, assignment]
    app = opened("memory", ask=QUESTION)
    assert words(app).count("by words alone: the model is away") == 1
    assert ">Sessions · mira_lantern</a>" in lists(app)[0]


def test_the_prompt_equals_the_reference_context_and_its_parts_are_measured(memory: Memory) -> None:
    app = opened("memory", ask=QUESTION, world="mempool_city", session="mira_lantern")
    message = shown(app)
    assert "--- RECENT MEMORY ---\nUser: " in app.code[0].value
    assert "<b>1,402</b> of 1,000 characters" in message
    assert "Over the budget: Lore" in message
    assert "2. The city has seven gates" in message, "the other chunk says nine"
    assert not memory.kinds["world_lore"].asked(), "a preview does not count as a question"

    app.number_input(key="n_lore").set_value(1)
    assert "Over the budget: Lore" not in shown(rerun(app))


def test_a_custom_template_can_be_saved(memory: Memory) -> None:
    app = opened("memory", ask=QUESTION)
    app.text_area(key="memedex.template").set_value("{nonsense}")
    assert "the template names {nonsense}" in words(rerun(app))
    app.text_area(key="memedex.template").set_value("Papers:\n{documents}")
    press(rerun(app), "Save for everybody")
    assert app.code[0].value.startswith("Papers:\n")
    assert memory.places.template.read_text() == "Papers:\n{documents}"


def test_a_model_is_asked_and_the_entries_it_cites_can_be_opened(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running() as server:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        monkeypatch.setattr(settings(), "caption_model", "openai/m")
        monkeypatch.setattr(settings(), "caption_api_base", server.address)
        reply = says("Mira lights them [1].")
        reply.streamed = True
        server.answers = [reply]
        app = opened("memory", ask=QUESTION, session="mira_lantern")
        send(app, "ask-memory")
        finish_jobs()
        rerun(app)
    assert "Mira lights them [1]." in words(app)
    assert "<b>[1]</b>" in shown(app)
    assert "Mira lights them [1]." in words(opened("memory", ask=QUESTION)), "also in another tab"
    assert "Mira lights them" not in words(opened("memory", ask="Who guards the vault?")), (
        "it answers another"
    )
    assert QUESTION in server.requests[0]["messages"][1]["content"]


def test_without_a_language_model_a_link_leads_to_the_choice(memory: Memory) -> None:
    app = opened("memory", ask=QUESTION)
    assert "Choose a language model to answer" in [link.label for link in app.main.page_link]
    assert "ask-memory" not in sendable()


def test_hits_are_filtered_by_tags_and_dates(memory: Memory) -> None:
    memory.memories.store_memory("lamps of the city", ["lamp"])
    asked = {"ask": QUESTION, "kinds": "Memories"}
    assert "lamps of the city" in shown(opened("memory", **asked, tags="lamp")).replace("<mark>", "").replace(
        "</mark>", ""
    )
    app = opened("memory", **asked, until="2020-01-01")
    assert "No hit above the threshold" in shown(app)


def test_the_page_says_what_its_model_does_not_read(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("store.embedding.active_model._ENGLISH", ("bags",))
    memory.memories.store_memory("安娜对花生过敏")
    assert "bags does not read Chinese" in shown(opened("memory", ask="安娜对什么过敏"))
    assert "bags does not read" not in shown(opened("memory", view="Browse", kind="Memories"))
    assert "bags does not read Chinese" in shown(
        opened("memory", view="Browse", kind="Memories", words="花生")
    )
    labels = [one.label for one in opened("settings", section="System status").expander]
    assert any("a language that bags does not read" in label for label in labels)


def test_a_link_to_a_missing_entry_says_so(memory: Memory) -> None:
    assert "This entry is not there" in words(opened("memory", entry="memories:mem_0"))
    assert "This entry is not there" in words(opened("memory", entry="nothing:1"))


@pytest.mark.parametrize("view", VIEWS)
def test_a_viewer_sees_everything_but_cannot_change_anything(
    view: str, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings(), "viewers", "tester")
    app = opened("memory", view=view, ask=QUESTION, kind="Sessions", scope_session_memory="mira_lantern")
    looking = {"", "Restore default", "Open"}
    assert {button.label for button in app.button if not button.disabled} <= looking
    assert "reading only" in words(app)


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_opens_read_only_while_another_program_writes(view: str, memory: Memory) -> None:
    assert "reading only" in words(opened("memory", reading_only=True, view=view, ask=QUESTION))
