"""Browse of the text memory's page, coins that texts name, and what is deleted there."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from components.shell.page import forms, uploads
from components.shell.session import session
from store.errors import InvalidRecord
from store.library import Library
from store.memory.engine.inputs import InvalidInput
from store.memory.memory import Memory
from store.permissions import Actor
from store.settings import settings
from tests.pages.conftest import finish_jobs, opened, press, rerun, send, sendable, shown, words
from tests.store.language_model_server import running, says
from tests.store.memory.traces import traces


@pytest.mark.slow
def test_an_undone_decision_can_be_redone(memory: Memory) -> None:
    memory.memories.store_memory("Kettles whistle", actor="tester")
    before = memory.memories.entries.count()
    app = opened("memory", view="Browse")
    send(app, "undo-memory")
    assert memory.memories.entries.count() == before - 1
    send(opened("memory", view="Browse"), "redo-memory")
    assert memory.memories.entries.count() == before


def test_an_undo_that_is_sent_twice_or_late_reverses_what_its_page_showed(memory: Memory) -> None:
    for text in ("Kettles whistle", "Kettles sing"):
        memory.memories.store_memory(text, actor="tester")
    before = memory.memories.entries.count()
    opened("memory", view="Browse")
    undo = next(form for (_, key), form in forms._forms.items() if key == "undo-memory")
    for _ in range(2):
        undo.send(forms.Sent({}, "a"))
    undo.send(forms.Sent({}, "b"))
    assert memory.memories.entries.count() == before - 1
    opened("memory", view="Browse")
    redo = next(form for (_, key), form in forms._forms.items() if key == "redo-memory")
    for decision in ("c", "c", "d"):
        redo.send(forms.Sent({}, decision))
    assert memory.memories.entries.count() == before


def test_an_undo_reverses_what_its_page_decided_since_it_was_drawn(memory: Memory) -> None:
    memory.memories.store_memory("Kettles whistle", actor="tester")
    opened("memory", view="Browse")
    (session_id, _), undo = next(each for each in forms._forms.items() if each[0][1] == "undo-memory")
    ours = memory.for_actor(Actor("tester", via="page"))
    ours.memories.store_memory("Kettles sing", decision="a")
    ours.memories.store_memory("Kettles boil", decision="elsewhere")
    memory.undo_decisions(["elsewhere"])
    session.note_decision(session_id, "a")
    undo.send(forms.Sent({}, "b"))
    assert memory.log.get("b").reverses == "a"


def test_an_undo_that_would_lose_a_later_change_is_refused(memory: Memory) -> None:
    id = memory.memories.store_memory("Kettles whistle", actor="tester")["memory_id"]
    app = opened("memory", view="Browse")
    memory.memories.edit(id, content="Kettles sing", actor="somebody else")
    with pytest.raises(InvalidRecord, match="it was changed since"):
        send(app, "undo-memory")
    assert memory.memories.entries.get(id)["content"] == "Kettles sing"


def test_browsing_finds_words_and_deletes_matches_with_undo(memory: Memory) -> None:
    app = opened("memory", view="Browse", kind="Memories", layout="Table", words="backups")
    assert "2 memories" in words(app)
    send(app, "delete-all")
    assert memory.kinds["memories"].count() == 12
    send(app, "undo-memory")
    assert memory.kinds["memories"].count() == 14


def read(**scope: str) -> str:
    """The reader's text for this scope, as HTML."""
    (found,) = (
        str(one.proto.body)
        for one in opened("memory", view="Browse", **scope).get("html")
        if '<div class="mdx-read">' in str(one.proto.body)
    )
    return found


def test_a_session_reads_as_a_conversation(memory: Memory) -> None:
    said = read(kind="Sessions", scope_session_memory="mira_lantern")
    assert said.count('<div class="mdx-user">') == said.count('<div class="mdx-model">') == 7
    assert said.index("Where am I?") < said.index("At the third gate") < said.index("Who lit the lamp?")
    assert "User: " not in said
    assert "entry=session_memory%3Amira_lantern_0" in said, "each turn opens"


