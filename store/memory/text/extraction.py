"""Extract the text of a message that is embedded, by content type (reference 5)."""

from collections.abc import Mapping
from typing import Any, Literal

ContentType = Literal["user_query", "assistant_response", "assistant_thinking", "tool_output"]
CONTENT_TYPES: tuple[ContentType, ...] = (
    "user_query",
    "assistant_response",
    "assistant_thinking",
    "tool_output",
)
MAX_TOOL_OUTPUT_LENGTH = 10_000  # characters
_BETWEEN = "\n\n"  # blocks of one message


def extract_all_embeddable_content(message: Mapping[str, Any]) -> dict[ContentType, str | None]:
    """The texts to embed by type; None for a type that the message does not have.

    Blocks of one type are joined by an empty line. Tool calls are not embedded, nor is tool output other than
    text; long output is truncated. Lone surrogates become replacement characters, so that offsets into the
    result are offsets into what is stored.
    """
    found: dict[ContentType, str | None] = dict.fromkeys(CONTENT_TYPES)
    role, content = message.get("role"), message.get("content")
    if role == "user":
        found["user_query"] = _text(content)
    elif role == "assistant":
        found["assistant_response"] = _text(content)
        found["assistant_thinking"] = _joined(content, "thinking")
    elif role == "tool" and isinstance(content, str):
        found["tool_output"] = _whole(content)[:MAX_TOOL_OUTPUT_LENGTH]
    return {kind: text if text and text.strip() else None for kind, text in found.items()}


def readable(message: Mapping[str, Any]) -> str | None:
    """All text of a message, of any role, untruncated, for display and full-text search."""
    content = message.get("content")
    thinking = _joined(content, "thinking")
    results = [
        _text(block.get("content")) for block in blocks_of(content) if block.get("type") == "tool_result"
    ]
    parts = [part for part in (thinking, _text(content), *results) if part]
    return _BETWEEN.join(parts) or None


def _text(content: Any) -> str | None:
    return _whole(content) if isinstance(content, str) else _joined(content, "text")


def _joined(content: Any, kind: str) -> str | None:
    parts = [block.get(kind) for block in blocks_of(content) if block.get("type") == kind]
    return _whole(_BETWEEN.join(part for part in parts if isinstance(part, str) and part)) or None


def blocks_of(content: Any) -> list[Mapping[str, Any]]:
    """The blocks of a list in a message; none of a text."""
    return [block for block in content if isinstance(block, Mapping)] if isinstance(content, list) else []


def _whole(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
