"""What the table of sources cannot say of a program's messages: each becomes some of the usual form."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from html import unescape
from typing import Any

Record = Mapping[str, Any]

_NOTICES = ("heartbeat", "login", "system_alert")  # of Letta, among what a person says
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
    elif kind in ("reasoning_recap", "thoughts"):
        said = given.get("content") or _joined_texts(given.get("parts"))
        blocks = [{"type": "thinking", "thinking": said}] if said else []
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


def deepseek(message: Record) -> Iterator[Record]:
    """A message of DeepSeek, in fragments: what was asked, thought and answered."""
    blocks = list[dict[str, Any]]()
    role = "assistant"
    for one in _mappings(message.get("fragments")):
        name = "thinking" if one.get("type") == "THINK" else "text"
        blocks.append({"type": name, name: one.get("content")})
        role = "user" if one.get("type") == "REQUEST" else role
    if blocks:
        yield {**message, "role": role, "content": blocks}


def settle_gemini_activity(records: Iterable[Record]) -> Iterator[Record]:
    """The records of an activity log, which begins with the latest."""
    yield from reversed([*records])


def gemini_activity(record: Record) -> Iterator[Record]:
    """What was asked, and the answer, which is HTML."""
    if isinstance(title := record.get("title"), str):
        yield {"timestamp": record["time"], "role": "user", "content": title.removeprefix("Prompted ")}
    for one in _mappings(record.get("safeHtmlItem")):
        said = re.sub(r"</(?:p|li|h\d|tr)>|<br */?>", "\n", str(one.get("html")))
        yield {
            "timestamp": record["time"],
            "role": "assistant",
            "content": unescape(re.sub("<[^>]*>", "", said)).strip(),
        }


def prompted(record: Record) -> Iterator[Record]:
    """A prompt, and the answer to it."""
    when = {"timestamp": record.get("sent_at", record.get("createdAt"))}
    yield {**when, "role": "user", "content": record.get("prompt")}
    yield {**when, "role": "assistant", "content": record.get("response")}


def crush(message: Record) -> Iterator[Record]:
    """A message of Crush, whose parts wrap what they say in `data`."""
    blocks = list[Any]()
    for part in _mappings(message.get("parts")):
        inner, kind = part.get("data"), part.get("type")
        if isinstance(inner, Mapping) and kind != "finish":
            blocks.append({**inner, "type": "thinking" if kind == "reasoning" else kind})
    if message.get("role") == "tool":
        yield from ({**message, "content": one.get("content")} for one in blocks)
    elif blocks:
        yield {**message, "content": blocks}


def lm_studio(message: Record) -> Iterator[Record]:
    """The chosen version of a message of LM Studio, whose answers are made in steps."""
    versions, chosen = _mappings(message.get("versions")), message.get("currentlySelected")
    one = versions[chosen] if isinstance(chosen, int) and chosen < len(versions) else {}
    steps = _mappings(one.get("steps"))
    content = [block for step in steps for block in _mappings(step.get("content"))]
    if said := content or one.get("content"):
        yield {"role": one.get("role"), "content": said}


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


def vs_code(request: Record) -> Iterator[Record]:
    """A request to VS Code's chat, and its response with calls of tools and their results."""
    asked, when = request.get("message"), {"timestamp": request.get("timestamp")}
    if text := asked.get("text") if isinstance(asked, Mapping) else asked:
        yield {**when, "role": "user", "content": text}
    known, results = _rounds_of(request)
    blocks = list[dict[str, Any]]()
    for part in _mappings(request.get("response")):
        kind, id = part.get("kind"), part.get("toolCallId")
        text = _value(part.get("content", part.get("value")))
        if kind == "toolInvocationSerialized":
            call, details = known.get(str(id), {}), part.get("resultDetails")
            given = (
                call.get("arguments") or part.get("toolSpecificData") or _value(part.get("invocationMessage"))
            )
            said = results.get(str(id)) or (details.get("output") if isinstance(details, Mapping) else None)
            name = call.get("name") or part.get("toolId")
            blocks.append({"type": "call", "id": id, "name": name, "input": given, "said": said})
            continue
        if kind == "inlineReference":
            text = f"`{_reference(part)}`"
        elif kind not in (None, "markdownContent", "markdownVuln", "thinking") or not text:
            continue
        name = "thinking" if kind == "thinking" else "text"
        if blocks and blocks[-1]["type"] == name:  # it comes in pieces
            blocks[-1][name] += text
        else:
            blocks.append({"type": name, name: text})
    if blocks:
        yield {**when, "role": "assistant", "content": blocks}


def _rounds_of(request: Record) -> tuple[dict[str, Record], Record]:
    """The calls of tools by their ids, and the results, as the metadata of a response has them."""
    result = request.get("result")
    metadata = result.get("metadata") if isinstance(result, Mapping) else None
    given: Record = metadata if isinstance(metadata, Mapping) else {}
    rounds = _mappings(given.get("toolCallRounds"))
    calls = {str(call.get("id")): call for one in rounds for call in _mappings(one.get("toolCalls"))}
    results = given.get("toolCallResults")
    return calls, {
        id: [part.get("value") for part in _mappings(one.get("content"))]
        for id, one in (results.items() if isinstance(results, Mapping) else ())
        if isinstance(one, Mapping)
    }


def _value(given: Any) -> str:
    text = given.get("value") if isinstance(given, Mapping) else given
    return "\n".join(map(str, text)) if isinstance(text, list) else text if isinstance(text, str) else ""


def _reference(part: Record) -> str:
    inner = part.get("inlineReference")
    place: Record = inner if isinstance(inner, Mapping) else {}
    path = str(place.get("path") or place.get("fsPath") or "")
    return str(part.get("name") or place.get("name") or path.rpartition("/")[2])


