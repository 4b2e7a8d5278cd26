"""The page Memory: how it opens, and what its controls store."""

import re
from pathlib import Path

import pytest

from components.shell.page.tour import STOPS
from store.errors import ModelUnavailable
from store.memory.memory import Memory
from store.memory.verbs import KINDS, MemoryVerbs
from store.settings import settings
from tests.pages.conftest import finish_jobs, opened, press, rerun, send, shown, words
from tests.store.language_model_server import running, says
from tests.store.memory.bags import Bags

VIEWS = ("Test retrieval", "Prompt preview", "Ask", "Browse", "Connections", "Status")
README = Path(__file__).parent.parent.parent / "README.md"
QUESTION = "Who lights the lamps of the city?"


def test_an_empty_memory_says_what_it_is_for_and_loads_the_demo(empty_memory: Memory) -> None:
    app = opened("memory")
    assert "The text memory is empty" in words(app)
    press(app, "Load the demo memory")
    finish_jobs()
    assert all(empty_memory.status().counts.values())
    assert "Asks 6 lore chunks, 14 exchanges, 14 memories, 4 passages, 16 transcript chunks" in words(
        rerun(app)
    )


def test_retrieval_covers_every_kind_and_shows_near_misses(memory: Memory) -> None:
    app = opened("memory", ask=QUESTION)
    message = shown(app)
    for title in ("Lore", "Sessions", "Memories", "Papers", "Transcripts"):
        assert f"**{title}**" in message
    for sign in ("%", "σ", "words"):
        assert f"**{sign}**: how" in message, "every figure of a card is explained"
    assert "<mark>lamps</mark>" in message
    assert "below the threshold" in message, "memories under 30 % are greyed, not hidden"
    assert "below top 5" in message
    assert "σ" in message


def test_kinds_are_ordered_by_their_best_hit_on_one_scale_beside_what_a_model_is_told(memory: Memory) -> None:
    app = opened("memory")
    press(app, "Who lights the lamps?")
    assert app.text_input(key="ask").value == "Who lights the lamps?"
    message = shown(app)
    bests = [float(found) for found in re.findall(r"<b>(-?[\d.]+) %</b>", message)]
    assert len(bests) == message.count('class="mdx-head"'), "every score is in percent"
    assert max(bests) == bests[0]
    assert "What a model would be told" in message
    assert "in mempool" in message, "the world of the best hit"
    assert "--- RECENT MEMORY ---" in app.code[0].value


def test_the_tour_and_the_readme_ask_what_the_demo_memory_answers(memory: Memory) -> None:
    (stop,) = [one for one in STOPS if one.heading == "Memory"]
    question, answer = stop.parameters["prompt"], "The Silver Skull guards the vault"
    fifth_step = re.sub(r"\s+", " ", README.read_text("utf-8").partition("\n5. ")[2].partition("\n\n")[0])
    assert question.rstrip("?").lower() in fifth_step
    tour, preview = (
        opened("memory", **stop.parameters),
        opened("memory", view="Prompt preview", prompt=question),
    )
    for app in (tour, preview, opened("memory", ask=question)):
        assert answer in app.code[0].value
        assert "an empty room" not in app.code[0].value, "no other world was asked"
    told = [chunk.text for chunk in MemoryVerbs(memory).assemble(question, world="tide_archive").chunks]
    assert any(answer in text for text in told)


def test_beside_hits_of_papers_a_model_is_told_passages_of_papers(memory: Memory) -> None:
    app = opened("memory", ask="When is a loan liquidated?", kinds="Papers")
    told = app.code[0].value
    first = memory.documents.search("When is a loan liquidated?")[0]["content"]
    assert told.startswith("--- PASSAGES OF PAPERS ---")
    assert first in told
    assert "RECENT MEMORY" not in told, "only what is asked"
    assert told == MemoryVerbs(memory).assemble("When is a loan liquidated?", kinds=["documents"]).text


def test_an_empty_context_says_that_nothing_fits_and_not_that_nothing_is_there(memory: Memory) -> None:
    app = opened("memory", ask="Xyzzy plugh", kinds="Memories")
    assert "The context is empty: nothing here fits the prompt." in words(app)


def test_a_template_saved_for_everybody_reaches_agents(memory: Memory) -> None:
    app = opened("memory", view="Prompt preview", prompt="lamps", **{"in": "mempool_city"})
    app.text_area(key="memedex.template").set_value("Mira knows:\n{lore}")
    send(rerun(app), "keep-template")
    found = MemoryVerbs(memory).assemble("lamps", world="mempool_city")
    assert found.text.startswith("Mira knows:\n")
    assert "Not in it:" in words(rerun(app))
    assert "Papers: the template has no {documents}" in words(app)


