"""What is embedded of a message: every row of reference 5's table of content types."""

from typing import Any

import pytest

from store.memory.text.extraction import CONTENT_TYPES, extract_all_embeddable_content, readable
from store.memory.transcripts.files import moment, normalised

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
        "assistant_response": "answer\n\nmore"
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
        ("assistant", [CALL]),
        ("tool", {"status": 1}),
        ("tool", [TEXT]),
        ("tool", None),
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


def test_lone_surrogates_become_replacement_characters() -> None:
    assert extracted("user", "half \ud83d and whole \ud83d\udc15") == {
        "user_query": "half \ufffd and whole 🐕"
    }


def test_the_readable_text_of_a_message_is_not_truncated() -> None:
    assert readable({"role": "tool", "content": "x" * 20_000}) == "x" * 20_000
    assert readable({"role": "tool", "content": [TEXT]}) == "answer"
    assert readable({"role": "assistant", "content": [THINKING, TEXT, CALL]}) == "hm\n\nanswer"
    assert readable({"role": "assistant", "content": [CALL]}) is None


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
    parts = [{"type": "input_text", "text": "what is this"}, {"type": "input_image", "image_url": "…"}]
    ((role, content),) = roles_and_contents({"type": "message", "role": "user", "content": parts})
    assert extracted(role, content) == {"user_query": "what is this"}
    ((role, content),) = roles_and_contents(
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "so"}]}
    )
    assert extracted(role, content) == {"assistant_thinking": "so"}
    ((role, content),) = roles_and_contents({"type": "function_call", "name": "ls", "arguments": "{}"})
    assert extracted(role, content) == {}
    ((role, content),) = roles_and_contents({"type": "function_call_output", "output": "files"})
    assert extracted(role, content) == {"tool_output": "files"}


def test_anthropic_tool_results_become_messages_of_their_own() -> None:
    results = [{"type": "tool_result", "tool_use_id": "1", "content": "out"}]
    message = {"role": "user", "content": [*results, {"type": "text", "text": "go on"}]}
    first, second = roles_and_contents(message)
    assert first == ("tool", "out")
    assert extracted(*second) == {"user_query": "go on"}


def test_anthropic_messages_wrapped_with_a_time() -> None:
    (message,) = normalised(
        {"type": "user", "timestamp": "2026-01-31T10:00:00Z", "message": {"role": "user", "content": "hi"}}
    )
    assert (message["content"], message["ts"]) == ("hi", "2026-01-31T10:00:00Z")


def test_a_message_without_a_role_is_refused() -> None:
    with pytest.raises(ValueError, match="no role"):
        normalised({"content": "hi"})


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("2026-01-31T10:00:00Z", "2026-01-31T10:00:00.000+00:00"),
        ("2026-01-31T12:00:00.5+02:00", "2026-01-31T10:00:00.500+00:00"),
        ("2026-01-31", "2026-01-31T00:00:00.000+00:00"),
        (1769853600, "2026-01-31T10:00:00.000+00:00"),
        (1769853600000, "2026-01-31T10:00:00.000+00:00"),
        *((broken, None) for broken in ("yesterday", "", None, True, [], 1e300, "0001-01-01T00:00:00+05:00")),
    ],
)
def test_times_become_sortable_text(given: Any, expected: str | None) -> None:
    assert moment(given) == expected
