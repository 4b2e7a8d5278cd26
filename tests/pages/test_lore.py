"""The Lore & memory page: how it opens, and what its controls store."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from components.memory import models
from components.overview import model_choice
from store.library import Library
from store.memory import demo
from store.memory.memory import Memory
from store.settings import settings
from tests.pages.conftest import finish_jobs, opened, press, rerun, send, words
from tests.store.language_model_server import running, says
from tests.store.memory.bags import Bags
from tests.store.memory.traces import traces

VIEWS = ("Test retrieval", "Prompt preview", "Ask", "Browse", "Connections", "Status")
QUESTION = "Who lights the lamps of the city?"


@pytest.fixture
def empty_memory(empty: Library, tmp_path: Path) -> Iterator[Memory]:
    """A text memory without an entry; the page opens this very one."""
    memory = Memory.open(tmp_path, embedder=Bags())
    yield memory
    memory.close()


@pytest.fixture
def memory(empty_memory: Memory) -> Memory:
    demo.load(empty_memory)
    return empty_memory


def shown(app: AppTest) -> str:
    """All that the page says, cards included."""
    return words(app) + "\n".join(str(card.proto.body) for card in app.get("html"))


def test_an_empty_memory_says_what_it_is_for_and_loads_the_demo(empty_memory: Memory) -> None:
    app = opened("lore")
    assert "The text memory is empty" in words(app)
    press(app, "Load the demo memory")
    finish_jobs()
    assert all(empty_memory.status().counts.values())
    assert "Asks 6 chunks, 14 exchanges, 14 memories, 4 passages, 16 chunks" in words(rerun(app))


def test_retrieval_covers_every_kind_and_shows_near_misses(memory: Memory) -> None:
    app = opened("lore", ask=QUESTION)
    said = shown(app)
    for title in ("Lore", "Sessions", "Memories", "Papers", "Transcripts"):
        assert f"**{title}**" in said
    assert "<mark>lamps</mark>" in said
    assert "below the threshold" in said, "memories under 30 % are greyed, not hidden"
    assert "below top 5" in said
    assert "σ" in said


def test_kinds_are_ordered_by_their_best_hit_on_one_scale_beside_what_a_model_is_told(memory: Memory) -> None:
    app = opened("lore")
    press(app, "Who lights the lamps?")
    assert app.text_input(key="ask").value == "Who lights the lamps?"
    said = shown(app)
    bests = [float(found) for found in re.findall(r"<b>(-?[\d.]+) %</b>", said)]
    assert len(bests) == said.count('class="mdx-head"'), "every score is in percent"
    assert max(bests) == bests[0]
    assert "What a model would be told" in said
    assert "in mempool" in said, "the world of the best hit"
    assert "--- RECENT MEMORY ---" in app.code[0].value


def test_the_question_has_its_own_parameters_and_old_links_still_work(memory: Memory) -> None:
    app = opened("lore", q="fees", n="7", kinds="Papers")
    assert app.text_input(key="ask").value == "fees"
    assert app.slider(key="each").value == 7
    # These belong to the search page; going back would mix up the two pages.
    assert not {"q", "n"} & app.query_params.keys()


def test_a_retrieval_test_can_be_shared_as_a_link(memory: Memory) -> None:
    app = opened("lore", ask="fees", kinds="Papers", protocols="harbor", each="1", scores="calibrated")
    said = shown(app)
    assert "**Papers · harbor**" in said
    assert "another filter" in said, "passages of the other protocol are near misses"
    assert "**Lore**" not in said


def test_two_protocols_are_compared_side_by_side(memory: Memory) -> None:
    app = opened("lore", ask="fees", kinds="Papers")
    app.multiselect(key="protocols").set_value(["harbor", "millrace"])
    said = shown(rerun(app))
    assert "**Papers · harbor**" in said
    assert "**Papers · millrace**" in said


@pytest.mark.parametrize("mode", ["words", "both"])
def test_transcripts_are_also_found_by_words(mode: str, memory: Memory) -> None:
    assert "word rank 1" in shown(opened("lore", ask="restart", kinds="Transcripts", mode=mode))


def test_untrusted_text_is_shown_and_never_interpreted(memory: Memory) -> None:
    memory.memories.store_memory("lamps <img src=x onerror=alert(1)> ![](http://evil) $x$ city")
    said = shown(opened("lore", ask="lamps city", kinds="Memories"))
    assert "&lt;img src=x onerror=alert(1)&gt;" in said
    assert "<img" not in said


def test_a_failing_model_is_reported_and_the_page_still_works(memory: Memory) -> None:
    bags = memory.passages["memories"].embedder
    assert isinstance(bags, Bags)
    from store.errors import ModelUnavailable

    def fails(texts: object) -> None:
        raise ModelUnavailable("no weights here")

    bags.embed_texts = fails  # type: ignore[method-assign, assignment]
    app = opened("lore", ask=QUESTION)
    assert "This could not be asked:" in words(app)
    assert "no weights here" in words(app)


def test_the_prompt_preview_equals_the_reference_context(memory: Memory) -> None:
    where = {"in": "mempool_city", "of": "mira_lantern"}
    app = opened("lore", view="Model's view", prompt=QUESTION, **where)
    said = words(app)
    assert "--- RECENT MEMORY ---\nUser: " in app.code[0].value
    assert "`context_warning`: lore has 1,402 characters, more than 1,000" in said
    assert "2. The city has seven gates" in said, "the other chunk says nine"
    assert not memory.passages["world_lore"].questions.all(), "a preview does not count as a question"

    app.number_input(key="n_lore").set_value(1)
    assert "context_warning" not in words(rerun(app))


def test_a_custom_template_can_be_saved(memory: Memory) -> None:
    app = opened("lore", view="Model's view", prompt=QUESTION)
    app.text_area(key="memedex.template").set_value("{nonsense}")
    assert "the template names {nonsense}" in words(rerun(app))
    app.text_area(key="memedex.template").set_value("Papers:\n{documents}")
    press(rerun(app), "Keep for everybody")
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
        app = opened("lore", view="Ask")
        send(app, "ask-memory", question=QUESTION, world="", session="mira_lantern")
        finish_jobs()
        rerun(app)
    assert "Mira lights them [1]." in words(app)
    assert "**[1]**" in words(app)
    assert QUESTION in server.asked[0]["messages"][1]["content"]


def test_without_a_language_model_the_page_says_what_to_set(memory: Memory) -> None:
    app = opened("lore", view="Ask")
    assert any("MEMEDEX_CAPTION_MODEL" in text.value for text in app.text)


def test_an_undone_decision_can_be_redone(memory: Memory) -> None:
    memory.memories.store_memory("Kettles whistle", actor="tester")
    before = memory.memories.passages.count()
    app = opened("lore", view="Browse")
    send(app, "undo-memory")
    assert memory.memories.passages.count() == before - 1
    send(opened("lore", view="Browse"), "redo-memory")
    assert memory.memories.passages.count() == before


def test_browsing_finds_words_and_deletes_matches_with_undo(memory: Memory) -> None:
    app = opened("lore", view="Browse", kind="Memories", words="backups")
    assert "2 memories" in words(app)
    send(app, "delete-all")
    assert memory.passages["memories"].count() == 12
    send(app, "undo-memory")
    assert memory.passages["memories"].count() == 14


def test_browsing_shows_stale_and_near_duplicate_entries(memory: Memory) -> None:
    for _ in range(2):
        memory.memories.store_memory("said twice today")
    app = opened("lore", view="Browse", kind="Memories", which="Stale", days="1")
    assert "14 memories" in words(app), "all but the new ones"
    app.segmented_control(key="which").set_value("alike")
    assert "1 pair with a cosine of 0.95 or more" in words(rerun(app))


def test_a_link_to_near_duplicates_opens_them(memory: Memory) -> None:
    for which in ("alike", "Near-duplicates"):
        app = opened("lore", view="Browse", kind="Memories", which=which)
        assert app.segmented_control(key="which").value == "alike"


def test_test_retrieval_filters_by_tags_and_dates(memory: Memory) -> None:
    memory.memories.store_memory("lamps of the city", ["lamp"])
    asked = {"ask": QUESTION, "kinds": "Memories"}
    assert "lamps of the city" in shown(opened("lore", **asked, tags="lamp")).replace("<mark>", "").replace(
        "</mark>", ""
    )
    app = opened("lore", **asked, until="2020-01-01")
    assert "No hit above the threshold" in shown(app)


def test_the_page_says_what_its_model_does_not_read(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("store.embedding.languages._ENGLISH", ("bags",))
    memory.memories.store_memory("安娜对花生过敏")
    assert "bags does not read Chinese" in shown(opened("lore", ask="安娜对什么过敏"))
    assert "bags does not read" not in shown(opened("lore", view="Browse", kind="Memories"))
    assert "bags does not read Chinese" in shown(opened("lore", view="Browse", kind="Memories", words="花生"))
    labels = [one.label for one in opened("lore", view="Status").expander]
    assert any("a language that bags does not read" in label for label in labels)


def test_a_session_is_permanently_deleted_with_all_its_characters(memory: Memory) -> None:
    app = opened("lore", view="Browse", kind="Sessions", scope_session_memory="mira_lantern")
    press(app, "Forget all 2 characters' keys of lantern")
    assert memory.sessions.passages.counts() == {"capy_budget-debate": 4}


def test_a_forgotten_session_is_in_no_file_of_the_root(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stored, edited, asked about and undone on the page; jobs, requests and drafts are in the catalog."""
    words_ = ["zanzibarium", "xylophonist"]
    root = memory.places.root
    app = opened("lore", view="Browse", kind="Sessions")
    send(app, "add-exchange", key="elf_xylophonist", prompt="Where is the zanzibarium?", answer="Gone.")
    send(app, "add-exchange", key="elf_xylophonist", prompt="A zanzibarium, again", answer="No.")
    send(app, "undo-memory")
    with running() as server:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        monkeypatch.setattr(settings(), "caption_model", "openai/m")
        monkeypatch.setattr(settings(), "caption_api_base", server.address)
        reply = says("The zanzibarium is gone [1].")
        reply.streamed = True
        server.answers = [reply]
        send(opened("lore", view="Ask"), "ask-memory", question="zanzibarium?", world="",
             session="elf_xylophonist")  # fmt: skip
        finish_jobs()
    assert traces(root, words_, []), "while it is remembered, the search finds it"
    app = opened("lore", view="Browse", kind="Sessions", scope_session_memory="elf_xylophonist")
    press(app, "Forget this key")
    assert traces(root, words_, []) == {}
    assert "undo never reaches past that" in memory.why_no_undo(by="tester")


