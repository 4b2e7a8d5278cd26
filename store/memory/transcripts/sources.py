"""Which programs' conversations are read, and the names of their fields: one table.

A path is a name or names between dots; `[]` after a name stands for each element of its list. A sign is one
or more paths, each of which a record has; `path=value` asks for this value. To add a program, add an entry to
`SOURCES` and a case to `tests/store/memory/transcripts/test_sources.py`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from store.memory.transcripts import programs

Record = Mapping[str, Any]

ROLES = {  # by their names in lower case; all others stay as they are
    "ai": "assistant", "bard": "assistant", "bing": "assistant", "bot": "assistant", "chatgpt": "assistant",
    "gemini": "assistant", "gpt": "assistant", "model": "assistant",
    "human": "user", "prompter": "user",
    "developer": "system",
    "function": "tool", "function_response": "tool", "ipython": "tool", "observation": "tool",
    "tool_response": "tool", "tool_result": "tool", "toolresult": "tool",
}  # fmt: skip
SUMMARY = "summary"  # the role of what a program wrote in place of messages that it left out


@dataclass(frozen=True, slots=True)
class Branches:
    """The fields by which the messages of a conversation form a tree."""

    id: str
    parent: str
    chosen: str = ""  # in the conversation: its last message; "" or absent: the last one in the file


@dataclass(frozen=True, slots=True)
class Source:
    """How a program writes conversations; of several paths, the first counts that has a value."""

    title: str
    signs: tuple[str, ...]  # one of them is enough
    # A conversation in each record: where it has its messages, with the role of a text there or of a message
    # without one. Empty: each record of the file is a message.
    parts: tuple[tuple[str, str], ...] = ()
    branches: Branches | None = None
    message: str = ""  # where a record has its message; "" if it is one
    role: tuple[str, ...] = ("role",)
    roles: Mapping[str, str] = field(default_factory=dict)  # of this program alone
    content: tuple[
        str, ...
    ] = ()  # where a message has what it says, if under another name than the usual ones
    attached: tuple[str, ...] = ()  # texts that belong to it
    summary: str = ""  # the sign of a message that stands for earlier ones
    # Records of other kinds that say something: their sign, where the text is, and its role.
    also: tuple[tuple[str, str, str], ...] = ()
    kind: str = "type"  # which kind of record it is
    kinds: frozenset[str] = frozenset()  # those with a message; empty: all
    others: frozenset[str] = frozenset()  # those without one
    head: str = ""  # the sign of the record that describes the session
    session: tuple[str, ...] = ("session_id", "sessionId")
    parent: tuple[str, ...] = ()  # the session that began this one
    titles: tuple[str, ...] = ()  # of a conversation; the first kind counts, and of it the last one
    project: tuple[str, ...] = ("project_slug", "project")
    folder: tuple[str, ...] = ()  # in which the program ran; its name is the project
    time: tuple[str, ...] = ()  # of a conversation whose messages have none
    aside: str = ""  # the sign of a record that a helper wrote among those of its session
    expand: Callable[[Record], Iterable[Record]] | None = None  # a message as those that it consists of
    settle: Callable[[Iterable[Record]], Iterable[Record]] | None = None  # records as they are in the end
    unread: str = ""  # why it is not read


_CODEX = frozenset({"response_item", "compacted"})
_WITHOUT = frozenset({
    "compaction", "ghost_snapshot", "item_reference", "mcp_approval_request", "mcp_approval_response",
    "mcp_list_tools",
})  # fmt: skip
_OF_CONVERSATION = ("session_id", "sessionId", "conversation_id", "conversationId", "id", "custom_id")

MESSAGES = Source(
    "messages",
    (
        "role content", "role parts", "role text", "role tool_calls", "message.role",
        "type=reasoning", "type=function_call", "type=function_call_output",
    ),
    others=_WITHOUT,
)  # fmt: skip
SOURCES = (
    Source(
        "ChatGPT's export", ("mapping current_node", "mapping create_time"),
        parts=(("mapping", ""),),
        branches=Branches("id", "parent", "current_node"),
        message="message", role=("author.role",),
        session=("conversation_id", "id"), titles=("title",),
        expand=programs.chatgpt,
    ),
    Source(
        "Claude.ai's export", ("chat_messages",),
        parts=(("chat_messages", ""),),
        branches=Branches("uuid", "parent_message_uuid", "current_leaf_message_uuid"),
        role=("sender",), attached=("attachments[].extracted_content",),
        session=("uuid",), titles=("name",), project=(),
    ),
    Source(
        "Open WebUI's export", ("chat.history.messages",),
        parts=(("chat.history.messages", ""),),
        branches=Branches("id", "parentId", "chat.history.currentId"),
        session=("id",), titles=("title", "chat.title"),
    ),
    Source(
        "LibreChat's export", ("conversationId messages[]",),
        parts=(("messages", ""),),
        branches=Branches("messageId", "parentMessageId"),
        role=("isCreatedByUser", "sender"), roles={"True": "user", "False": "assistant"},
        session=("conversationId",), titles=("title",),
    ),
    Source(
        "Gemini CLI", ("sessionId projectHash messages[]",),
        parts=(("messages", ""),),
        role=("type",), kinds=frozenset({"user", "gemini"}), titles=("summary",),
        expand=programs.gemini_cli,
    ),
    Source(
        "Gemini CLI, lines", ("sessionId projectHash", "$set", "$rewindTo"),
        role=("type",), kinds=frozenset({"user", "gemini"}),
        expand=programs.gemini_cli, settle=programs.settle_gemini_cli,
    ),
    Source(
        "Google AI Studio", ("chunkedPrompt.chunks",),
        parts=(("systemInstruction", "system"), ("chunkedPrompt.chunks", "user")),
        expand=programs.ai_studio,
    ),
    Source(
        "Gemini's API", ("contents[].parts", "candidates[].content"),
        parts=(
            ("systemInstruction", "system"), ("system_instruction", "system"), ("system", "system"),
            ("contents", "user"), ("candidates[].content", "assistant"),
        ),
        session=(*_OF_CONVERSATION, "responseId"), time=("createTime",),
    ),
    Source(
        "Gemini's batches", ("request.contents[].parts", "response.candidates[].content"),
        parts=(
            ("request.systemInstruction", "system"), ("request.system_instruction", "system"),
            ("request.contents", "user"), ("response.candidates[].content", "assistant"),
        ),
        session=("key", "custom_id"), time=("response.createTime",),
    ),
    Source("a saved chat of Gemini", ("history[].parts",), parts=(("history", "user"),)),
    Source(
        "LangChain", ("messages[].data.content",),
        parts=(("messages", ""),),
        role=("type",), content=("data.content",), session=_OF_CONVERSATION,
    ),
    Source(
        "Continue", ("sessionId history[].message",),
        parts=(("history", ""),),
        titles=("title",), folder=("workspaceDirectory",),
    ),
    Source(
        "OpenAI's batches", ("custom_id body", "custom_id response.body"),
        parts=(
            ("body.instructions", "system"), ("body.messages", ""), ("body.input", "user"),
            ("response.body.output", "assistant"), ("response.body.choices[].message", "assistant"),
        ),
        session=("custom_id",), others=_WITHOUT, time=("response.body.created_at", "response.body.created"),
    ),
    Source(
        "Anthropic's batches", ("custom_id params.messages", "custom_id result.message"),
        parts=(("params.system", "system"), ("params.messages", ""), ("result.message", "assistant")),
        session=("custom_id",),
    ),
    Source(
        "OpenAI's requests and responses, each with the other",
        ("request.messages[]", "request.input", "response.output[]", "response.choices[]"),
        parts=(
            ("request.instructions", "system"), ("request.system", "system"),
            ("request.messages", ""), ("request.input", "user"),
            ("response.output", "assistant"), ("response.choices[].message", "assistant"),
        ),
        session=(*_OF_CONVERSATION, "response.id"), others=_WITHOUT,
        time=("response.created_at", "response.created"),
    ),
    Source(
        "OpenAI's Responses",
        ("output object=response", "input model", "output model", "input[].role", "input[].type"),
        parts=(("instructions", "system"), ("input", "user"), ("output", "assistant")),
        session=_OF_CONVERSATION, others=_WITHOUT, time=("created_at",),
    ),
    Source(
        "ShareGPT", (
            "conversations[].from", "conversations[].role", "conversations[].user",
            "conversation[].from", "conversation[].role", "items[].from",
        ),
        parts=(("system", "system"), ("conversations", ""), ("conversation", ""), ("items", "")),
        role=("from", "role", "user"), content=("value", "content", "text"),
        session=_OF_CONVERSATION, expand=programs.sharegpt,
    ),
    Source(
        "requests of OpenAI and Anthropic", ("messages[]",),
        parts=(("system", "system"), ("messages", ""), ("choices[].message", "assistant")),
        session=_OF_CONVERSATION,
    ),
    Source(
        "OpenAI's lists of items", ("data[].role data[].content",),
        parts=(("data", ""),),
        session=("data[].thread_id",), others=_WITHOUT,
    ),
    Source(
        "OpenAI's chat completions", ("choices[].message",),
        parts=(("choices[].message", "assistant"),),
        session=_OF_CONVERSATION, time=("created",),
    ),
    Source(
        "Codex, earlier JSON", ("session.id items",),
        parts=(("items", ""),),
        session=("session.id",), folder=("session.cwd",), time=("session.timestamp",), others=_WITHOUT,
    ),
    Source(
        "Codex", ("type payload",),
        message="payload", content=("content", "message"), kinds=_CODEX, others=_WITHOUT,
        summary="type=compacted",
        head="type=session_meta", session=("payload.id",), folder=("payload.cwd",),
        parent=("payload.source.subagent.thread_spawn.parent_thread_id",),
    ),
    Source(
        "Codex, earlier lines", ("id timestamp instructions", "record_type=state"),
        others=_WITHOUT | {"None"},
        head="id timestamp", session=("id",),
    ),
    Source("prompts of Gemini CLI", ("sessionId messageId message",), unread="its sessions have them"),
    Source(
        "Claude Code",
        (
            "sessionId type", "session_id type", "type=summary leafUuid", "type=file-history-snapshot",
            "type=user message.content", "type=assistant message.content",
        ),
        message="message", summary="isCompactSummary=True", kinds=frozenset({"user", "assistant"}),
        also=(("attachment.type=queued_command", "attachment.prompt", "user"),),  # typed while it worked
        head="message", titles=("customTitle", "aiTitle", "summary"), folder=("cwd",),
        branches=Branches("uuid", "parentUuid"), aside="isSidechain=True",
    ),
    Source(
        "Claude Code on the web", ("loglines[]",),
        parts=(("loglines", ""),),
        message="message", summary="isCompactSummary=True", kinds=frozenset({"user", "assistant"}),
        session=_OF_CONVERSATION,
    ),
    Source(
        "Pi", ("type=session version cwd", "type=message message.role"),
        message="message", kinds=frozenset({"message"}),
        also=(("type=compaction", "summary", SUMMARY), ("type=branch_summary", "summary", SUMMARY)),
        head="type=session", session=("id",), folder=("cwd",),
    ),
    MESSAGES,
    Source("names of Codex's sessions", ("id thread_name",), unread="its sessions say it"),
    Source("prompts of Claude Code", ("display pastedContents",), unread="its sessions have them"),
    Source("prompts of Codex", ("session_id ts text",), unread="its sessions have them"),
)  # fmt: skip


# One of these stands in every file that is recognised.
NAMES = frozenset(
    path.partition("=")[0].partition(".")[0].removesuffix("[]")
    for source in SOURCES
    for sign in source.signs
    for path in sign.split()
)


def recognised(records: Iterable[Record]) -> Source | None:
    """The source that wrote these records, by the first of them that has a sign."""
    for record in records:
        for source in SOURCES:
            if is_of(source, record):
                return source
    return None


def has(record: Record, sign: str) -> bool:
    """Whether the record has this sign."""
    for one in sign.split():
        path, is_given, wanted = one.partition("=")
        value = at(record, path)
        if isinstance(value, list) and "[]" in path:
            value = next((each for each in value if each is not None), None)
        if value is None if not is_given else str(value) != wanted:
            return False
    return bool(sign)


def at(record: Any, path: str) -> Any:
    """The value at this path; None without one, and for `[]` a list."""
    name, _, rest = path.partition(".")
    if name.endswith("[]"):
        inner = record.get(name[:-2]) if isinstance(record, Mapping) else None
        return [at(one, rest) if rest else one for one in inner] if isinstance(inner, list) else None
    value = record.get(name) if isinstance(record, Mapping) else None
    return at(value, rest) if rest else value


def first(record: Any, paths: Sequence[str]) -> Any:
    """The first value at these paths that is not empty; None without one."""
    return next((value for path in paths if (value := at(record, path)) not in (None, "", [])), None)


def is_of(source: Source, record: Record) -> bool:
    """Whether the record has a sign of this source."""
    return any(has(record, sign) for sign in source.signs)


def messages_of(source: Source, record: Record) -> Iterator[Record]:
    """The messages of a record, with the usual names of fields; none if it is of a kind without one."""
    for sign, path, role in source.also:
        if has(record, sign) and (text := at(record, path)):
            yield {"role": role, "content": text}
            return
    inner = at(record, source.message) if source.message else record
    if not isinstance(inner, Mapping):
        if first(record, source.role) is None and str(at(record, source.kind)) not in source.kinds:
            return
        inner = record
    elif _is_of_another_kind(source, record, inner):
        return
    role = first(inner, source.role)
    if role is None and str(at(record, source.kind)) in source.kinds & {"user", "assistant"}:
        role = at(record, source.kind)
    if source.summary and has(record, source.summary):
        role = SUMMARY
        if not first(inner, source.content or ("content",)):
            return
    message = {**inner, **({"role": source.roles.get(str(role), str(role))} if role is not None else {})}
    if source.content and (content := first(inner, source.content)) is not None:
        message["content"] = content
    texts = [text for path in source.attached for text in at(inner, path) or () if isinstance(text, str)]
    if texts:
        content = message.get("content") or message.get("text") or []
        blocks = [content] if isinstance(content, str) else [*content]
        message["content"] = [*blocks, *({"type": "text", "text": text} for text in texts)]
    yield from source.expand(message) if source.expand else (message,)


def kind_of(source: Source, record: Record) -> str:
    """What a record without a message is called in a report."""
    inner = at(record, source.message) if source.message else None
    kind = at(record, source.kind)
    if isinstance(inner, Mapping) and (not source.kinds or str(kind) in source.kinds):
        kind = inner.get("type", "empty")
    return str(kind or "without a type")


def _is_of_another_kind(source: Source, record: Record, inner: Record) -> bool:
    kind = at(record, source.kind)
    is_message = not source.kinds or str(kind) in source.kinds
    return not is_message or bool(source.others & {str(kind), str(inner.get("type"))})