def test_a_recorded_session_reads_as_a_conversation_with_its_tools_folded(memory: Memory) -> None:
    said = read(kind="Transcripts", scope_transcript_vectors="lantern-deploy")
    assert said.count('<div class="mdx-user">') == 2
    assert said.count("<details>") == 4
    assert "<details open>" in read(
        kind="Transcripts", scope_transcript_vectors="lantern-deploy", words="memory_key"
    )


def test_a_conversation_shows_its_title_and_leads_to_its_versions_and_helpers(
    memory: Memory, tmp_path: Path
) -> None:
    said = [
        {"uuid": "1", "parent_message_uuid": "0", "sender": "human", "text": "Who lives here?"},
        {"uuid": "2", "parent_message_uuid": "1", "sender": "assistant", "content": [
            {"type": "thinking", "thinking": "Look first."}, {"type": "text", "text": "A heron."},
        ]},
        {"uuid": "3", "parent_message_uuid": "1", "sender": "assistant", "text": "A frog."},
    ]  # fmt: skip
    (tmp_path / "conversations.json").write_text(json.dumps([
        {"uuid": "pond-1", "name": "Pond <lore>", "current_leaf_message_uuid": "2", "chat_messages": said},
    ]))  # fmt: skip
    memory.transcripts.import_sessions([tmp_path])
    app = opened("memory", view="Browse", kind="Transcripts", scope_transcript_vectors="pond-1")
    text = shown(app)
    assert "<h2>Pond &lt;lore&gt;</h2>" in text
    assert text.index("Who lives here?") < text.index("Look first.") < text.index("A heron.")
    assert "A frog." not in text
    press(app, "Version 3")
    assert "A frog." in shown(app)
    press(app, "Belongs to pond\\-1")
    assert "A heron." in shown(app)


def test_papers_and_worlds_read_in_their_order(memory: Memory) -> None:
    paper = read(kind="Papers", scope_documents="harbor")
    assert (
        paper.index("<h2>harbor_lending.pdf</h2>")
        < paper.index("page 1 · 3. Liquidation")
        < paper.index("page 2")
    )
    world = read(kind="Lore", scope_world_lore="mempool_city")
    assert "its lanes are fees, and nobody who walks slowly is ever on time" in world, (
        "lines of its file are joined"
    )


def test_a_read_text_has_the_searched_words_marked_and_is_never_interpreted(memory: Memory) -> None:
    memory.memories.store_memory("lamps <img src=x onerror=alert(1)>")
    text = read(kind="Memories", words="lamps")
    assert "<mark>lamps</mark> &lt;img src=x onerror=alert(1)&gt;" in text


def test_browsing_shows_stale_and_near_duplicate_entries(memory: Memory) -> None:
    for _ in range(2):
        memory.memories.store_memory("said twice today")
    app = opened("memory", view="Browse", kind="Memories", which="Stale", days="1")
    assert "14 memories" in words(app), "all but the new ones"
    app.segmented_control(key="which").set_value("alike")
    assert "1 pair with a cosine of 0.95 or more" in words(rerun(app))


def test_a_link_to_near_duplicates_opens_them(memory: Memory) -> None:
    for which in ("alike", "Near-duplicates"):
        app = opened("memory", view="Browse", kind="Memories", which=which)
        assert app.segmented_control(key="which").value == "alike"


def test_a_session_is_permanently_deleted_with_all_its_characters(memory: Memory) -> None:
    app = opened("memory", view="Browse", kind="Sessions", scope_session_memory="mira_lantern")
    press(app, "Delete all 2 keys of lantern")
    assert memory.session_memory.entries.counts() == {"capy_budget-debate": 4}