def test_papers_list_their_files_and_can_be_removed_with_undo(memory: Memory) -> None:
    app = opened("lore", view="Browse", kind="Papers", scope_documents="harbor")
    assert "harbor\\_lending\\.pdf" in words(app)
    (source,) = (one for one in memory.documents.sources() if one.protocol == "harbor")
    send(app, f"remove-{source.id}")
    assert memory.documents.protocols() == {"millrace": 2}
    send(app, "undo-memory")
    assert set(memory.documents.protocols()) == {"harbor", "millrace"}


def test_events_are_found_by_their_fields(memory: Memory) -> None:
    app = opened("lore", view="Browse", kind="Events", level="ERROR")
    assert "1 event" in words(app)
    assert app.dataframe[0].value["error_type"].to_list() == ["TimeoutError"]


def test_several_projects_are_browsed_and_searched_together(empty_memory: Memory, tmp_path: Path) -> None:
    for project in ("bridges", "rivers", "roads"):
        folder = tmp_path / "recorded" / project
        folder.mkdir(parents=True)
        about = {"session_id": f"s-{project}", "user_id": "ann", "project_slug": project}
        (folder / "metadata.json").write_text(json.dumps(about))
        said = {"role": "user", "content": f"how do {project} age"}
        (folder / "transcript.jsonl").write_text(json.dumps(said))
    empty_memory.transcripts.import_sessions([tmp_path / "recorded"])
    app = opened("lore", view="Browse", kind="Transcripts")
    app.multiselect(key="project").set_value(["bridges", "roads"])
    found_texts = app.run().dataframe[0].value["text"].to_list()
    assert sorted(found_texts) == ["how do bridges age", "how do roads age"]

    app = opened("lore", ask="how do they age", mode="full_text")
    app.multiselect(key="project").set_value(["rivers", "roads"])
    page = shown(app.run())
    assert "Not retrieved · 1 nearest" in page, "the third project's session is only nearly found"
    assert "There is nothing of this kind yet." in page, "searching an empty kind is not an error"
    assert page.index("**Transcripts**") < page.index("**Lore**"), "what has a hit comes first"


