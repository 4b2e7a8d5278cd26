"""What is embedded of a message: every documented content type."""

from typing import Any

import pytest

from store.memory.text.extraction import CONTENT_TYPES, extract_all_embeddable_content, readable
from store.memory.transcripts.messages import normalised

THINKING = {"type": "thinking", "thinking": "hm"}
TEXT = {"type": "text", "text": "answer"}
CALL = {"type": "tool_call", "name": "ls", "input": {"path": "secret"}}


def extracted(role: str, content: Any) -> dict[str, str]:
    found = extract_all_embeddable_content({"role": role, "content": content})
    assert tuple(found) == CONTENT_TYPES
    return {kind: text for kind, text in found.items() if text is not None}


def test_user_query() -> None:
    assert extracted("user", "a question") == {"user_query": "a question"}


def test_assistant_response() -> None:
    assert extracted("assistant", [TEXT, CALL, {"type": "text", "text": "more"}]) == {
        "assistant_response": "answer\n\nmore",
        "tool_call": "ls\npath: secret",
    }
    assert extracted("assistant", "a plain answer") == {"assistant_response": "a plain answer"}


def test_assistant_thinking() -> None:
    assert extracted("assistant", [THINKING, TEXT, {"type": "thinking", "thinking": "so"}]) == {
        "assistant_thinking": "hm\n\nso",
        "assistant_response": "answer",
    }


@pytest.mark.parametrize(("length", "kept"), [(9_999, 9_999), (10_000, 10_000), (10_001, 10_000)])
def test_tool_output(length: int, kept: int) -> None:
    found = extracted("tool", "é" * length)
    assert found == {"tool_output": "é" * kept}


@pytest.mark.parametrize(
    ("role", "content"),
    [
        ("tool", None),
        ("tool", [{"type": "image", "source": {"data": "A" * 600}}]),
        ("system", "be kind"),
        ("user", ""),
        ("user", " \n"),
        ("user", None),
        ("assistant", []),
        ("assistant", [{"type": "text", "text": None}, {"type": "thinking"}, "loose", {}]),
    ],
)
def test_other_content_is_not_embedded(role: str, content: Any) -> None:
    assert extracted(role, content) == {}


def test_a_summary_of_a_conversation_is_found_like_an_answer() -> None:
    assert extracted("summary", "reeds were counted") == {"assistant_response": "reeds were counted"}


def test_lone_surrogates_become_replacement_characters() -> None:
    assert extracted("user", "half \ud83d and whole \ud83d\udc15") == {
        "user_query": "half \ufffd and whole 🐕"
    }


def test_the_readable_text_of_a_message_is_not_truncated() -> None:
    assert readable({"role": "tool", "content": "x" * 20_000}) == "x" * 20_000
    assert readable({"role": "tool", "content": [TEXT]}) == "answer"
    assert readable({"role": "assistant", "content": [THINKING, TEXT, CALL]}) == (
        "hm\n\nanswer\n\nls\npath: secret"
    )


# -- the formats of OpenAI and Anthropic ---------------------------------------------------------------------


def roles_and_contents(message: dict[str, Any]) -> list[tuple[str, Any]]:
    return [(one["role"], one["content"]) for one in normalised(message)]


def test_openai_text_thoughts_and_tool_calls_of_one_message() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    message = {"role": "assistant", "content": "let me look", "reasoning_content": "hm", "tool_calls": [call]}
    assert roles_and_contents(message) == [
        (
            "assistant",
            [
                {"type": "thinking", "thinking": "hm"},
                {"type": "text", "text": "let me look"},
                {**call, "type": "tool_call"},
            ],
        )
    ]


def test_openai_tool_function_and_developer_roles() -> None:
    assert roles_and_contents({"role": "tool", "tool_call_id": "1", "content": "out"}) == [("tool", "out")]
    assert roles_and_contents({"role": "function", "name": "ls", "content": "out"}) == [("tool", "out")]
    assert roles_and_contents({"role": "developer", "content": "be kind"}) == [("system", "be kind")]


def test_openai_parts_and_items_of_the_responses_interface() -> None:
    for kind in ("input_text", "a program's own"):
        parts = [{"type": kind, "text": "what is this"}, {"type": "input_image", "image_url": "…"}]
        ((role, content),) = roles_and_contents({"type": "message", "role": "user", "content": parts})
        assert extracted(role, content) == {"user_query": "what is this"}
    ((role, content),) = roles_and_contents(
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "so"}]}
    )
    assert extracted(role, content) == {"assistant_thinking": "so"}


