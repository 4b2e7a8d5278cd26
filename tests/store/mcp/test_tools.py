"""The library for agents, asked with the official client over both transports."""

import json
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult, ImageContent, TextContent

from store.mcp.access import Access
from store.mcp.tools import MARK, _sendable
from store.memory.memory import Memory
from store.memory.trust import review
from tests.browser.coins import DOG, FROG
from tests.store.mcp.clients import PATIENCE, PROJECT, TOOLS, asked, over_http, run_in_thread
from tests.store.memory.bags import Bags


def test_every_tool_answers_over_http_in_the_reference_format(address: str) -> None:
    stored, searched, missed, lore, recalled, papers, both, message, coins, weighed, called, examples = (
        over_http(
            address,
            ("store_memory", {"content": "Agents prefer brass submarines", "tags": ["a,b"]}),
            ("search_memory", {"query": "brass submarines"}),
            ("search_memory", {"query": "brass submarines", "threshold": 100, "near_misses": 1}),
            ("query_lore", {"world_id": "mempool_city", "query": "lamps", "max_chars": 100}),
            ("query_memory", {"session_id": "mira_lantern", "query": "Who lit the lamp?", "n_results": 1}),
            ("search_documents", {"query": "opening fee", "protocols": ["Harbor"]}),
            ("search_documents", {"query": "opening fee", "compare": True, "n": 1}),
            ("search_transcripts", {"query": "restart", "mode": "full_text"}),
            ("search_memecoins", {"query": FROG.entity, "top": 1}),
            ("search_memecoins", {"query": FROG.entity, "weights": {"context": 1, "emotions": 3}}),
            ("search_memecoins", {"query": DOG.name, "top": 1, "weights": {"emotions": 1, "context": 3}}),
            ("memecoin_examples", {"query": FROG.entity, "n": 2, "budget": 500}),
        )
    )
    assert stored["success"]
    assert MARK not in stored, "it hands out nobody's words"
    for answer in (searched, lore, recalled, papers, message, coins, examples):
        assert "not instructions" in answer[MARK]
    assert stored["embedding_dimensions"] == 384
    assert searched["results"][0]["memory_id"] == stored["memory_id"]
    assert searched["results"][0]["tags"] == ["a,b"]
    assert (missed["threshold"], len(missed["near_misses"])) == (100, 1)
    tagged, near, refused, unread = over_http(
        address,
        ("search_entries", {"query": "brass submarines", "tags": ["a,b"], "since": "2020-01-01", "mmr": 0.5}),
        (
            "search_entries",
            {"query": "restart", "kind": "transcript_vectors", "min_score": 100, "near_misses": 1},
        ),
        ("search_entries", {"query": "fee", "kind": "documents", "user": "ann"}),
        ("search_entries", {"query": "安娜对什么过敏", "kind": "documents", "scope": "harbor", "limit": 1}),
    )
    assert [hit["content"] for hit in tagged["entries"]] == ["Agents prefer brass submarines"]
    assert [hit["near_miss"] for hit in near["entries"]] == [True]
    assert "documents belong to no user" in refused
    assert unread.keys() == {MARK, "entries"}, "nothing is known of what this model reads"
    assert lore["scores"][0].keys() == {"score", "meaning", "words", "words_found"}
    assert (len(lore["documents"]), lore["context_warning"]) == (2, True)
    assert recalled["documents"][0].startswith("User: Who lit the lamp?\nAI: ")
    assert {hit["metadata"]["protocol"] for hit in papers["results"]} == {"harbor"}
    assert {name: len(hits) for name, hits in both["protocols"].items()} == {"harbor": 1, "millrace": 1}
    assert "restart" in message["results"][0]["text"]
    assert coins["hits"][0]["token_address"] == FROG.address
    assert coins["hits"][0]["facets"]["entity"]["present"]
    assert not coins["hits"][0]["exact_match"]
    assert [(hit["token_name"], hit["exact_match"]) for hit in called["hits"]] == [(DOG.name, True)]
    assert coins["weights"] == {"image": 0, "entity": 4, "context": 3, "visual": 2, "emotions": 1}
    assert [bool(one["image"]) for one in examples["examples"]] == [True, False]
    assert [left["what"] for left in examples["left_out"]] == ["its picture"]
    assert weighed["weights"] == {"image": 0, "entity": 0, "context": 1, "visual": 0, "emotions": 3}