def test_a_retrieval_test_can_be_shared_as_a_link(memory: Memory) -> None:
    app = opened("memory", ask="fees", kinds="Papers", protocols="harbor", each="1", scores="calibrated")
    message = shown(app)
    assert "**Papers · harbor**" in message
    assert "another filter" in message, "passages of the other protocol are near misses"
    assert "**Lore**" not in message


def test_two_protocols_are_compared_side_by_side(memory: Memory) -> None:
    app = opened("memory", ask="fees", kinds="Papers")
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
    bags = memory.passages["memories"].embedder
    assert isinstance(bags, Bags)
    from store.errors import ModelUnavailable

    def fails(texts: object) -> None:
        raise ModelUnavailable("no weights here")

    bags.embed_texts = fails  # type: ignore[method-assign, assignment]
    app = opened("memory", ask=QUESTION)
    assert words(app).count("by words alone: the model is away") == len(KINDS)


def test_the_prompt_preview_equals_the_reference_context(memory: Memory) -> None:
    where = {"in": "mempool_city", "of": "mira_lantern"}
    app = opened("memory", view="Prompt preview", prompt=QUESTION, **where)
    message = words(app)
    assert "--- RECENT MEMORY ---\nUser: " in app.code[0].value
    assert "`context_warning`: lore has 1,402 characters, more than 1,000" in message
    assert "2. The city has seven gates" in message, "the other chunk says nine"
    assert not memory.passages["world_lore"].questions.all(), "a preview does not count as a question"

    app.number_input(key="n_lore").set_value(1)
    assert "context_warning" not in words(rerun(app))


def test_a_custom_template_can_be_saved(memory: Memory) -> None:
    app = opened("memory", view="Prompt preview", prompt=QUESTION)
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
        app = opened("memory", view="Ask")
        send(app, "ask-memory", question=QUESTION, world="", session="mira_lantern")
        finish_jobs()
        rerun(app)
    assert "Mira lights them [1]." in words(app)
    assert "**[1]**" in words(app)
    assert QUESTION in server.requests[0]["messages"][1]["content"]


def test_without_a_configured_language_model_one_can_be_named(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running() as server:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        monkeypatch.setattr(settings(), "caption_api_base", server.address)
        reply = says("Mira lights them.")
        reply.streamed = True
        server.answers = [reply]
        app = opened("memory", view="Ask")
        assert "Choose a language model" in [link.label for link in app.main.page_link]
        with pytest.raises(ModelUnavailable):
            send(app, "ask-memory", question=QUESTION, world="", session="", model=" ")
        send(app, "ask-memory", question=QUESTION, world="", session="", model="openai/m")
        finish_jobs()
        rerun(app)
    assert "Mira lights them." in words(app)


def test_test_retrieval_filters_by_tags_and_dates(memory: Memory) -> None:
    memory.memories.store_memory("lamps of the city", ["lamp"])
    asked = {"ask": QUESTION, "kinds": "Memories"}
    assert "lamps of the city" in shown(opened("memory", **asked, tags="lamp")).replace("<mark>", "").replace(
        "</mark>", ""
    )
    app = opened("memory", **asked, until="2020-01-01")
    assert "No hit above the threshold" in shown(app)


def test_the_page_says_what_its_model_does_not_read(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("store.embedding.multilingual._ENGLISH", ("bags",))
    memory.memories.store_memory("安娜对花生过敏")
    assert "bags does not read Chinese" in shown(opened("memory", ask="安娜对什么过敏"))
    assert "bags does not read" not in shown(opened("memory", view="Browse", kind="Memories"))
    assert "bags does not read Chinese" in shown(
        opened("memory", view="Browse", kind="Memories", words="花生")
    )
    labels = [one.label for one in opened("memory", view="Status").expander]
    assert any("a language that bags does not read" in label for label in labels)


def test_a_link_to_a_missing_entry_says_so(memory: Memory) -> None:
    assert "This entry is not there" in words(opened("memory", entry="memories:mem_0"))
    assert "This entry is not there" in words(opened("memory", entry="nothing:1"))


@pytest.mark.parametrize("view", VIEWS)
def test_a_viewer_sees_everything_but_cannot_change_anything(
    view: str, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings(), "viewers", "tester")
    app = opened("memory", view=view, ask=QUESTION, prompt=QUESTION, kind="Sessions",
                 scope_session_memory="mira_lantern", coin="Rainy Frog")  # fmt: skip
    looking = {"", "Restore default", "Open"}
    assert {button.label for button in app.button if not button.disabled} <= looking
    assert "reading only" in words(app)


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_opens_read_only_while_another_program_writes(view: str, memory: Memory) -> None:
    assert "reading only" in words(opened("memory", reading_only=True, view=view, ask=QUESTION))
