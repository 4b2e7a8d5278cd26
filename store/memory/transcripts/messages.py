"""One message of OpenAI, Anthropic, Google or Amazon in the form in which all are stored."""

from collections.abc import Mapping
from typing import Any

from store.memory.text.extraction import blocks_of, is_call, is_result
from store.memory.transcripts.sources import ROLES

Message = dict[str, Any]

# Names of blocks of text: OpenAI's, Claude.ai's.
_TEXTS = {"text", "input_text", "output_text", "summary_text", "refusal", "voice_note"}
_UNTYPED = {
    "functionCall": "tool_use", "function_call": "tool_use", "toolUse": "tool_use",
    "functionResponse": "tool_result", "function_response": "tool_result", "toolResult": "tool_result",
}  # fmt: skip
_GOOSE = {"toolRequest": "toolCall", "toolResponse": "toolResult"}  # where Goose's blocks have what they say
_OUTPUTS = ("output", "outputs", "results", "result", "error")  # of a tool on the provider's side


def normalised(given: Mapping[str, Any], *, ts: str | None = None, turn: int | None = None) -> list[Message]:
    """A message of any known format as messages with role, content, turn and ts. Raises ValueError.

    Tool results inside a user's message, as Anthropic and Google send them, become messages of the role tool.
    """
    more = {"turn": turn, "ts": ts}
    inner = given.get("message")
    message: Mapping[str, Any] = inner if isinstance(inner, Mapping) else given
    kind = message.get("type")
    if isinstance(kind, str) and kind.endswith("_output") and not message.get("role"):
        message = {"role": "tool", "content": message.get("output", message.get("tools"))}
    elif is_call(message) and not message.get("role"):
        return _call_with_result(message, more)
    elif kind == "reasoning":
        blocks = blocks_of(message.get("summary")) or blocks_of(message.get("content"))
        thoughts = [{"type": "thinking", "thinking": block.get("text", "")} for block in blocks]
        message = {"role": "assistant", "content": thoughts}
    role = text_of(message.get("role"))
    if not role:
        raise ValueError("it has no role")
    role = ROLES.get(role.lower(), role)
    content = _content(message, role)
    if content is None and "content" not in message:
        raise ValueError("it has no content")
    results = [block for block in blocks_of(content) if is_result(block)]
    if role != "user" or not results:
        return [{"role": role, "content": content, **more}]
    rest = [block for block in content if block not in results]
    messages = [{"role": "tool", "content": block.get("content"), **more} for block in results]
    return messages + ([{"role": role, "content": rest, **more}] if rest else [])


def _call_with_result(item: Mapping[str, Any], more: Mapping[str, Any]) -> list[Message]:
    """An item of OpenAI's Responses; tools on the provider's side have their result in the same item."""
    given = {name: item[name] for name in _OUTPUTS if item.get(name) is not None}
    call = {name: value for name, value in item.items() if name not in _OUTPUTS}
    messages: list[Message] = [{"role": "assistant", "content": [call], **more}]
    return messages + ([{"role": "tool", "content": [*given.values()], **more}] if given else [])


def _content(message: Mapping[str, Any], role: str) -> Any:
    content = message.get("content")
    if not content:
        content = message.get("parts") or message.get("text") or content
    if isinstance(content, Mapping) and role != "tool":  # one block, or an object around them
        content = content["parts"] if isinstance(content.get("parts"), list) else [content]
    if isinstance(content, list) and role != "tool":
        content = [_block(one) for one in content]
    if role == "assistant":
        thoughts = message.get("reasoning_content")
        calls = blocks_of(message.get("tool_calls"))
        if isinstance(earlier := message.get("function_call"), Mapping):  # before there were tool_calls
            calls.append({"function": earlier})
        if thoughts or calls:
            own = [{"type": "text", "text": content}] if isinstance(content, str) else list(content or [])
            before = [{"type": "thinking", "thinking": thoughts}] if isinstance(thoughts, str) else []
            return [*before, *own, *({**call, "type": "tool_call"} for call in calls)]
    return content


def _block(given: Any) -> Any:
    """A block of content with Anthropic's names; Google's parts and Amazon's blocks name no type."""
    if isinstance(given, str):
        return {"type": "text", "text": given}
    if not isinstance(given, Mapping):
        return given
    kind, text = given.get("type"), given.get("text", given.get("refusal", given.get("transcript")))
    if isinstance(text, Mapping):  # of OpenAI's threads
        text = text.get("value")
    if isinstance(text, str) and (kind is None or kind in _TEXTS or kind == "reasoning"):
        is_thought = kind == "reasoning" or given.get("thought") is True
        said = {**given, "type": "text", "text": text}
        return {"type": "thinking", "thinking": text} if is_thought else said
    if kind == "toolCall":  # Pi's
        return {**given, "type": "tool_call"}
    if kind in _GOOSE and isinstance(inner := given.get(_GOOSE[kind]), Mapping):
        value = inner.get("value", inner.get("error"))
        call = value if kind == "toolRequest" and isinstance(value, Mapping) else {"content": value}
        return {**call, "type": "tool_use" if kind == "toolRequest" else "tool_result", "id": given.get("id")}
    for name, known in _UNTYPED.items():
        if kind is None and isinstance(inner := given.get(name), Mapping):
            answer = {"content": inner.get("content", inner.get("response"))}
            return {**inner, "type": known, **(answer if known == "tool_result" else {})}
    return given


def text_of(value: Any) -> str | None:
    """A text that SQLite can store, lone surrogates replaced; None for an empty one or another type."""
    return value.encode("utf-8", "replace").decode() or None if isinstance(value, str) else None