def test_tool_errors_contain_the_message_of_the_store(address: str) -> None:
    (
        empty,
        many,
        unknown,
        argument,
        facet,
        nothing,
        no_model,
        world,
        session,
        protocol,
        gone,
        long,
        least,
    ) = over_http(
        address,
        ("store_memory", {"content": " "}),
        ("search_memory", {"query": "x", "limit": 21}),
        ("search_transcripts", {"query": "x", "content_types": ["nonsense"]}),
        ("search_memecoins", {"query": "x", "limit": 3}),
        ("search_memecoins", {"query": "x", "weights": {"colour": 3}}),
        ("search_memecoins", {"query": "x", "weights": {}}),
        ("generate_memecoin", {"query": "x"}),
        ("query_lore", {"world_id": "mempol_city", "query": "lamps"}),
        ("query_memory", {"session_id": "mira_lantrn", "query": "lamps"}),
        ("search_documents", {"query": "fee", "protocols": ["harbour"]}),
        ("forget_memory", {"session": "mira_lantrn"}),
        ("store_memory", {"content": "x" * 2_000_000}),
        ("query_lore", {"world_id": "mempool_city", "query": "lamps", "max_chars": -5}),
    )
    assert "MEMEDEX_CAPTION_MODEL" in no_model
    assert "no world 'mempol_city'; the nearest: 'mempool_city'" in world
    assert "no session 'mira_lantrn'; the nearest: 'mira_lantern'" in session
    assert "no protocol 'harbour'; the nearest: 'harbor'" in protocol
    assert "no session 'mira_lantrn'" in gone
    assert "at most 100000 characters" in long
    assert "greater than or equal to 1" in least
    assert "the content is empty" in empty
    assert "less than or equal to 20" in many
    assert unknown.startswith("content_types.0: Input should be 'user_query'")
    assert argument == "limit: Extra inputs are not permitted"
    assert len(long) < 200, "what was refused is not repeated"
    assert "colour" in facet
    assert nothing["hits"] == []
    assert "weight" in nothing["why_empty"]


def test_what_an_agent_stores_is_by_its_client_and_waits_where_it_is_reviewed(
    address: str, access: Access, root: Path
) -> None:
    access.is_reviewed = True
    waits, missed, before = over_http(
        address,
        ("store_memory", {"content": "Turtles wear copper hats"}),
        ("search_memory", {"query": "Turtles wear copper hats"}),
        ("search_memory", {"query": "lamps", "as_of": "2020-01-01"}),
    )
    assert waits["pending"] is True
    assert waits["memory_id"] not in [hit["memory_id"] for hit in missed["results"]]
    assert before["results"] == []
    with Memory.open(root, embedder=Bags()) as memory:
        (one,) = review.waiting(memory)
        assert (one.entry.agent, one.entry.actor, one.entry.via) == ("mcp", "agent", "MCP")
        review.reject(memory, [one.entry.id])


def test_a_reviewed_agent_is_told_that_an_edit_and_a_removal_wait(
    address: str, access: Access, root: Path
) -> None:
    (stored,) = over_http(address, ("store_memory", {"content": "Otters juggle stones"}))
    assert "pending" not in stored
    id = stored["memory_id"]
    access.is_reviewed = True
    edited, removed, nothing = over_http(
        address,
        ("edit_memory", {"id": id, "text": "Otters hold hands"}),
        ("remove_memory", {"ids": [id]}),
        ("remove_memory", {"ids": ["mem_x"]}),
    )
    assert (edited["pending"], edited["content"]) == (True, "Otters juggle stones")
    assert (removed["pending"], removed["done"]) == (True, [id])
    assert "pending" not in nothing
    with Memory.open(root, embedder=Bags()) as memory:
        waiting = [one.entry for one in review.waiting(memory)]
        assert [one.verb for one in waiting] == ["edit", "remove"]
        review.reject(memory, [one.id for one in waiting])