def settle_vs_code(records: Iterable[Record]) -> Iterator[Record]:
    """The requests of a file to which VS Code appends what changes: a value, or elements of a list."""
    session: Any = {}
    for record in records:
        way = record.get("k")
        if record.get("kind") == 0:
            session = record.get("v")
        elif isinstance(way, list) and way:
            _change(session, way, record)
    given: Record = session if isinstance(session, Mapping) else {}
    for request in _mappings(given.get("requests")):
        yield {**request, "customTitle": given.get("customTitle")}


def _change(place: Any, way: list[Any], record: Record) -> None:
    value = record.get("v")
    try:
        for step in way[:-1]:
            place = place[step]
        if record.get("kind") == 1:
            place[way[-1]] = value
        elif record.get("kind") == 2:
            held = place[way[-1]] if not isinstance(place, dict) else place.setdefault(way[-1], [])
            held[record.get("i", len(held)) :] = value or []
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise ValueError(f"it changes {way}, which is not there") from error


def settle_copilot(records: Iterable[Record]) -> Iterator[Record]:
    """The events of a session of Copilot CLI; a hook has what was asked where no message has it."""
    given = [*records]
    is_told = any(one.get("type") == "user.message" for one in given)
    for one in given:
        data = one.get("data")
        if one.get("type") == "hook.start" and isinstance(data, Mapping) and not is_told:
            inner = data.get("input")
            if isinstance(inner, Mapping) and data.get("hookType") == "userPromptSubmitted":
                one = {**one, "type": "user.message", "data": {"content": inner.get("prompt")}}
        yield one


def cursor(bubble: Record) -> Iterator[Record]:
    """A message of Cursor, which stores many that say nothing, such as of steps that were undone."""
    if any(bubble.get(name) for name in ("text", "thinking", "toolFormerData")):
        yield bubble


def codex_exec(item: Record) -> Iterator[Record]:
    """An item of `codex exec --json`: what was said or thought, or a call with its result."""
    kind, text = item.get("type"), item.get("text")
    if kind == "agent_message":
        yield {"role": "assistant", "content": text}
    elif kind == "reasoning":
        yield {"role": "assistant", "content": [{"type": "thinking", "thinking": text}]}
    else:
        output = {"output": item["aggregated_output"]} if item.get("aggregated_output") else {}
        call = {key: value for key, value in item.items() if key != "aggregated_output"}
        yield {**call, **output, "type": "tool_call", "name": item.get("tool", kind)}


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


def letta(message: Record) -> Iterator[Record]:
    """A message of Letta's agent; what it sends with `send_message` is text, its other text a thought."""
    given, role = message.get("content") or message.get("text"), message.get("role")
    calls, told = list[Record](), list[str]()
    for call in _mappings(message.get("tool_calls")):
        said = _packed(_sent(call.get("function"))).get("message")
        if isinstance(said, str):
            told.append(said)
        else:
            calls.append(call)
    blocks = list[dict[str, Any]]()
    for block in _mappings([{"text": given}] if isinstance(given, str) else given):
        if isinstance(thought := block.get("reasoning"), str):
            blocks.append({"type": "thinking", "thinking": thought})
        elif isinstance(text := block.get("text"), str) and text.strip():
            packed = _packed(text) if role == "user" else {}
            if (kind := packed.get("type")) in ("user_message", *_NOTICES):
                text = str(packed.get("message") or text)
                is_summary = kind == "system_alert" and "summary of the previous messages" in text
                role = "summary" if is_summary else "system" if kind in _NOTICES else "user"
            name = "thinking" if told else "text"
            blocks.append({"type": name, name: text})
    blocks += ({"type": "text", "text": text} for text in told)
    if blocks or calls:
        yield {**message, "role": role, "content": blocks, "tool_calls": calls}


def settle_webui(records: Iterable[Record]) -> Iterator[Record]:
    """The turns of text-generation-webui, each what was asked, if anything, and the answer."""
    for record in records:
        for turn in record.get("internal", record.get("data")) or ():
            for role, text in zip(("user", "assistant"), turn, strict=False):
                if isinstance(text, str) and text not in ("", "<|BEGIN-VISIBLE-CHAT|>"):
                    yield {"role": role, "content": text}


def letta_code(line: Record) -> Iterator[Record]:
    """A line of Letta Code; its thoughts are texts of a kind of their own."""
    text, is_thought = line.get("text"), line["kind"] == "reasoning"
    yield {**line, "content": [{"type": "thinking", "thinking": text}] if is_thought else text}


def pi(message: Record) -> Iterator[Record]:
    """A message of Pi; a command that a person ran is a call with its result."""
    if message.get("role") != "bashExecution":
        yield message
        return
    call = {"type": "tool_call", "name": "bash", "arguments": message.get("command")}
    yield {"role": "user", "content": [call], "timestamp": message.get("timestamp")}
    yield {"role": "tool", "content": message.get("output"), "timestamp": message.get("timestamp")}


def _sent(function: Any) -> Any:
    is_sent = isinstance(function, Mapping) and function.get("name") == "send_message"
    return function.get("arguments") if is_sent else None


def _packed(text: Any) -> Record:
    """The object that a text holds as JSON; empty for any other text."""
    with suppress(ValueError, TypeError, RecursionError):
        value = json.loads(text)
        return value if isinstance(value, dict) else {}
    return {}


def _joined(one: Record, *names: str) -> str:
    return "\n".join(text for name in names if isinstance(text := one.get(name), str))


def _joined_texts(given: Any) -> str:
    return "\n\n".join(one for one in given if isinstance(one, str)) if isinstance(given, list) else ""


def _mappings(given: Any) -> list[Record]:
    return [one for one in given if isinstance(one, Mapping)] if isinstance(given, list) else []
