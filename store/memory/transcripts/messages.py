"""A session and its messages, of OpenAI, Anthropic, Google or Amazon, in the form in which all are stored."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from store.memory.engine.foreign import time_of, whole_number
from store.memory.text.extraction import blocks_of, is_call, is_result, unpacked
from store.memory.text.secrets import masked
from store.memory.transcripts.sources import ROLES, Record, Source, at, kind_of, messages_of
from store.outcome import Refusal

Message = dict[str, Any]
NAMED = 5  # faults of one kind in one file

_THOUGHTS = ("reasoning", "thinking", "thought")  # names of blocks of them
_UNTYPED = {
    "functionCall": "tool_use", "function_call": "tool_use", "toolUse": "tool_use",
    "functionResponse": "tool_result", "function_response": "tool_result", "toolResult": "tool_result",
}  # fmt: skip
_GOOSE = {"toolRequest": "toolCall", "toolResponse": "toolResult"}  # where Goose's blocks have what they say
_PACKED = "\0json:"  # how Hermes begins a text that holds blocks
_MODELS = ("model", "modelId", "modelID", "model_slug", "model_name")
_AROUND = ("message", "payload", "metadata", "info")  # objects of a record that may name it
_OUTPUTS = ("output", "outputs", "results", "result", "error")  # of a tool on the provider's side


@dataclass(slots=True)
class Session:
    """One session, whose messages and events are read from its file at each call."""

    session_id: str  # as its content says, else like its file or folder
    user_id: str = ""  # "" where the files do not say
    project_slug: str | None = None
    messages: Callable[[], Iterable[Message]] = tuple
    events: Callable[[], Iterable[Mapping[str, Any]]] = tuple
    refused: list[Refusal] = field(default_factory=list)  # lines that are no messages or events
    unread: list[str] = field(default_factory=list)  # values of messages that mean nothing
    source: str = ""  # the program that wrote it; "" for messages by themselves
    skipped: Counter[str] = field(default_factory=Counter)  # records of other kinds than messages
    title: str = ""  # that its program or a person gave it; of files of lines, known once they are read
    models: list[list[Any]] = field(default_factory=list)  # each with the first message that it answered
    title_rank: int = 9  # which of its source's kinds of titles it has
    earlier_id: str = ""  # which versions up to 1.1.2 gave it, if it has another now


def taken(
    given: Iterable[Any], session: Session, source: Source, *, default: str | None = None, model: str = ""
) -> Iterator[Message]:
    """The messages of these records, written at `default` and by `model` unless they say otherwise."""
    for number, record in enumerate(given, start=1):
        item, is_message = f"{session.session_id}: message {number}", False
        try:
            if not isinstance(record, Mapping):
                raise ValueError("it is no object")
            if source.titles and not source.parts:
                entitle(session, record, source)
            model = model_of(record) or model
            for message in messages_of(source, record):
                is_message = True
                ts = _time((message, record), session, item) or default
                answers = model_of(message) or model
                for one in normalised(message, ts=ts, turn=_turn(record, session, item)):
                    yield without_secrets({**one, "model": answers} if answers else one, "content")
            if not is_message:
                session.skipped[kind_of(source, record)] += 1
        except ValueError as error:
            session.refused.append(Refusal(item, f"left out: {error}"))


def model_of(record: Mapping[str, Any]) -> str:
    """The model that a record names at one of the usual places; "" without one."""
    places = [record, *(place for name in _AROUND if isinstance(place := record.get(name), dict))]
    for place in places:
        for name in _MODELS:
            if isinstance(found := place.get(name), str) and not found.startswith("<"):  # <synthetic>
                return text_of(found) or ""
    return ""


def without_secrets(given: Record, field: str) -> dict[str, Any]:
    """The same with masks for the secrets of a field; `masked` counts them, if there are any."""
    found = Counter[str]()
    content = masked(given.get(field), found)
    return {**given, field: content, "masked": found} if found else {**given}


def _time(given: Iterable[Record], session: Session, item: str) -> str | None:
    """When a message was written; None without a time, and for one that cannot be read, which is named."""
    try:
        for record in given:
            inner = record.get("message")
            if found := time_of(record) or (time_of(inner) if isinstance(inner, Mapping) else None):
                return found
    except ValueError as error:
        session.unread.append(f"{item}: {error}; it is stored without one")
    return None


def _turn(line: Mapping[str, Any], session: Session, item: str) -> int | None:
    turn, number = line.get("turn"), whole_number(line.get("turn"))
    if turn is not None and number is None:
        session.unread.append(f"{item}: its turn {str(turn)[:40]!r} is no number; it is stored without one")
    return number


def entitle(session: Session, record: Record, source: Source) -> None:
    """Give a session its title: the last one of the first kind that its records have."""
    for rank, path in enumerate(source.titles):
        if rank <= session.title_rank and (text := text_of(at(record, path))) and text.strip():
            session.title, session.title_rank = masked(text.strip(), Counter()), rank
            return


def normalised(given: Mapping[str, Any], *, ts: str | None = None, turn: int | None = None) -> list[Message]:
    """A message of any known format as messages with role, content, turn and ts. Raises ValueError."""
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
    if isinstance(content, str) and content.startswith(_PACKED):
        content = unpacked(content.removeprefix(_PACKED))
    if isinstance(content, Mapping) and role != "tool":  # one block, or an object around them
        content = content["parts"] if isinstance(content.get("parts"), list) else [content]
    if isinstance(content, list):
        content = [_block(one) if role != "tool" else _answer(one) for one in content]
    if role == "assistant":
        given = (message.get(name) for name in ("reasoning_content", "reasoning"))
        thoughts = next((text for text in given if isinstance(text, str) and text.strip()), None)
        calls = blocks_of(unpacked(message.get("tool_calls")))
        if isinstance(earlier := message.get("function_call"), Mapping):  # before there were tool_calls
            calls.append({"function": earlier})
        if thoughts or calls:
            own = [{"type": "text", "text": content}] if isinstance(content, str) else list(content or [])
            before = [{"type": "thinking", "thinking": thoughts}] if thoughts else []
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
    if isinstance(text, str) and not (is_call(given) or is_result(given)):  # whatever a program calls it
        is_thought = kind in _THOUGHTS or given.get("thought") is True
        said = {**given, "type": "text", "text": text}
        return {"type": "thinking", "thinking": text} if is_thought else said
    if kind == "toolCall":  # Pi's
        return {**given, "type": "tool_call"}
    if kind == "tool-call":  # the AI SDK's
        named = {"id": given.get("toolCallId"), "name": given.get("toolName")}
        return {**named, "type": "tool_call", "arguments": given.get("input", given.get("args"))}
    if kind in _GOOSE and isinstance(inner := given.get(_GOOSE[kind]), Mapping):
        value = inner.get("value", inner.get("error"))
        call = value if kind == "toolRequest" and isinstance(value, Mapping) else {"content": value}
        return {**call, "type": "tool_use" if kind == "toolRequest" else "tool_result", "id": given.get("id")}
    for name, known in _UNTYPED.items():
        if kind is None and isinstance(inner := given.get(name), Mapping):
            answer = {"content": inner.get("content", inner.get("response"))}
            return {**inner, "type": known, **(answer if known == "tool_result" else {})}
    return given


def _answer(given: Any) -> Any:
    """A block of a tool's answer; the AI SDK wraps what it said."""
    if not isinstance(given, Mapping) or given.get("type") != "tool-result":
        return given
    said = given.get("output", given.get("result"))
    return said.get("value", said) if isinstance(said, Mapping) else said


def text_of(value: Any) -> str | None:
    """A text that SQLite can store, lone surrogates replaced; None for an empty one or another type."""
    return value.encode("utf-8", "replace").decode() or None if isinstance(value, str) else None
