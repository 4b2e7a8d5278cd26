"""What the table of sources cannot say of a program's messages: each becomes some of the usual form."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

Record = Mapping[str, Any]

_TO_ALL = (None, "", "all", "assistant")  # whom ChatGPT's assistant addresses unless it calls a tool


def chatgpt(message: Record) -> Iterator[Record]:
    """A message of ChatGPT: its texts, thoughts, or the call of a tool; none if it says nothing."""
    content, role = message.get("content"), message.get("role")
    given: Record = content if isinstance(content, Mapping) else {"parts": [content]}
    kind = given.get("content_type")
    if isinstance(given.get("thoughts"), list):
        blocks: list[dict[str, Any]] = [
            {"type": "thinking", "thinking": _joined(one, "summary", "content")}
            for one in _mappings(given["thoughts"])
        ]
    elif kind == "reasoning_recap":
        blocks = [{"type": "thinking", "thinking": given.get("content")}]
    else:
        blocks = [*_chatgpt_blocks(given)]
    recipient = message.get("recipient")
    if role == "assistant" and isinstance(recipient, str) and recipient not in _TO_ALL:
        said = "\n\n".join(block["text"] for block in blocks if isinstance(block.get("text"), str))
        blocks = [{"type": "tool_call", "name": recipient, "arguments": said}]
    if blocks:
        is_text = len(blocks) == 1 and blocks[0].keys() == {"type", "text"}
        yield {**message, "content": blocks[0]["text"] if is_text else blocks}


def _chatgpt_blocks(content: Record) -> Iterator[dict[str, Any]]:
    parts = content.get("parts")
    fields = ("title", "url", "text", "result", "user_profile", "user_instructions", "model_set_context")
    given = parts if isinstance(parts, list) else [content.get(name) for name in fields]
    for part in given:
        if isinstance(part, str) and part.strip():
            yield {"type": "text", "text": part}
        elif isinstance(part, Mapping):
            text = part.get("text")  # what was heard of a recording
            yield {"type": "text", "text": text} if isinstance(text, str) else {
                **part, "type": part.get("content_type", "part")
            }  # fmt: skip


def gemini_cli(message: Record) -> Iterator[Record]:
    """A message of Gemini CLI: thoughts, text and calls of tools, then what the tools answered."""
    thoughts, calls = _mappings(message.get("thoughts")), _mappings(message.get("toolCalls"))
    content = message.get("content")
    if not (thoughts or calls):
        yield message
        return
    own = [{"type": "text", "text": content}] if isinstance(content, str) and content else content or []
    yield {
        **message,
        "content": [
            *({"type": "thinking", "thinking": _joined(one, "subject", "description")} for one in thoughts),
            *(own if isinstance(own, list) else [own]),
            *(
                {"type": "tool_use", "id": one.get("id"), "name": one.get("name"), "input": one.get("args")}
                for one in calls
            ),
        ],
    }
    for one in calls:
        results = [
            inner.get("response")
            for part in _mappings(one.get("result"))
            if isinstance(inner := part.get("functionResponse"), Mapping)
        ]
        if said := results or one.get("result") or one.get("resultDisplay"):
            at = {"timestamp": one["timestamp"]} if one.get("timestamp") else {}
            yield {"timestamp": message.get("timestamp"), **at, "role": "tool", "content": said}


def settle_gemini_cli(records: Iterable[Record]) -> Iterator[Record]:
    """The messages of a file that Gemini CLI appends to: the last state of each, none taken back."""
    found: dict[str, Record] = {}
    for number, record in enumerate(records):
        if isinstance(back := record.get("$rewindTo"), str) and back in found:
            ids = [*found]
            for id in ids[ids.index(back) :]:
                del found[id]
        elif "$set" not in record and "$rewindTo" not in record and "projectHash" not in record:
            found[str(record.get("id", number))] = record
    yield from found.values()


def sharegpt(message: Record) -> Iterator[Record]:
    """A turn of ShareGPT; the call of a tool is JSON in a text."""
    if message.get("role") not in ("function_call", "tool_call"):
        yield message
        return
    try:
        call = json.loads(str(message.get("content")))
    except ValueError:
        call = None
    given = call if isinstance(call, dict) else {"arguments": message.get("content")}
    yield {**message, "role": "assistant", "content": [{**given, "type": "tool_call"}]}


def ai_studio(message: Record) -> Iterator[Record]:
    """A chunk of Google AI Studio; thoughts are those of the model."""
    text = message.get("text")
    if message.get("isThought") is True and isinstance(text, str):
        yield {**message, "role": "assistant", "content": [{"type": "thinking", "thinking": text}]}
    else:
        yield message


def _joined(one: Record, *names: str) -> str:
    return "\n".join(text for name in names if isinstance(text := one.get(name), str))


def _mappings(given: Any) -> list[Record]:
    return [one for one in given if isinstance(one, Mapping)] if isinstance(given, list) else []
