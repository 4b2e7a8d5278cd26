"""Conversations that programs write as Markdown: by which lines a turn begins, and who says it.

To add a program, add an entry to `FORMS`. A pattern matches a whole line; its groups `id` and `text` are
the session's id and the beginning of what is said. A time in the line is when it was.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from store.disk.files import open_regular, read_regular
from store.errors import BadSource
from store.importing import encodings
from store.outcome import Refusal

_LARGEST = 200_000_000  # bytes
_START = 1 << 16  # bytes, in which both sides have to speak unless a line says which program it was


@dataclass(frozen=True, slots=True)
class Form:
    """How a program writes a conversation."""

    title: str
    turns: Mapping[str, str]  # a line → the role of what follows
    session: str = ""  # a line that begins a session
    left_out: str = ""  # lines of the program itself
    rule: str = "---"  # a line that ends a turn
    has_code: bool = True  # whether blocks of code are closed, so that no line in them begins a turn


_WHEN = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d[\d:.]*(?:Z|[+-]\d\d:?\d\d)?")
_THOUGHT = re.compile(r"(?s)<think>(?:<details><summary>[^<]*</summary>)?(.*?)(?:</details>)?</think>")
_AIDER = r"# aider chat started at .{19}"
FORMS = (
    Form("Aider", {r"#### ?(?P<text>.*)  ": "user"}, _AIDER, left_out=r">.*  ", rule="", has_code=False),
    Form("Aider", {r"#### ?(?P<text>.*)": "user"}, _AIDER, left_out=r">.*", rule="", has_code=False),
    Form(
        "SpecStory", {r"_\*\*User\b[^*]*\*\*_": "user", r"_\*\*(?:Assistant|Agent)\b[^*]*\*\*_": "assistant"},
        r"<!-- [\w ]+ Session (?P<id>[0-9a-fA-F-]{8,}) .*-->", has_code=False,
    ),
    Form("ChatGPT Exporter", {r"#### You:": "user", r"#### ChatGPT:": "assistant"}),
    Form("AI Chat Exporter", {r"## Prompt:": "user", r"## Response:": "assistant"}),
    Form("Cursor's export", {r"\*\*User\*\*": "user", r"\*\*Cursor\*\*": "assistant"}),
    Form(  # of people who copy
        "Markdown",
        {
            r"(?:#{1,4} |\*\*)(?:User|Human|You|Me)(?:\*\*)?:?(?:\*\*)?": "user",
            r"(?:#{1,4} |\*\*)(?:Assistant|AI|Bot|ChatGPT|Claude|Gemini|Copilot|Grok)(?:\*\*)?:?(?:\*\*)?":
                "assistant",
        },
    ),
)  # fmt: skip


def is_known(path: Path) -> bool:
    """Whether the file begins as one of these programs writes a conversation."""
    try:
        with open_regular(path) as file:
            form = _form(file.read(_START).decode("utf-8", "replace"))
            return form not in (None, FORMS[-1])  # which a note may have as well
    except OSError:
        return False


def conversations(path: Path) -> Iterator[tuple[str, dict[str, Any]] | Refusal]:
    """Each conversation of the file with its program's name; a refusal if it is none."""
    try:
        text = encodings.read(read_regular(path, limit=_LARGEST))[0]
    except (OSError, ValueError, BadSource) as error:
        yield Refusal(str(path), f"cannot be read: {error}")
        return
    form = _form(text[:_START])
    if form is None:
        yield Refusal(str(path), "no line says who speaks, as in “#### …” of Aider or “**User**”")
        return
    for one in _sessions(text, form):
        yield form.title, one


def _form(text: str) -> Form | None:
    """The form of a text in which a session begins, or two sides speak."""
    lines = {line for line in text.splitlines() if line[:1] in ("#", "_", "*", "<")}
    for form in FORMS:
        heard = {role for line in lines for pattern, role in form.turns.items() if _match(pattern, line)}
        begins = form.session and any(_match(form.session, line) for line in lines)
        if len(heard) == 2 or (heard and begins):
            return form
    return None


def _match(pattern: str, line: str) -> re.Match[str] | None:
    return re.fullmatch(pattern, line) or re.fullmatch(pattern, line.rstrip())


def _sessions(text: str, form: Form) -> Iterator[dict[str, Any]]:
    found, fence = [dict[str, Any](messages=[])], ""
    for line in text.splitlines():
        messages = found[-1]["messages"]
        was_code, fence = bool(fence), _fence(line, fence) if form.has_code else ""
        turn = next(
            ((role, one) for pattern, role in form.turns.items() if (one := _match(pattern, line))), None
        )
        if was_code:
            turn = None
        elif form.session and (head := _match(form.session, line)):
            id = head.groupdict().get("id")
            found.append({"id": id, "time": _time(line), "messages": []})
            continue
        elif form.left_out and _match(form.left_out, line):
            continue
        if turn:
            role, said = turn[0], turn[1].groupdict()
            if "text" in said and messages and messages[-1]["role"] == role:
                messages[-1]["content"] += f"\n{said['text']}"
            else:
                messages.append(
                    {
                        "role": role,
                        "content": said.get("text", ""),
                        "timestamp": None if "text" in said else _time(line),
                    }
                )
        elif messages:
            if not form.rule and messages[-1]["role"] == "user" and line.strip():  # no line says who answers
                messages.append({"role": "assistant", "content": ""})
            messages[-1]["content"] += f"\n{line}"
    for session in found:
        for message in session["messages"]:
            message["content"] = text = _without_rule(message["content"], form.rule)
            if thought := _THOUGHT.fullmatch(text):
                message["content"] = [{"type": "thinking", "thinking": thought[1].strip()}]
        session["messages"] = [message for message in session["messages"] if message["content"]]
        if session["messages"]:
            yield session


def _time(line: str) -> str | None:
    when = _WHEN.search(line)
    return when[0] if when else None


def _fence(line: str, fence: str) -> str:
    """The fence of the block of code that is open after this line; "" if none is."""
    mark = re.match(r"\s*(`{3,}|~{3,})", line)
    if mark is None:
        return fence
    if not fence:
        return mark[1]
    return "" if mark[1].startswith(fence) and line.strip() == mark[1] else fence


def _without_rule(text: str, rule: str) -> str:
    lines = text.strip().splitlines()
    while rule and lines and lines[-1].strip() in ("", rule):
        lines.pop()
    return "\n".join(lines).strip()
