"""Which programs' conversations are read, and the names of their fields: one table.

A path is a name or names between dots; `[]` after a name stands for each element of its list. A sign is one
or more paths, each of which a record has; `path=value` asks for this value. To add a program, add an entry to
`SOURCES` and a case to `tests/store/memory/transcripts/test_sources.py`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
    **{role: role for role in ("user", "assistant", "system", "tool")},
}  # fmt: skip
_ID = ("id", "callID", "toolCallId", "tool_call_id")  # of a call
_OF_THOUGHT = ("subject", "summary", "title", "description", "content", "text", "thinking")
_APART = ("tool_calls", "reasoning_content", "reasoning")  # of a message whose blocks have them
SUMMARY = "summary"  # the role of what a program wrote in place of messages that it left out


@dataclass(frozen=True, slots=True)
class Branches:
    """The fields by which the messages of a conversation form a tree."""

    id: str
    parent: str
    chosen: str = ""  # in the conversation: its last message; "" or absent: the last one in the file


@dataclass(frozen=True, slots=True)
class Calls:
    """Where a message has the calls of tools, and what the tools answered."""

    at: str  # a list of calls, or one; "" if the message itself is a call
    name: str = "name"
    given: tuple[str, ...] = ("arguments",)
    said: tuple[str, ...] = ()
    sign: str = ""  # of those elements that are calls; the others are what the message says


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
    content: tuple[str, ...] = ()  # where a message has what it says, under another name than usual
    thoughts: tuple[str, ...] = ()  # where it has what was thought before
    calls: Calls | None = None
    answers: str = ""  # where the answers of tools are, if not with their calls
    attached: tuple[str, ...] = ()  # texts that belong to it
    summary: str = ""  # the sign of a message that stands for earlier ones
    # Records of other kinds that say something: their sign, where the text is, and its role.
    also: tuple[tuple[str, str, str], ...] = ()
    kind: str = "type"  # which kind of record it is
    # Those with a message, and its role, "" where it says that itself; empty: all of them.
    kinds: Mapping[str, str] = field(default_factory=dict)
    others: frozenset[str] = frozenset()  # those without one
    head: str = ""  # the sign of the record that describes the session
    session: tuple[str, ...] = ("session_id", "sessionId")
    parent: tuple[str, ...] = ()  # the session that began this one
    rows: tuple[str, ...] = ()  # where a message names its conversation, in a file with those of several
    titles: tuple[str, ...] = ()  # of a conversation; the first kind counts, and of it the last one
    project: tuple[str, ...] = ("project_slug", "project")
    folder: tuple[str, ...] = ()  # in which the program ran; its name is the project
    written: tuple[str, ...] = ()  # when a message was, if under another name than usual
    time: tuple[str, ...] = ()  # of a conversation whose messages have none
    aside: str = ""  # the sign of a record that a helper wrote among those of its session
    helpers: str = ""  # where a conversation has those of its helpers, each as itself
    expand: Callable[[Record], Iterable[Record]] | None = None  # a message as those that it consists of
    settle: Callable[[Iterable[Record]], Iterable[Record]] | None = None  # records as they are in the end
    unread: str = ""  # why it is not read


_MESSAGES = (("messages", ""),)
_CODEX = {"response_item": "", "compacted": SUMMARY}
_WITHOUT = frozenset({
    "compaction", "ghost_snapshot", "item_reference", "mcp_approval_request", "mcp_approval_response",
    "mcp_list_tools",
})  # fmt: skip
# Names of fields that programs without an entry of their own use.
_WHO = ("role", "sender", "speaker", "author.role", "author.name", "author", "from", "source")
_SAID = ("content", "text", "message", "value", "body", "contentParts")
_OF_ROWS = (
    "session_id", "sessionId", "conversation_id", "conversationId", "thread_id", "threadId", "chat_id",
)  # fmt: skip
_OF_CONVERSATION = ("session_id", "sessionId", "conversation_id", "conversationId", "id", "custom_id")

_OPEN_HANDS = Source(
    "OpenHands", ("kind=MessageEvent", "kind=ActionEvent", "kind=SystemPromptEvent"),
    role=("llm_message.role", "source"), roles={"agent": "assistant"}, kind="kind",
    kinds={
        "MessageEvent": "", "SystemPromptEvent": "system", "ActionEvent": "assistant",
        "ObservationEvent": "tool", "UserRejectObservation": "tool", "AgentErrorEvent": "tool",
    },
    content=(
        "llm_message.content", "thought", "observation.content", "observation", "rejection_reason", "error",
        "system_prompt.text",
    ),
    thoughts=("reasoning_content",),
    calls=Calls("", name="tool_name", given=("tool_call.arguments", "action"), sign="kind=ActionEvent"),
)  # fmt: skip
_VS_CODE = Source(
    "VS Code's Copilot Chat", ("requests[].response", "requests[].message.text"),
    parts=(("requests", ""),),
    calls=Calls("content", given=("input",), said=("said",), sign="type=call"),
    session=("sessionId",), titles=("customTitle",), expand=programs.vs_code,
)  # fmt: skip
_GEMINI_CLI = Source(
    "Gemini CLI", ("sessionId projectHash messages[]",),
    parts=(("messages", ""),),
    kinds={"user": "user", "gemini": "assistant"}, titles=("summary",),
    thoughts=("thoughts",),
    calls=Calls(
        "toolCalls", given=("args",),
        said=("result[].functionResponse.response", "result", "resultDisplay"),
    ),
)  # fmt: skip
_CLAUDE_CODE = Source(
    "Claude Code",
    (
        "sessionId type", "session_id type", "type=summary leafUuid", "type=file-history-snapshot",
        "type=user message.content", "type=assistant message.content",
    ),
    message="message", summary="isCompactSummary=True", kinds={"user": "user", "assistant": "assistant"},
    also=(("attachment.type=queued_command", "attachment.prompt", "user"),),  # typed while it worked
    head="message", titles=("customTitle", "aiTitle", "summary"), folder=("cwd",),
    branches=Branches("uuid", "parentUuid"), aside="isSidechain=True",
)  # fmt: skip

MESSAGES = Source(
    "messages",
    (
        "role content", "role parts", "role text", "role tool_calls", "message.role",
        "type=reasoning", "type=function_call", "type=function_call_output",
    ),
    content=("content", "contentChunks", "contentParts"), others=_WITHOUT, rows=_OF_ROWS,
)  # fmt: skip
SOURCES = (
    Source(
        "ChatGPT's export", ("mapping current_node", "mapping create_time"),
        parts=(("mapping", ""),), branches=Branches("id", "parent", "current_node"),
        message="message", role=("author.role",), session=("conversation_id", "id"), titles=("title",),
        expand=programs.chatgpt,
    ),
    Source(
        "DeepSeek's export", ("mapping inserted_at",),
        parts=(("mapping", ""),), branches=Branches("id", "parent"),
        message="message", written=("inserted_at",),
        session=("id",), titles=("title",), expand=programs.deepseek,
    ),
    Source(
        "Grok's export", ("conversation.id responses[].response",),
        parts=(("responses", ""),), branches=Branches("response._id", "response.parent_response_id"),
        message="response", role=("sender",), roles={"ASSISTANT": "assistant"}, content=("message",),
        written=("create_time.$date.$numberLong", "create_time"),
        session=("conversation.id",), titles=("conversation.title",),
    ),
    Source(
        "Google Takeout's activity in Gemini", ("header time safeHtmlItem[].html",),
        expand=programs.gemini_activity, settle=programs.settle_gemini_activity,
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
        parts=_MESSAGES, branches=Branches("messageId", "parentMessageId"),
        role=("isCreatedByUser", "sender"), roles={"True": "user", "False": "assistant"},
        session=("conversationId",), titles=("title",),
    ),
    Source(
        "LibreChat's messages", ("conversationId isCreatedByUser text",),
        role=("isCreatedByUser",), roles={"True": "user", "False": "assistant"},
        session=("conversationId",), rows=("conversationId",), written=("createdAt.$date", "createdAt"),
    ),
    _GEMINI_CLI,
    replace(
        _GEMINI_CLI, signs=("sessionId projectHash", "$set", "$rewindTo"), parts=(), titles=(),
        settle=programs.settle_gemini_cli,
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
    _VS_CODE,
    replace(
        _VS_CODE, signs=("kind=0 v.requests", "kind=2 k v", "kind=1 k"), parts=(),
        head="kind=0", session=("v.sessionId",), settle=programs.settle_vs_code,
    ),
    Source(
        "Copilot CLI", ("type=session.start data", "type=user.message data", "type=assistant.message data"),
        message="data", content=("content", "result.content", "result", "error.message", "error"),
        kinds={
            "system.message": "system", "user.message": "user", "assistant.message": "assistant",
            "tool.execution_complete": "tool",
        },
        thoughts=("reasoningText",), calls=Calls("toolRequests"),
        head="type=session.start", session=("data.sessionId",), folder=("data.context.cwd",),
        settle=programs.settle_copilot,
    ),
    Source("a list of Posit Assistant", ("messages[].lmMessageIds",), unread="lm-messages.jsonl has them"),
    Source(
        "OpenCode", ("messages[].info messages[].parts",),
        parts=_MESSAGES, role=("info.role",), content=("parts",), written=("info.time.created",),
        calls=Calls(
            "parts", name="tool", given=("state.input",), said=("state.output", "state.error"),
            sign="type=tool",
        ),
        session=("info.id", "id"), titles=("info.title",), folder=("info.directory",),
        parent=("info.parentID",),
    ),
    Source(
        "Crush", ("messages[].parts[].data",),
        parts=_MESSAGES, session=("id",), titles=("title",), expand=programs.crush,
    ),
    Source(
        "AI SDK", ("messages[].parts[].type",),
        parts=_MESSAGES, content=("parts",),
        calls=Calls("parts", name="type", given=("input",), said=("output", "errorText"), sign="toolCallId"),
        session=_OF_CONVERSATION, titles=("title",),
    ),
    Source(
        "LM Studio", ("messages[].versions messages[].currentlySelected",),
        parts=_MESSAGES, titles=("name",), time=("createdAt",), expand=programs.lm_studio,
    ),
    Source(
        "Zed", ("messages[].segments",),
        parts=_MESSAGES, content=("segments",), calls=Calls("tool_uses", given=("input",)),
        titles=("summary",), time=("updated_at",),
    ),
    Source(
        "Cursor", ("composerId conversation[].bubbleId", "composerId bubbles[]"),
        parts=(("conversation", ""), ("bubbles", "")), kinds={"1": "user", "2": "assistant"},
        thoughts=("thinking",),
        calls=Calls("toolFormerData", given=("rawArgs", "params"), said=("result",)),
        session=("composerId",), titles=("name",), time=("createdAt",), expand=programs.cursor,
    ),
    Source(
        "Cursor, earlier", ("tabId bubbles[]",),
        parts=(("bubbles", ""),), kinds={"user": "user", "ai": "assistant"}, content=("rawText", "text"),
        session=("tabId",), titles=("chatTitle",),
    ),
    Source(
        "Cursor, lines", ("role message.content",),
        message="message", role=("role",), kind="role",
        kinds={"system": "system", "user": "user", "assistant": "assistant"},
    ),
    Source(
        "trajectories (ATIF)", ("schema_version steps[]", "agent steps[].source"),
        parts=(("steps", ""),), role=("source",), roles={"agent": "assistant"}, content=("message",),
        thoughts=("reasoning_content",), calls=Calls("tool_calls", name="function_name"),
        answers="observation.results[].content", session=("session_id",), helpers="subagent_trajectories",
    ),
    replace(_OPEN_HANDS, signs=("items[].kind",), parts=(("items", ""),)),
    _OPEN_HANDS,
    Source(
        "Letta's agent files", ("in_context_message_ids messages", "core_memory messages"),
        parts=_MESSAGES, session=("name",), titles=("name",), expand=programs.letta,
    ),
    Source(
        "LangSmith", ("inputs.messages[] outputs", "inputs.messages[].role"),
        parts=(
            ("inputs.messages", ""), ("outputs.message", "assistant"), ("outputs.output", "assistant"),
            ("outputs.choices[].message", "assistant"),
        ),
        session=_OF_CONVERSATION, time=("start_time", "created_at"),
    ),
    Source(
        "Langfuse",
        ("input.messages[].role output", "input[].role output.role", "input[].role output.content"),
        parts=(("input.messages", ""), ("input", ""), ("output", "assistant")),
        session=("sessionId", *_OF_CONVERSATION), titles=("name",), time=("timestamp", "startTime"),
    ),
    Source(
        "LangChain", ("messages[].data.content",),
        parts=_MESSAGES, role=("type",), content=("data.content",), session=_OF_CONVERSATION,
    ),
    Source(
        "LangGraph", ("values.messages[].type", "channel_values.messages[].type"),
        parts=(("values.messages", ""), ("channel_values.messages", "")),
        role=("type", "kwargs.type"), content=("content", "kwargs.content"),
        session=("config.configurable.thread_id", "thread_id", *_OF_CONVERSATION), time=("created_at",),
    ),
    Source(
        "LangChain's messages", ("type=human content", "type=ai content", "lc kwargs.content"),
        role=("type",), message="kwargs",
    ),
    Source(
        "LangChain's messages", ("type=human data.content", "type=ai data.content"),
        role=("type",), message="data",
    ),
    Source(
        "Continue", ("sessionId history[].message",),
        parts=(("history", ""),), titles=("title",), folder=("workspaceDirectory",),
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
        "Anthropic's requests and responses, each with the other", ("request.messages[] response.content",),
        parts=(("request.system", "system"), ("request.messages", ""), ("response", "assistant")),
        session=(*_OF_CONVERSATION, "response.id"), time=("response.created_at",),
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
        role=_WHO, content=_SAID,
        session=_OF_CONVERSATION, titles=("title", "name"), folder=("folder", "cwd"),
        time=("time", "created_at"),
    ),
    Source(
        "OpenAI's lists of items", ("data[].role data[].content",),
        parts=(("data", ""),), session=("data[].thread_id",), others=_WITHOUT,
    ),
    Source(
        "OpenAI's chat completions", ("choices[].message",),
        parts=(("choices[].message", "assistant"),), session=_OF_CONVERSATION, time=("created",),
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
        others=_WITHOUT | {"None"}, head="id timestamp", session=("id",),
    ),
    Source(
        "codex exec --json", ("type=thread.started thread_id", "type=item.completed item.type"),
        message="item", kinds={"item.completed": ""},
        head="type=thread.started", session=("thread_id",), expand=programs.codex_exec,
    ),
    Source("prompts of Gemini CLI", ("sessionId messageId message",), unread="its sessions have them"),
    _CLAUDE_CODE,
    replace(
        _CLAUDE_CODE, title="Claude Code on the web", signs=("loglines[]",), parts=(("loglines", ""),),
        also=(), head="", session=_OF_CONVERSATION, titles=(), branches=None, aside="",
    ),
    Source(
        "Droid", ("type=session_start id",),
        message="message", kinds={"message": ""},
        head="type=session_start", session=("id",), titles=("sessionTitle", "title"), folder=("cwd",),
    ),
    Source(
        "Pi", ("type=session version cwd", "type=message message.role"),
        message="message", kinds={"message": ""},
        also=(("type=compaction", "summary", SUMMARY), ("type=branch_summary", "summary", SUMMARY)),
        head="type=session", session=("id",), folder=("cwd",), expand=programs.pi,
    ),
    Source(
        "Grok CLI", ("type=system content", "type=user content", "type=assistant content"),
        kinds={
            **{role: role for role in ("system", "user", "assistant")}, "tool_result": "tool",
            **dict.fromkeys(("reasoning", "backend_tool_call"), "assistant"),
        },
        calls=Calls("kind", name="tool_type", given=("action",)),
    ),
    Source(
        "SillyTavern", ("mes is_user", "user_name character_name"),
        kind="is_user", kinds={"True": "user", "False": "assistant"},
        content=("mes",), written=("send_date",), titles=("character_name",),
    ),
    Source(
        "Letta Code", ("kind captured_at",),
        role=(), kind="kind",
        kinds={"user": "user", **dict.fromkeys(("assistant", "reasoning", "tool_call"), "assistant")},
        calls=Calls("", given=("argsText",), said=("resultText",), sign="kind=tool_call"),
        written=("captured_at",), expand=programs.letta_code,
    ),
    Source(
        "text-generation-webui", ("internal visible", "data data_visible"), settle=programs.settle_webui,
    ),
    Source("prompts with their answers", ("workspace prompt response",), expand=programs.prompted),
    MESSAGES,
    Source(
        "messages by speaker",
        tuple(f"{who} {said}" for who in ("speaker", "sender") for said in ("text", "message", "content")),
        role=_WHO, content=_SAID, rows=_OF_ROWS,
    ),
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
        if "[]" in path:
            value = _one_of(value)
        if value is None if not is_given else str(value) != wanted:
            return False
    return bool(sign)


def _one_of(value: Any) -> Any:
    """The first value in a list, and in lists in it, that is there."""
    if not isinstance(value, list):
        return value
    return next((one for each in value if (one := _one_of(each)) is not None), None)


def at(record: Any, path: str) -> Any:
    """The value at this path; None without one, and for `[]` a list."""
    name, _, rest = path.partition(".")
    if name.endswith("[]"):
        inner = record.get(name[:-2]) if isinstance(record, dict) else None
        return [at(one, rest) if rest else one for one in inner] if isinstance(inner, list) else None
    value = record.get(name) if isinstance(record, dict) else None
    return at(value, rest) if rest else value


def first(record: Any, paths: Sequence[str]) -> Any:
    """The first value at these paths that is not empty; None without one."""
    return next((value for path in paths if (value := _whole(at(record, path))) not in (None, "", [])), None)


def _whole(value: Any) -> Any:
    return [one for one in value if one is not None] if isinstance(value, list) else value


def is_of(source: Source, record: Record) -> bool:
    """Whether the record has a sign of this source."""
    return any(has(record, sign) for sign in source.signs)


def messages_of(source: Source, record: Record) -> Iterator[Record]:
    """The messages of a record, with the usual names of fields; none if it is of a kind without one."""
    for sign, path, whose in source.also:
        if has(record, sign) and (text := at(record, path)):
            yield {"role": whose, "content": text}
            return
    inner, kind = at(record, source.message) if source.message else record, str(at(record, source.kind))
    if not isinstance(inner, dict):
        if first(record, source.role) is None and kind not in source.kinds:
            return
        inner = record
    elif (source.kinds and kind not in source.kinds) or source.others & {kind, str(inner.get("type"))}:
        return
    said = first(inner, source.role)
    said = None if isinstance(said, dict | list) else said
    role = source.kinds.get(kind) or (None if said is None else source.roles.get(str(said), str(said)))
    if source.summary and has(record, source.summary):
        role = SUMMARY
        if not first(inner, source.content or ("content",)):
            return
    message = {**inner, **({"role": role} if role is not None else {})}
    if source.content and (content := first(inner, source.content)) is not None:
        message["content"] = content
    if source.attached and (texts := [*_texts(inner, source.attached)]):
        message["content"] = [*_blocks(message), *({"type": "text", "text": text} for text in texts)]
    if source.written and (when := first(inner, source.written)) is not None:
        message["timestamp"] = when
    for one in source.expand(message) if source.expand else (message,):
        yield from _called(source, one)
    for said in _whole(at(message, source.answers)) or () if source.answers else ():
        yield {"timestamp": message.get("timestamp"), "role": "tool", "content": said}


def _called(source: Source, message: Record) -> Iterator[Record]:
    """The message with its thoughts and calls as blocks; what tools answered follows their calls."""
    calls, thoughts = source.calls, [*_texts(message, source.thoughts)]
    given = (at(message, calls.at) if calls.at else message) if calls else None
    ones = [one for one in (given if isinstance(given, list) else [given]) if isinstance(one, dict)]
    row = [(calls is not None and (not calls.sign or has(one, calls.sign)), one) for one in ones]
    if not (thoughts or any(is_call for is_call, _ in row)):
        yield message
        return
    own = {key: value for key, value in message.items() if key not in _APART}
    before = [] if calls and calls.sign and calls.at else _blocks(message)
    before = [*({"type": "thinking", "thinking": text} for text in thoughts), *before]
    content, answers = list[Any](), list[Record]()
    for is_call, one in [*((False, block) for block in before), *row]:
        if is_call and calls:
            call = {"type": "tool_use", "id": first(one, _ID), "name": at(one, calls.name)}
            content.append({**call, "input": first(one, calls.given)})
            if (said := first(one, calls.said)) is not None:
                when = one.get("timestamp") or message.get("timestamp")
                answers.append({"timestamp": when, "role": "tool", "content": said})
            continue
        if answers:
            yield {**own, "content": content}
            yield from answers
            content, answers = [], []
        content.append(one)
    yield {**own, "content": content}
    yield from answers


def _texts(record: Record, paths: Sequence[str]) -> Iterator[str]:
    """The texts at these paths; an object's are its heading and what follows, as one."""
    for path in paths:
        value = at(record, path)
        for one in value if isinstance(value, list) else [value]:
            parts = [one.get(name) for name in _OF_THOUGHT] if isinstance(one, dict) else [one]
            if text := "\n".join(part for part in parts if isinstance(part, str) and part):
                yield text


def _blocks(message: Record) -> list[Any]:
    content = message.get("content") or message.get("text") or []
    return [*content] if isinstance(content, list) else [{"type": "text", "text": content}]


def kind_of(source: Source, record: Record) -> str:
    """What a record without a message is called in a report."""
    inner = at(record, source.message) if source.message else None
    kind = at(record, source.kind)
    if isinstance(inner, dict) and (not source.kinds or str(kind) in source.kinds):
        kind = inner.get("type", "empty")
    elif str(kind) in source.kinds:  # one with a message, which says nothing
        kind = "empty"
    return str(kind or "without a type")