@pytest.mark.slow
def test_a_forgotten_session_is_in_no_file_of_the_root(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stored, edited, asked about and undone on the page; jobs, requests and drafts are in the catalog."""
    words_ = ["zanzibarium", "xylophonist"]
    root = memory.places.root
    app = opened("memory", view="Browse", kind="Sessions")
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
        send(opened("memory", ask="zanzibarium?", session="elf_xylophonist"), "ask-memory")
        finish_jobs()
    assert traces(root, words_, []), "while it is remembered, the search finds it"
    app = opened("memory", view="Browse", kind="Sessions", scope_session_memory="elf_xylophonist")
    press(app, "Delete this key")
    assert traces(root, words_, []) == {}
    assert "undo never reaches past that" in memory.log.why_no_undo("tester")


def test_papers_list_their_files_and_can_be_removed_with_undo(memory: Memory) -> None:
    app = opened("memory", view="Browse", kind="Papers", scope_documents="harbor")
    assert "harbor\\_lending\\.pdf" in words(app)
    (source,) = (one for one in memory.documents.sources() if one.protocol == "harbor")
    send(app, f"remove-{source.id}")
    assert memory.protocols() == {"millrace": 2}
    send(app, "undo-memory")
    assert set(memory.protocols()) == {"harbor", "millrace"}


def test_a_passage_of_a_paper_is_split_and_merged_in_its_drawer_with_undo(memory: Memory) -> None:
    first = memory.documents.entries.find(where={"protocol": "harbor"})[0]
    count, words_ = memory.documents.entries.count(), first["content"].split()
    beginning = " ".join(words_[10:14])
    entry = {"entry": f"documents:{first['id']}"}
    send(
        opened("memory", view="Browse", kind="Papers", **entry), f"passage-split-{first['id']}", at=beginning
    )
    halves = memory.documents.entries.find(where={"protocol": "harbor"})[:2]
    assert memory.documents.entries.count() == count + 1
    assert " ".join(one["content"] for one in halves).split() == words_
    assert halves[1]["content"].startswith(beginning)
    send(opened("memory", view="Browse", kind="Papers", **entry), f"passage-merge-{first['id']}")
    assert memory.documents.entries.get(first["id"])["content"] == first["content"]
    for left in (count + 1, count):
        send(opened("memory", view="Browse", kind="Papers", **entry), "undo-memory")
        assert memory.documents.entries.count() == left
    assert memory.documents.entries.get(first["id"]) == first


def test_papers_of_before_are_offered_their_sections(memory: Memory) -> None:
    (source,) = (one for one in memory.documents.sources() if one.protocol == "harbor")
    assert f"sections-{source.id}" not in _forms()
    with memory.documents.entries.database.writing() as db:
        db.execute("UPDATE sources SET has_sections = 0")
        db.execute("UPDATE documents SET section = ''")
    send(opened("memory", view="Browse", kind="Papers", scope_documents="harbor"), f"sections-{source.id}")
    assert f"sections-{source.id}" not in _forms()
    (again,) = (one for one in memory.documents.sources() if one.protocol == "harbor")
    assert again.has_sections


def _forms() -> list[str]:
    forms._forms.clear()
    opened("memory", view="Browse", kind="Papers", scope_documents="harbor")
    return sendable()


def test_an_imported_paper_that_the_model_does_not_read_is_named_when_its_import_ends(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("store.embedding.active_model._ENGLISH", ("bags",))
    app = opened("memory", view="Browse", kind="Papers", scope_documents="harbor")
    app.file_uploader[0].set_value([("借贷.md", "抵押品的价值下降时会被清算。".encode(), "text/markdown")])
    toasts = [*send(rerun(app), "import-papers", protocol="harbor").toast]  # it may have ended already
    finish_jobs()
    message = " ".join(toast.value for toast in [*toasts, *rerun(app).toast])
    assert "借贷" in message
    assert "bags does not read Chinese" in message
    assert any(one.source == "借贷.md" for one in memory.documents.sources())


def imported(
    form: str,
    files: dict[str, bytes] | list[tuple[str, bytes, str]],
    kind: str,
    *,
    uploader: int = 0,
    **fields: str,
) -> str:
    """Import these files on the page; returns what it says when the import has ended."""
    app = opened("memory", view="Browse", kind=kind)
    given = [(name, content, "") for name, content in files.items()] if isinstance(files, dict) else files
    app.file_uploader[uploader].set_value(given)
    toasts = [*send(rerun(app), form, **fields).toast]
    finish_jobs()
    return " ".join(toast.value for toast in [*toasts, *rerun(app).toast]).replace("\\", "")


def test_a_second_import_on_the_page_changes_nothing_and_says_so(memory: Memory) -> None:
    papers = [("whitepaper.md", text, "text/markdown") for text in (b"Herons guard it", b"Goats guard it")]
    assert "2 new, 0 changed, 0 were there" in imported("import-papers", papers, "Papers", protocol="ponds")
    assert "0 new, 0 changed, 2 were there" in imported("import-papers", papers, "Papers", protocol="ponds")
    assert memory.protocols()["ponds"] == 2
    said = [("chat.jsonl", f'{{"role": "user", "content": "{text}"}}\n'.encode(), "") for text in "ab"]
    message = imported("import-transcripts", said, "Transcripts")
    assert "2 sessions: 2 new messages, 0 changed" in message
    assert "another conversation is stored as chat" in message
    assert "0 new messages, 0 changed, 0 new events, 2 were there" in imported(
        "import-transcripts", said, "Transcripts"
    )


def test_papers_imported_together_are_one_decision_and_the_others_are_named(memory: Memory) -> None:
    papers = [("pond.md", b"Herons guard it", ""), ("empty.pdf", b"", ""), ("hill.md", b"Goats guard it", "")]
    message = imported("import-papers", papers, "Papers", protocol="ponds")
    assert "Import 3 papers: done, 1 refused. 2 new, 0 changed, 0 were there; empty.pdf is no PDF" in message
    assert memory.protocols()["ponds"] == 2
    [id] = memory.log.to_undo(memory.actor.name)
    memory.undo_decisions([id])
    assert "ponds" not in memory.protocols()
    [refused] = opened("activity").dataframe
    assert refused.value["item"].to_list() == ["empty.pdf"]


def test_events_are_found_by_their_fields(memory: Memory) -> None:
    app = opened("memory", view="Browse", kind="Events", level="ERROR")
    assert "1 event" in words(app)
    assert app.dataframe[0].value["error_type"].to_list() == ["TimeoutError"]


def test_several_projects_are_browsed_and_searched_together(empty_memory: Memory, tmp_path: Path) -> None:
    for project in ("bridges", "rivers", "roads"):
        folder = tmp_path / "recorded" / project
        folder.mkdir(parents=True)
        about = {"session_id": f"s-{project}", "user_id": "ann", "project_slug": project}
        (folder / "metadata.json").write_text(json.dumps(about))
        message = {"role": "user", "content": f"how do {project} age"}
        (folder / "transcript.jsonl").write_text(json.dumps(message))
    empty_memory.transcripts.import_sessions([tmp_path / "recorded"])
    app = opened("memory", view="Browse", kind="Transcripts", layout="Table")
    app.multiselect(key="project").set_value(["bridges", "roads"])
    found_texts = app.run().dataframe[0].value["text"].to_list()
    assert sorted(found_texts) == ["how do bridges age", "how do roads age"]

    app = opened("memory", ask="how do they age", mode="full_text")
    app.multiselect(key="project").set_value(["rivers", "roads"])
    app.toggle(key="by_kind").set_value(True)
    page = shown(app.run())
    labels = [one.label for one in app.expander]
    assert "Not found · 1 nearest" in labels, "the third project's session is only nearly found"
    assert "There is nothing of this kind yet." in page, "searching an empty kind is not an error"
    assert page.index("**Transcripts**") < page.index("**Lore**"), "what has a hit comes first"


def test_sessions_are_browsed_and_asked_by_the_model_that_answered_in_them(
    empty_memory: Memory, tmp_path: Path
) -> None:
    for model in ("gpt-7", "opus-9"):
        said = [{"role": "user", "content": f"hello {model}"}]
        said.append({"role": "assistant", "content": f"hello from {model}", "model": model})
        (tmp_path / f"s-{model}.jsonl").write_text("\n".join(map(json.dumps, said)))
    empty_memory.transcripts.import_sessions([tmp_path])
    app = opened("memory", view="Browse", kind="Transcripts", layout="Table")
    app.multiselect(key="answered").set_value(["opus-9"])
    found = app.run().dataframe[0].value["text"].to_list()
    assert sorted(found) == ["hello from opus-9", "hello opus-9"]

    app = opened("memory", ask="hello", mode="full_text")
    app.multiselect(key="answered").set_value(["opus-9"])
    labels = [one.label for one in app.run().expander]
    assert "Not found · 2 nearest" in labels, "the messages of the other session are only nearly found"


def test_dropped_sessions_of_one_file_name_are_all_imported(
    empty_memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    dropped = []
    for number in range(2):
        line = json.dumps({"session_id": f"s{number}", "role": "user", "content": f"question {number}"})
        dropped.append(SimpleNamespace(name="transcript.jsonl", getvalue=line.encode))
    monkeypatch.setattr(uploads, "files", lambda *_, **__: dropped)
    send(opened("memory", view="Browse", kind="Transcripts"), "import-transcripts")
    finish_jobs()
    assert [
        [row["text_content"] for row in empty_memory.transcripts.messages(f"s{number}")]
        for number in range(2)
    ] == [["question 0"], ["question 1"]]


def test_a_page_number_beyond_the_end_shows_the_last_page(memory: Memory) -> None:
    app = opened("memory", view="Browse", kind="Memories", page_memories="99")
    assert "14 memories" in words(app)


def test_browsing_leads_from_a_coin_to_the_entries_that_mention_it(library: Library, memory: Memory) -> None:
    memory.lore.add_lore("mempool_city", "frog", "Under the lamp sits the Rainy Frog.")
    message = shown(opened("memory", view="Browse", about="Rainy Frog"))
    assert "1 entry names it." in message
    assert "Under the lamp sits the Rainy Frog." in message
    app = opened("memory", view="Browse", about="Rainy Frog")
    app.radio(key="kind").set_value("memories")
    assert "14 memories" in words(rerun(app)), "the tree leads away from the coin"
    assert app.text_input(key="about").value == ""


def values_of(form: str) -> dict[str, Any]:
    """What the page sends of this form if nobody typed in it."""
    (found,) = (shown for (_, name), shown in forms._forms.items() if name == form)
    return {field.name: field.value for field in found.fields}


def test_saving_an_entry_that_somebody_changed_meanwhile_is_refused(memory: Memory) -> None:
    id = memory.memories.store_memory("Kettles whistle")["memory_id"]
    app = opened("memory", view="Browse", entry=f"memories:{id}")
    form = f"entry-text-memories-{id}"
    typed = values_of(form) | {"text": "Kettles whistle loudly"}
    memory.memories.edit(id, content="Kettles sing", actor="bob")
    for _ in range(2):  # also after a run that shows the other text: the form is still this one
        with pytest.raises(InvalidInput, match="was changed in the meantime; copy what you typed"):
            send(app, form, **typed)
        rerun(app)
    assert memory.memories.entries.get(id)["content"] == "Kettles sing"
    send(app, form, **values_of(form) | {"text": "Kettles sing loudly"})
    assert memory.memories.entries.get(id)["content"] == "Kettles sing loudly"
    assert "entry" not in app.query_params, "the drawer is closed"


def test_merging_entries_of_which_one_changed_meanwhile_is_refused(empty_memory: Memory) -> None:
    memories = empty_memory.memories
    memories.store_memory("Kettles whistle")
    other = memories.store_memory("Kettles whistle.")["memory_id"]
    app = opened("memory", view="Browse", kind="Memories", which="Near-duplicates")
    (form,) = (name for name in sendable() if name.startswith("merge-"))
    typed = values_of(form) | {"text": "Kettles whistle loudly"}
    memories.edit(other, content="Kettles whistle!!", actor="bob")
    rerun(app)
    assert [name for name in sendable() if name.startswith("merge-")] == [form]
    with pytest.raises(InvalidInput, match="one of the two entries was changed in the meantime; copy"):
        send(app, form, **typed)
    assert memories.entries.count() == 2
    send(app, form, **values_of(form))
    assert memories.entries.count() == 1


def test_the_junk_meter_shows_the_share_and_a_merge_that_is_accepted(empty_memory: Memory) -> None:
    memories = empty_memory.memories
    first = memories.store_memory("Kettles whistle")["memory_id"]
    for text in ("Kettles whistle", "kettles  whistle", "Who whistles?", "Ledgers balance daily"):
        memories.store_memory(text)
    app = opened("memory", view="Browse", kind="Memories", which="Junk")
    page = shown(app)
    assert "60 % of 5 memories" in page
    assert "Repeats · 2" in page
    assert "Only ask or instruct · 1" in page
    assert "Is only a question or an instruction" in page
    assert "neither MEMEDEX" in page
    assert app.code[0].value == "  Kettles whistle\n- Kettles whistle\n- kettles whistle"
    (form,) = (name for name in sendable() if name.startswith("merge-"))
    send(app, form, **values_of(form))
    assert sorted(row["content"] for row in memories.entries.find()) == [
        "Kettles whistle", "Ledgers balance daily", "Who whistles?",
    ]  # fmt: skip
    assert memories.entries.get(first)["content"] == "Kettles whistle"
    assert "33 % of 3 memories" in shown(rerun(app))
    send(app, "undo-memory")
    assert memories.entries.count() == 5


def test_entries_that_no_question_found_at_night_are_named(empty_memory: Memory) -> None:
    for _ in range(7):
        empty_memory.memories.store_memory("Kettles whistle")
    app = opened("memory", view="Browse", kind="Memories", which="Junk")
    assert "asks for entries every night" in shown(app)
    assert empty_memory.ask_nightly() == 7
    page = shown(rerun(app))
    assert "7 asked for just now, each by its rarest words: 2 memories not among the first five hits" in page
    assert page.count("Asked: kettles whistle") == 2


def test_a_large_memory_is_examined_by_a_job(empty_memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("components.memory.junk._AT_ONCE", 1)
    for text in ("Kettles whistle", "Who whistles?"):
        empty_memory.memories.store_memory(text)
    app = opened("memory", view="Browse", kind="Memories", which="junk")
    assert "50 %" not in shown(app)
    send(app, "junk-memories")
    finish_jobs()
    assert "50 % of 2 memories" in shown(rerun(app))


def test_dropped_folders_give_the_sessions_and_papers_in_them(memory: Memory) -> None:
    said = b'{"role": "user", "content": "Where does Otto sleep?"}'
    recorded = {"pond/s7/transcript.jsonl": said, "pond/s7/metadata.json": b'{"user_id": "mira"}'}
    imported("import-transcripts", recorded, "Transcripts", uploader=1)
    assert memory.transcripts.messages("s7")[0]["user_id"] == "mira"
    papers = {"ponds/a/herons.md": b"Herons guard the pond", "ponds/a/heron.bin": b"\0"}
    assert "1 new" in imported("import-papers", papers, "Papers", uploader=1, protocol="ponds")
