"""Extract the text of a message that is embedded, by content type, calls of tools included."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

ContentType = Literal["user_query", "assistant_response", "assistant_thinking", "tool_output", "tool_call"]
CONTENT_TYPES: tuple[ContentType, ...] = (
    "user_query",
    "assistant_response",
    "assistant_thinking",
    "tool_output",
    "tool_call",
)
MAX_TOOL_OUTPUT_LENGTH = 10_000  # characters; of calls as well
_BETWEEN = "\n\n"  # blocks of one message
_CALLS = ("tool_call", "tool_use", "function_call", "_call")  # how the types of calls end: server_tool_use
_RESULT = "tool_result"  # and of results: mcp_tool_result
_ALL_BUT_WORDS = {"id", "type", "call_id", "tool_use_id", "tool_call_id", "signature", "encrypted_content"}
_DATA = 500  # characters without a space: a picture's bytes, not words


def texts_of(message: Mapping[str, Any]) -> tuple[dict[ContentType, str | None], str | None]:
    """The texts to embed by type, and all text of a message, of any role, to be shown and found by words.

    A type that the message does not have is None. Blocks of one type are joined by an empty line. Calls of
    tools and structured results become lines `name: value`; long ones are truncated where they are embedded.
    Lone surrogates become replacement characters, so that offsets into the result are offsets into what is
    stored.
    """
    found: dict[ContentType, str | None] = dict.fromkeys(CONTENT_TYPES)
    role, content = message.get("role"), message.get("content")
    if role == "tool":
        whole = structured_text(content)
        found["tool_output"] = whole[:MAX_TOOL_OUTPUT_LENGTH]
    else:
        blocks = blocks_of(content)
        thoughts = _joined(blocks, "thinking")
        said = _whole(content) if isinstance(content, str) else _joined(blocks, "text")
        calls = _BETWEEN.join(_call(block) for block in blocks if is_call(block))
        results = _results(blocks)
        whole = _BETWEEN.join(part for part in (thoughts, said, calls, results) if part)
        if role == "user":
            found["user_query"] = said
        elif role in ("assistant", "summary"):  # a summary of what was said before, by the assistant
            found["assistant_response"] = said
            found["assistant_thinking"] = thoughts
            found["tool_call"] = calls[:MAX_TOOL_OUTPUT_LENGTH]
            found["tool_output"] = results[:MAX_TOOL_OUTPUT_LENGTH]
    return {kind: text if text and text.strip() else None for kind, text in found.items()}, whole or None


def extract_all_embeddable_content(message: Mapping[str, Any]) -> dict[ContentType, str | None]:
    """The texts to embed of `texts_of`."""
    return texts_of(message)[0]


def readable(message: Mapping[str, Any]) -> str | None:
    """All text of `texts_of`."""
    return texts_of(message)[1]


def structured_text(value: Any) -> str:
    """The words of a JSON value, a line `name: value` for each; without ids, pictures and other data."""
    return _whole("\n".join(_lines(value)))


def is_call(block: Mapping[str, Any]) -> bool:
    """Whether this is a call of a tool, by any of the names of Anthropic's and OpenAI's messages."""
    return str(block.get("type")).endswith(_CALLS)


def is_result(block: Mapping[str, Any]) -> bool:
    """Whether this is a tool's result: `tool_result`, or one of a tool on the provider's side."""
    return str(block.get("type")).endswith(_RESULT)


def unpacked(value: Any) -> Any:
    """JSON inside a text, as OpenAI's arguments; anything else as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def blocks_of(content: Any) -> list[Mapping[str, Any]]:
    """The blocks of a list in a message; none of a text."""
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _joined(blocks: Sequence[Mapping[str, Any]], kind: str) -> str:
    parts = [block.get(kind) for block in blocks if block.get("type") == kind]
    return _whole(_BETWEEN.join(part for part in parts if isinstance(part, str) and part))


def _call(block: Mapping[str, Any]) -> str:
    inner = block.get("function", block.get("custom"))  # OpenAI's chat messages
    call = inner if isinstance(inner, dict) else block
    name = call.get("name")
    rest = {key: unpacked(value) for key, value in call.items() if key != "name"}
    return structured_text([name if isinstance(name, str) else "", rest])


def _results(blocks: Sequence[Mapping[str, Any]]) -> str:
    found = (structured_text(block.get("content")) for block in blocks if is_result(block))
    return _BETWEEN.join(text for text in found if text)


def _lines(value: Any) -> Iterator[str]:
    waiting: list[tuple[str, Any]] = [("", value)]  # not by recursion: a stranger's JSON may be deep
    while waiting:
        name, one = waiting.pop()
        if isinstance(one, dict):
            named = [(str(key), each) for key, each in one.items() if key not in _ALL_BUT_WORDS]
            is_text = one.get("type") in ("text", "input_text", "output_text")
            waiting += reversed([("", one.get("text"))] if is_text else named)
        elif isinstance(one, list):
            waiting += ((name, each) for each in reversed(one))
        elif one is not None and (text := str(one)) and not (name and _is_data(text)):
            yield f"{name}: {text}" if name else text


def _is_data(text: str) -> bool:
    """Whether this is a picture or another file in letters."""
    return text.startswith("data:") or (len(text) > _DATA and text.isascii() and not set(text) & set(" \n\t"))


def _whole(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