def test_a_page_number_beyond_the_end_shows_the_last_page(memory: Memory) -> None:
    app = opened("lore", view="Browse", kind="Memories", page_memories="99")
    assert "14 memories" in words(app)


def test_connections_lead_from_a_coin_to_the_entries_that_mention_it(
    library: Library, memory: Memory
) -> None:
    memory.lore.add_lore("mempool_city", "frog", "Under the lamp sits the Rainy Frog.")
    said = words(opened("lore", view="Connections", coin="Rainy Frog"))
    assert "1 entry names it." in said
    assert "Under the lamp sits the Rainy Frog." in said


def test_the_status_view_reports_an_unusable_kind_and_shows_the_others(
    memory: Memory, tmp_path: Path
) -> None:
    memory.close()
    st.cache_resource.clear()
    path = memory.places.database("documents")
    path.write_bytes(b"rubbish" * 1000)
    app = opened("lore", view="Health")
    assert "One kind of memory cannot be used; all others work:" in words(app)
    assert f"{path} cannot be read" in words(app)
    assert len(app.metric) == 5
    Memory.open(tmp_path).close()  # the one that the page opened


def test_the_status_view_lists_every_concern_with_its_remedy(memory: Memory) -> None:
    app = opened("lore", view="Health")
    labels = [expander.label for expander in app.expander]
    assert any("worlds without lore" in label for label in labels)
    assert "Remedy: " in words(app)
    press(app, "Run check")
    finish_jobs()
    assert "blank_atlas has no lore" in rerun(app).dataframe[-1].value["what"].to_list()[0]


