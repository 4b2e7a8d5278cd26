"""The figures of the references, each under the reference's name for it."""

import inspect
from typing import Any

import pytest

from store.embedding.protocol import OFFLINE_TEXT
from store.memory import context, memories
from store.memory.documents import documents, schema
from store.memory.documents.chunking import LONGEST, OVERLAP, SEPARATORS
from store.memory.engine.kind import LOCAL
from store.memory.story import lore
from store.memory.story import sessions as session_memory
from store.memory.story.lore import CHUNK as LORE_CHUNK
from store.memory.story.sessions import exchange, memory_key
from store.memory.text import extraction
from store.memory.text.tokens import NAME, SIZES
from store.settings import settings


def defaults(verb: object) -> dict[str, Any]:
    assert callable(verb)
    given = inspect.signature(verb).parameters.values()
    return {one.name: one.default for one in given if one.default is not one.empty and one.name != "actor"}


@pytest.mark.parametrize(
    ("is_here", "is_there"),
    [
        pytest.param(
            (memories.MOST_TAGS, memories.LONGEST_TAG), (10, 50), id="2: tags, max 10, each max 50 chars"
        ),
        pytest.param(memories.MOST_RESULTS, 20, id="2: limit 1-20"),
        pytest.param(memories.RELEVANT, 30.0, id="2: relevance >= 30%"),
        pytest.param(memories.relevance(1 - 0.125), 87.5, id="2: (1 - distance) * 100"),
        pytest.param(SEPARATORS, ("\n\n", "\n", " ", ""), id="3: Chunking Strategy"),
        pytest.param(LONGEST, 1000, id="3: Chunk Size"),
        pytest.param(OVERLAP, 100, id="3: Overlap"),
        pytest.param(documents.RESULTS, 5, id="3: LIMIT 5"),
        pytest.param(LORE_CHUNK, 800, id="4: chunk_size"),
        pytest.param(defaults(lore.Lore.query_lore), {"n_results": 3, "max_chars": 1000}, id="4: query_lore"),
        pytest.param(
            defaults(session_memory.Sessions.query_memory),
            {"n_results": 3, "max_chars": 1500},
            id="4: query_memory",
        ),
        pytest.param((context.LORE_RESULTS, context.MEMORY_RESULTS), (2, 3), id="4: production usage"),
        pytest.param(context.TOTAL_CHARS, 2500, id="4: total RAG context"),
        pytest.param(context.HEADING, "--- RECENT MEMORY ---", id="4: full_context"),
        pytest.param(memory_key("mira", "s1"), "mira_s1", id="4: memory_key"),
        pytest.param(memory_key("mira"), "mira", id="4: memory_key without a session"),
        pytest.param(exchange("a", "b"), "User: a\nAI: b", id="4: memory text"),
        pytest.param(extraction.MAX_TOOL_OUTPUT_LENGTH, 10_000, id="5: MAX_TOOL_OUTPUT_LENGTH"),
        pytest.param(
            (SIZES.limit, SIZES.target, SIZES.overlap, SIZES.least_overlap),
            (8192, 1024, 128, 64),
            id="5: tokens",
        ),
        pytest.param(NAME, "cl100k_base", id="5: tiktoken encoding"),
        pytest.param(LOCAL, "sentence-transformers:all-MiniLM-L6-v2", id="2, 4: embedding model"),
    ],
)
def test_figure(is_here: object, is_there: object) -> None:
    assert is_here == is_there


def test_documents_use_the_configured_model_and_other_kinds_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    usual = schema.KIND.configured_model
    monkeypatch.setenv("MEMEDEX_DOCUMENT_EMBEDDER", "litellm:text-embedding-ada-002")
    settings.cache_clear()
    assert schema.KIND.configured_model == "litellm:text-embedding-ada-002"
    assert lore.KIND.configured_model == usual == LOCAL
    assert memories.KIND.configured_model == OFFLINE_TEXT
