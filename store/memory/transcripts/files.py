"""Read recorded sessions: folders, JSONL files, and the message formats of OpenAI and Anthropic."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from store.disk.files import open_regular, read_regular
from store.disk.sqlite_values import is_integer
from store.memory.text.extraction import blocks_of, is_call, is_result
from store.outcome import Refusal

MESSAGES, EVENTS, METADATA = "transcript.jsonl", "events.jsonl", "metadata.json"
_ROLES = {"function": "tool", "developer": "system"}
_TEXTS = {"input_text", "output_text", "summary_text"}  # OpenAI's names for blocks of text
_OUTPUTS = ("output", "outputs", "results", "result", "error")  # of a tool on the provider's side

_NAMED = 5  # lines of one file that are no JSON objects
_LARGEST = 200_000_000  # bytes of a file in one JSON value, or of a line

Message = dict[str, Any]


@dataclass(slots=True)
class Session:
    """One session, whose messages and events are read lazily."""

    session_id: str
    user_id: str = ""  # "" where the files do not say
    project_slug: str | None = None
    messages: Iterator[Message] = field(default_factory=lambda: iter(()))
    events: Iterator[Mapping[str, Any]] = field(default_factory=lambda: iter(()))
    refused: list[Refusal] = field(default_factory=list)  # lines that are no messages or events
    is_named: bool = False  # its content says its id; else it is only called like its file or folder


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


def normalised(given: Mapping[str, Any]) -> list[Message]:
    """A message of any known format as messages with role, content, turn and ts. Raises ValueError.

    Anthropic sends tool results inside a user's message: they become messages with the role tool.
    """
    more = {
        "turn": whole_number(given.get("turn")),
        "ts": given.get("ts", given.get("timestamp", given.get("created_at"))),
    }
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
    if isinstance(content, list) and role != "tool":
        content = [
            {**block, "type": "text"} if isinstance(block, Mapping) and block.get("type") in _TEXTS else block
            for block in content
        ]
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


def moment(value: Any) -> str | None:
    """A time as sortable text: ISO 8601 in UTC; also accepts seconds or milliseconds since 1970."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            seconds = value / 1000 if value > 1e11 else value
            return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
        except (OverflowError, ValueError, OSError):
            return None
    if not isinstance(value, str) or not value.strip():
        return None
    try:
        found = datetime.fromisoformat(value.strip())
    except ValueError:
        return None
    found = found.replace(tzinfo=UTC) if found.tzinfo is None else found
    try:
        return found.astimezone(UTC).isoformat(timespec="milliseconds")
    except OverflowError:
        return None


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
    session.messages = _messages(path / MESSAGES, session)
    session.events = _mappings(path / EVENTS, session)
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
                session.is_named |= attribute == "session_id"
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
        session.messages = _messages(path, session)
        yield session
        return
    try:
        whole = parsed(read_regular(path, limit=_LARGEST))
    except (OSError, ValueError) as error:
        yield Refusal(str(path), f"cannot be read: {error}")
        return
    if isinstance(whole, list):
        whole = {"messages": whole}
    if not isinstance(whole, dict) or not isinstance(whole.get("messages"), list):
        yield Refusal(str(path), "it holds no list of messages")
        return
    yield _body(whole, session)


def _body(body: Mapping[str, Any], session: Session) -> Session:
    """A provider's request: `messages`, and Anthropic's `system` beside them."""
    _described(session, body)
    system = [{"role": "system", "content": body["system"]}] if body.get("system") else []
    session.messages = _taken([*system, *body["messages"]], session)
    return session


def _messages(path: Path, session: Session) -> Iterator[Message]:
    return _taken(_mappings(path, session), session)


def _taken(given: Any, session: Session) -> Iterator[Message]:
    for number, line in enumerate(given, start=1):
        try:
            if not isinstance(line, Mapping):
                raise ValueError("it is no object")
            yield from normalised(line)
        except ValueError as error:
            session.refused.append(Refusal(f"{session.session_id}: message {number}", f"left out: {error}"))


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
                    if left_out <= _NAMED:
                        session.refused.append(Refusal(f"{path.name}, line {number}", f"left out: {error}"))
                else:
                    yield value
    except FileNotFoundError:
        return
    except OSError as error:
        session.refused.append(Refusal(str(path), f"cannot be read: {error}"))
    if left_out > _NAMED:
        session.refused.append(
            Refusal(path.name, f"{left_out - _NAMED:,} more lines that are no JSON objects")
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


def whole_number(value: Any) -> int | None:
    """A whole number that SQLite can store; None for anything else."""
    return value if is_integer(value) else None


def _name(of_file: str) -> str:
    """The file's name, which need not be valid Unicode."""
    return of_file.encode("utf-8", "replace").decode()