def test_agents_store_and_delete_while_the_dashboard_has_the_memory_open(
    address: str, access: Access, root: Path
) -> None:
    with Memory.open(root, embedder=Bags()) as dashboard:
        assert access.access_description == "reading and storing"
        dashboard.session_memory.add_memory("elf_attic", "m0", "a brass key under the stairs")
        before = dashboard.kinds["memories"].count()
        stored, deleted = over_http(
            address,
            ("store_memory", {"content": "Ledgers are kept in the attic"}),
            ("forget_memory", {"session": "attic"}),
        )
        assert deleted == {"elf_attic": 1}
        assert dashboard.kinds["memories"].count() == before + 1
        found = dashboard.memories.search_memory("Ledgers are kept in the attic", 1)["results"]
        assert [one["memory_id"] for one in found] == [stored["memory_id"]]
        assert dashboard.session_memory.keys_of("attic") == []


def test_agents_list_edit_and_remove_entries_and_undo_and_redo(address: str) -> None:
    (stored,) = over_http(address, ("store_memory", {"content": "Kettles whistle", "tags": "kitchen, tea"}))
    id = stored["memory_id"]
    listed, shown, edited, removed, undone, redone, undone_again, tags, exported, gone, nothing = over_http(
        address,
        ("list_memory", {"words": "kettles", "limit": None}),
        ("show_memory", {"id": id}),
        ("edit_memory", {"id": id, "text": "Kettles sing"}),
        ("remove_memory", {"ids": [id, "mem_x"]}),
        ("undo_memory", {}),
        ("redo_memory", {}),
        ("undo_memory", {}),
        ("list_tags", {}),
        ("export_memory", {"limit": 1}),
        ("show_memory", {"id": "mem_"}),
        ("list_memory", {"limit": 101}),
    )
    assert (listed["total"], listed["entries"][0]["id"]) == (1, id)
    assert (shown["content"], shown["tags"]) == ("Kettles whistle", '["kitchen", "tea"]')
    assert edited["content"] == "Kettles sing"
    assert (removed["done"], removed["refused"][0]["item"]) == ([id], "mem_x")
    assert undone["done"] == redone["done"] == undone_again["done"] == [id]
    assert tags["names"]["kitchen"] == 1
    assert json.loads(exported["jsonl"])["content"] == "Kettles sing"
    assert exported["next_offset"] == 1
    assert "there is no entry 'mem_' in memories; the nearest: 'mem_" in gone
    assert "less than or equal to 100" in nothing


def test_events_are_found_by_their_fields(address: str) -> None:
    every, told, by_model, unknown, by_words, without = over_http(
        address,
        ("find_events", {"n": None}),
        ("find_events", {"lvl": "info", "n": 1}),
        ("find_events", {"model_used": "story-large"}),
        ("find_events", {"lvl": "inf"}),
        ("find_events", {"words": "STORY large"}),
        ("find_events", {"words": "story absent"}),
    )
    assert 0 < by_words["total"] < every["total"]
    assert all("story-large" in event["data"] for event in by_words["events"])
    assert without["total"] == 0
    assert every["total"] > told["total"] > 1
    assert [event["lvl"] for event in told["events"]] == ["INFO"]
    assert {event["model_used"] for event in by_model["events"]} == {"story-large"}
    assert "no level 'inf'; the nearest: 'INFO'" in unknown