def test_a_world_file_edited_while_the_dashboard_runs_is_reported_and_reloaded(memory: Memory) -> None:
    changed = "files of worlds that are new or changed"
    assert not any(changed in expander.label for expander in opened("lore", view="Health").expander)
    (memory.places.worlds / "blank_atlas.yaml").write_text("id: blank_atlas\nlore: A page is filled at last.")
    (memory.places.worlds / "broken.yml").write_text("- no world")
    app = opened("lore", view="Health")
    assert any(changed in expander.label and "· 2" in expander.label for expander in app.expander)
    assert "broken.yml" in words(app)
    press(app, "Read it again")
    finish_jobs()
    assert memory.lore.query_lore("blank_atlas", "page") == (["A page is filled at last."], False)
    assert memory.lore.unread_files(memory.places.worlds) == ["broken.yml"]


def test_a_broken_world_is_named_with_an_example_and_the_good_one_beside_it_is_imported(
    memory: Memory,
) -> None:
    app = opened("lore", view="Browse", kind="world_lore")
    good = ("frogland.yaml", b"id: frogland\nlore: Frogs rule the ponds.", "text/yaml")
    bad = ("broken.yaml", b"id: peaks\nname: Peaks\nlore: a: b", "text/yaml")
    app.file_uploader[0].set_value([good, bad])
    said = words(rerun(app)) + "\n".join(code.value for code in app.code)
    assert "broken\\.yaml cannot be imported" in said
    assert "line 3: this is not YAML: mapping values are not allowed here" in said
    assert "a world looks like this:\nid: frogland\nname: Frogland\nlore: " in said
    press(app, "Import 1 world")
    finish_jobs()
    assert memory.lore.query_lore("frogland", "ponds") == (["Frogs rule the ponds."], False)
    assert not (memory.places.worlds / "broken.yaml").exists()


def test_the_model_of_one_kind_can_be_changed_on_the_status_view(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "open_embedder", lambda name: Bags(name="other"))
    monkeypatch.setattr(model_choice, "open_embedder", lambda name: Bags(name="other"))
    app = opened("lore", view="Health")
    app.selectbox(key="memory-model-kind").set_value("memories")
    press(rerun(app), "Embed them with it")
    finish_jobs()
    assert memory.passages["memories"].model == "other"
    assert memory.passages["world_lore"].model != "other"
    assert "other · 14" in words(rerun(app))


def test_a_link_to_a_missing_entry_says_so(memory: Memory) -> None:
    assert "This entry is not there" in words(opened("lore", entry="memories:mem_0"))
    assert "This entry is not there" in words(opened("lore", entry="nothing:1"))


@pytest.mark.parametrize("view", VIEWS)
def test_a_viewer_sees_everything_but_cannot_change_anything(
    view: str, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings(), "viewers", "tester")
    app = opened("lore", view=view, q=QUESTION, prompt=QUESTION, kind="Sessions",
                 scope_session_memory="mira_lantern", coin="Rainy Frog")  # fmt: skip
    looking = {"", "As in the reference", "Open"}
    assert {button.label for button in app.button if not button.disabled} <= looking
    assert "reading only" in words(app)


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_opens_read_only_while_another_program_writes(view: str, memory: Memory) -> None:
    assert "reading only" in words(opened("lore", reading_only=True, view=view, q=QUESTION))