ARGUMENTS = '{"path": "/srv/frog", "all": true}'
CALLED = "ls\npath: /srv/frog\nall: True"


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "ls",
                                           "input": {"path": "/srv/frog", "all": True}}]},
        {"role": "assistant", "content": [{"type": "server_tool_use", "id": "t1", "name": "ls",
                                           "input": {"path": "/srv/frog", "all": True}}]},
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": ARGUMENTS}}]},
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "c1", "type": "custom", "custom": {"name": "ls", "input": ARGUMENTS}}]},
        {"role": "assistant", "content": None, "function_call": {"name": "ls", "arguments": ARGUMENTS}},
        {"type": "function_call", "call_id": "c1", "name": "ls", "arguments": ARGUMENTS},
        {"type": "custom_tool_call", "call_id": "c1", "name": "ls", "input": ARGUMENTS},
    ],
    ids=["tool_use", "server_tool_use", "tool_calls", "custom tool", "function_call", "item", "custom item"],
)  # fmt: skip
def test_calls_of_tools_in_every_form_say_their_name_and_their_arguments(message: dict[str, Any]) -> None:
    ((role, content),) = roles_and_contents(message)
    assert extracted(role, content) == {"tool_call": CALLED}
    assert readable({"role": role, "content": content}) == CALLED


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "3 frogs"}]},
         "3 frogs"),
        ({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "is_error": False,
                                       "content": [TEXT, {"type": "image", "source": {"data": "A" * 600}}]}]},
         "answer"),
        ({"role": "user", "content": [{"type": "mcp_tool_result", "tool_use_id": "t1", "content": [TEXT]}]},
         "answer"),
        ({"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "3 frogs"}]}, "3 frogs"),
        ({"role": "tool", "content": {"frogs": 3, "where": ["pond", {"depth": 2.5}]}},
         "frogs: 3\nwhere: pond\ndepth: 2.5"),
        ({"role": "function", "name": "ls", "content": "3 frogs"}, "3 frogs"),
        ({"type": "function_call_output", "call_id": "c1", "output": "3 frogs"}, "3 frogs"),
        ({"type": "function_call_output", "output": [{"type": "input_text", "text": "3 frogs"}]}, "3 frogs"),
        ({"type": "custom_tool_call_output", "output": "3 frogs"}, "3 frogs"),
    ],
)  # fmt: skip
def test_results_of_tools_in_every_form_are_text(message: dict[str, Any], text: str) -> None:
    ((role, content),) = roles_and_contents(message)
    assert extracted(role, content) == {"tool_output": text}
    assert readable({"role": role, "content": content}) == text


def test_a_tool_on_the_providers_side_has_its_result_beside_its_call() -> None:
    item = {"type": "mcp_call", "id": "m1", "name": "ls", "arguments": ARGUMENTS, "output": "3 frogs"}
    call, result = roles_and_contents(item)
    assert extracted(*call) == {"tool_call": CALLED}
    assert extracted(*result) == {"tool_output": "3 frogs"}
    search = {"type": "web_search_tool_result", "tool_use_id": "t1", "content": [
        {"type": "web_search_result", "title": "Frogs", "url": "https://frog.example"}]}  # fmt: skip
    ((role, content),) = roles_and_contents({"role": "assistant", "content": [TEXT, search]})
    assert extracted(role, content) == {
        "assistant_response": "answer", "tool_output": "title: Frogs\nurl: https://frog.example",
    }  # fmt: skip


def test_a_structure_as_deep_as_a_stranger_likes_is_read() -> None:
    deep: Any = "frog"
    for _ in range(20_000):
        deep = [deep]
    assert extracted("tool", deep) == {"tool_output": "frog"}


def test_anthropic_tool_results_become_messages_of_their_own() -> None:
    results = [{"type": "tool_result", "tool_use_id": "1", "content": "out"}]
    message = {"role": "user", "content": [*results, {"type": "text", "text": "go on"}]}
    first, second = roles_and_contents(message)
    assert first == ("tool", "out")
    assert extracted(*second) == {"user_query": "go on"}


def test_a_message_may_be_wrapped_in_a_line() -> None:
    line = {"type": "user", "message": {"role": "user", "content": "hi"}}
    assert roles_and_contents(line) == [("user", "hi")]


def test_a_message_without_a_role_is_refused() -> None:
    with pytest.raises(ValueError, match="no role"):
        normalised({"content": "hi"})
