"""Read recorded sessions: folders, JSONL files, and the messages of OpenAI, Anthropic and Google."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from store.disk.files import open_regular, read_regular
from store.memory.engine.foreign_values import time_of, whole_number
from store.memory.text.extraction import blocks_of, is_call, is_result
from store.outcome import Refusal

MESSAGES, EVENTS, METADATA = "transcript.jsonl", "events.jsonl", "metadata.json"
_ROLES = {"function": "tool", "developer": "system", "model": "assistant"}  # the last is Google's
_TEXTS = {"input_text", "output_text", "summary_text"}  # OpenAI's names for blocks of text
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_AGENT = "agent-"  # how Claude Code's files of sub-agents begin
_UNTYPED = {
    "functionCall": "tool_use", "function_call": "tool_use", "toolUse": "tool_use",
    "functionResponse": "tool_result", "function_response": "tool_result", "toolResult": "tool_result",
}  # fmt: skip
_OUTPUTS = ("output", "outputs", "results", "result", "error")  # of a tool on the provider's side

NAMED = 5  # faults of one kind in one file
_LARGEST = 200_000_000  # bytes of a file in one JSON value, or of a line

Message = dict[str, Any]


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
    earlier_id: str = ""  # which versions up to 1.1.2 gave it, if it has another now


def read_sessions(path: Path) -> Iterator[Session | Refusal]:
    """The sessions in a folder and its subfolders, or in one file."""
    if path.is_dir():
        if (path / MESSAGES).exists() or (path / EVENTS).exists():
            yield _folder(path)
            return
        found = False
        for below in sorted(path.iterdir()):
            if below.is_symlink():  # a folder may come from a stranger: nothing outside it is read
                continue
            if below.is_dir() or below.suffix == ".jsonl":
                for session in read_sessions(below):
                    found = True
                    yield session
        if not found:
            yield Refusal(str(path), f"no session in it ({MESSAGES}, {EVENTS} or another .jsonl)")
    elif not path.exists():
        yield Refusal(str(path), "there is nothing at this path")
    elif path.suffix in (".jsonl", ".json"):
        yield from _file(path)
    else:
        yield Refusal(str(path), "neither a folder nor a .jsonl or .json file")


def normalised(given: Mapping[str, Any], *, ts: str | None = None, turn: int | None = None) -> list[Message]:
    """A message of any known format as messages with role, content, turn and ts. Raises ValueError.

    Tool results inside a user's message, as Anthropic and Google send them, become messages of the role tool.
    """
    more = {"turn": turn, "ts": ts}
    inner = given.get("message")
    message: Mapping[str, Any] = inner if isinstance(inner, Mapping) else given
    kind = message.get("type")
    if isinstance(kind, str) and kind.endswith("_call_output"):
        message = {"role": "tool", "content": message.get("output")}
    elif is_call(message) and not message.get("role"):
        return _call_with_result(message, more)
    elif kind == "reasoning":
        blocks = blocks_of(message.get("summary")) or blocks_of(message.get("content"))
        thoughts = [{"type": "thinking", "thinking": block.get("text", "")} for block in blocks]
        message = {"role": "assistant", "content": thoughts}
    role = text_of(message.get("role"))
    if not role:
        raise ValueError("it has no role")
    role = _ROLES.get(role, role)
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
    kind, text = given.get("type"), given.get("text")
    if isinstance(text, str) and (kind is None or kind in _TEXTS or kind == "reasoning"):
        is_thought = kind == "reasoning" or given.get("thought") is True
        return {"type": "thinking", "thinking": text} if is_thought else {**given, "type": "text"}
    for name, known in _UNTYPED.items():
        if kind is None and isinstance(inner := given.get(name), Mapping):
            answer = {"content": inner.get("content", inner.get("response"))}
            return {**inner, "type": known, **(answer if known == "tool_result" else {})}
    return given


def project_of(path: Path) -> str | None:
    """The project in a path such as `projects/<slug>/sessions/<id>`; None if it has none."""
    parts = path.absolute().parts
    for place in range(len(parts) - 3, -1, -1):
        if (parts[place], parts[place + 2]) == ("projects", "sessions"):
            return _name(parts[place + 1])
    return None


def _folder(path: Path) -> Session:
    session = Session(session_id=_name(path.name), project_slug=project_of(path))
    try:
        fields = parsed(read_regular(path / METADATA, limit=_LARGEST))
    except FileNotFoundError:
        fields = {}
    except (OSError, ValueError) as error:
        session.refused.append(Refusal(str(path / METADATA), f"cannot be read: {error}"))
        fields = {}
    _described(session, fields if isinstance(fields, dict) else {})
    session.messages = lambda: _taken(_mappings(path / MESSAGES, session), session)
    session.events = lambda: _mappings(path / EVENTS, session)
    return session


def _described(session: Session, fields: Mapping[str, Any]) -> None:
    for names, attribute in (
        (("session_id", "sessionId", "id"), "session_id"),
        (("user_id", "user"), "user_id"),
        (("project_slug", "project"), "project_slug"),
    ):
        for name in names:
            if (value := text_of(fields.get(name))) and value.strip():
                setattr(session, attribute, value)
                break


def _file(path: Path) -> Iterator[Session | Refusal]:
    session = Session(session_id=_name(path.stem), project_slug=project_of(path))
    if path.suffix == ".jsonl":
        first = next(_mappings(path, Session("")), {})
        if isinstance(first.get("messages"), list):  # OpenAI's training files: a conversation in each line
            for number, line in enumerate(_mappings(path, session), start=1):
                yield _body(
                    line, Session(f"{session.session_id}-{number}", project_slug=session.project_slug)
                )
            return
        _described(session, {**first, "id": ""})
        _identify(session, first, file=_name(path.stem))
        session.messages = lambda: _taken(_mappings(path, session), session)
        yield session
        return
    try:
        whole = parsed(read_regular(path, limit=_LARGEST))
    except (OSError, ValueError) as error:
        yield Refusal(str(path), f"cannot be read: {error}")
        return
    if isinstance(whole, list):
        whole = {"messages": whole}
    if isinstance(whole, dict) and isinstance(contents := whole.get("contents"), list):  # Google's request
        whole = {"system": whole.get("systemInstruction"), **whole, "messages": contents}
    if not isinstance(whole, dict) or not isinstance(whole.get("messages"), list):
        yield Refusal(str(path), "it holds no list of messages")
        return
    yield _body(whole, session)


def _identify(session: Session, first: Mapping[str, Any], *, file: str) -> None:
    """Give a session of Claude Code the id that is its own.

    Every row of a sub-agent's file repeats the id of the session that called it, and the first rows of a
    forked session are copies of the original's. What is their own is the file's name.
    """
    if not isinstance(first.get("sessionId"), str):
        return
    stated, agent = session.session_id, text_of(first.get("agentId"))
    if file.startswith(_AGENT):
        session.session_id = f"{stated}/{file}"
    elif agent and first.get("isSidechain") is True:
        session.session_id = f"{stated}/{_AGENT}{agent}"
    elif _UUID.fullmatch(file):
        session.session_id = file
    session.earlier_id = stated if session.session_id != stated else ""


def _body(body: Mapping[str, Any], session: Session) -> Session:
    """A provider's request: `messages`, and Anthropic's `system`."""
    _described(session, body)
    system = [{"role": "system", "content": body["system"]}] if body.get("system") else []
    given = [*system, *body["messages"]]
    session.messages = lambda: _taken(given, session)
    return session


def _taken(given: Iterable[Any], session: Session) -> Iterator[Message]:
    for number, line in enumerate(given, start=1):
        item = f"{session.session_id}: message {number}"
        try:
            if not isinstance(line, Mapping):
                raise ValueError("it is no object")
            yield from normalised(line, ts=_time(line, session, item), turn=_turn(line, session, item))
        except ValueError as error:
            session.refused.append(Refusal(item, f"left out: {error}"))


def _time(line: Mapping[str, Any], session: Session, item: str) -> str | None:
    """When a message was written; None without a time, and for one that cannot be read, which is named."""
    inner = line.get("message")
    try:
        return time_of(line) or (time_of(inner) if isinstance(inner, Mapping) else None)
    except ValueError as error:
        session.unread.append(f"{item}: {error}; it is stored without one")
        return None


def _turn(line: Mapping[str, Any], session: Session, item: str) -> int | None:
    turn, number = line.get("turn"), whole_number(line.get("turn"))
    if turn is not None and number is None:
        session.unread.append(f"{item}: its turn {str(turn)[:40]!r} is no number; it is stored without one")
    return number


def _mappings(path: Path, session: Session) -> Iterator[Mapping[str, Any]]:
    """The objects of a JSONL file; the first invalid lines are named, the rest counted."""
    left_out = 0
    try:
        with open_regular(path) as file:
            for number, line in enumerate(iter(lambda: file.readline(_LARGEST + 1), b""), start=1):
                if len(line) > _LARGEST:
                    reason = f"it is larger than {_LARGEST:,} bytes; the rest of the file was left out"
                    session.refused.append(Refusal(f"{path.name}, line {number}", reason))
                    break
                if not line.strip():
                    continue
                try:
                    value = parsed(line)
                    if not isinstance(value, dict):
                        raise ValueError("it is no object")
                except ValueError as error:  # the last line of a session still running
                    left_out += 1
                    if left_out <= NAMED:
                        session.refused.append(Refusal(f"{path.name}, line {number}", f"left out: {error}"))
                else:
                    yield value
    except FileNotFoundError:
        return
    except OSError as error:
        session.refused.append(Refusal(str(path), f"cannot be read: {error}"))
    if left_out > NAMED:
        session.refused.append(
            Refusal(path.name, f"{left_out - NAMED:,} more lines that are no JSON objects")
        )


def parsed(text: bytes) -> Any:
    """JSON in UTF-8. Raises ValueError for anything else, because Python would guess the encoding."""
    try:
        return json.loads(text.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ValueError("it is not written in UTF-8") from error
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def text_of(value: Any) -> str | None:
    """A text that SQLite can store, lone surrogates replaced; None for an empty one or another type."""
    return value.encode("utf-8", "replace").decode() or None if isinstance(value, str) else None


def _name(of_file: str) -> str:
    """The file's name, which need not be valid Unicode."""
    return of_file.encode("utf-8", "replace").decode()