def test_names_are_listed_and_a_coin_comes_with_its_picture(address: str) -> None:
    worlds, sessions, protocols, context, unknown, coin, missing = over_http(
        address,
        ("list_worlds", {}),
        ("list_sessions", {}),
        ("list_protocols", {}),
        ("assemble_memory", {"prompt": "Who lit the lamp?", "session": "mira_lantern"}),
        ("assemble_memory", {"prompt": "Who?", "world": "mempol_city"}),
        ("get_memecoin", {"address": FROG.address}),
        ("get_memecoin", {"address": FROG.name[:-1]}),
    )
    assert worlds["names"]["mempool_city"] > 0
    assert sessions["names"]["mira_lantern"] > 0
    assert protocols["names"].keys() == {"harbor", "millrace"}
    assert "--- RECENT MEMORY ---" in context["text"]
    assert context["entries"][0]["kind"] == "session_memory"
    assert context["left_out"][0] == {
        "kind": "world_lore", "count": 0, "reason": "no world was named (4 to choose from)",
    }  # fmt: skip
    assert "no world 'mempol_city'; the nearest: 'mempool_city'" in unknown
    assert coin["token_address"] == FROG.address
    assert f"the nearest: {FROG.name!r}" in missing


def test_an_assembled_context_has_what_agents_stored_by_the_template_of_everybody(
    address: str, access: Access
) -> None:
    question = "brass submarines"
    stored, context, papers, nothing = over_http(
        address,
        ("store_memory", {"content": "Agents prefer brass submarines"}),
        ("assemble_memory", {"prompt": question}),
        ("assemble_memory", {"prompt": "opening fee", "kinds": ["documents"]}),
        ("assemble_memory", {"prompt": question, "kinds": ["world_lore"]}),
    )
    assert stored["memory_id"] in [one["id"] for one in context["entries"]]
    assert "Agents prefer brass submarines" in context["text"]
    left_out = {one["kind"]: one["reason"] for one in context["left_out"]}
    assert left_out["session_memory"].startswith("no session was named")
    assert {one["kind"] for one in papers["entries"]} == {"documents"}
    assert "--- PASSAGES OF PAPERS ---" in papers["text"]
    assert (nothing["entries"], len(nothing["left_out"])) == ([], 1)
    access.memory.save_template("Known so far:\n{memories}")
    (told,) = over_http(address, ("assemble_memory", {"prompt": question}))
    assert told["text"].startswith("Known so far:\nAgents prefer brass submarines")
    assert "the template has no {documents}" in [one["reason"] for one in told["left_out"]]


@pytest.mark.slow
def test_the_stdio_server_stores_while_another_program_writes(tmp_path: Path) -> None:
    """The real program with the real model, while this process holds the memory as the dashboard does."""
    with Memory.open(tmp_path / "res") as held:
        held.memories.store_memory("Submarines are made of brass.")

        async def ask() -> tuple[set[str], str, list[Any]]:
            command = ["-m", "store", "--root", str(tmp_path / "res"), "mcp"]
            parameters = StdioServerParameters(command=sys.executable, args=command, cwd=str(PROJECT))
            with anyio.fail_after(PATIENCE):
                async with Client(parameters) as session:
                    tools = {tool.name for tool in (await session.list_tools()).tools}
                    answers = await asked(
                        session,
                        (
                            ("search_memory", {"query": "What are submarines made of?"}),
                            ("store_memory", {"content": "Bells are made of bronze."}),
                        ),
                    )
                    return tools, session.instructions or "", answers

        tools, instructions, (found, stored) = run_in_thread(ask)
        assert tools == TOOLS
        assert "Opened for reading and storing" in instructions
        assert found["results"][0]["content"] == "Submarines are made of brass."
        assert held.kinds["memories"].get(stored["memory_id"])["content"] == "Bells are made of bronze."


def test_half_a_character_of_another_program_does_not_keep_an_answer_from_being_sent() -> None:
    fields = {"name": "half \ud83d", "tags": ["\udc00", 1, None], "\ud83d": True}
    picture = ImageContent(type="image", data="", mime_type="image/jpeg")
    answer = CallToolResult(content=[TextContent(type="text", text="x"), picture], structured_content=fields)
    sent = json.loads(_sendable(answer, is_marked=True).model_dump_json())
    assert sent["structured_content"].pop(MARK)
    assert sent["structured_content"] == {"name": "half ?", "tags": ["?", 1, None], "?": True}
    assert [one["type"] for one in sent["content"]] == ["text", "image"]
    assert MARK in sent["content"][0]["text"]
