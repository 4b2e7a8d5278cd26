"""The conversations of every known program: sessions, order, roles, texts and times, and nothing twice."""

import json
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from store.memory.memory import Memory
from tests.store.memory.transcripts.sessions import lines

UUID, OTHER = "0a0a0a0a-1111-4222-8333-444444444444", "0b0b0b0b-1111-4222-8333-444444444444"
T1, T2 = "2026-05-01T08:00:01Z", "2026-05-01T08:00:02Z"
AT1, AT2 = "2026-05-01T08:00:01.000+00:00", "2026-05-01T08:00:02.000+00:00"

FOLDER = "pond"  # in which the files are

Said = list[tuple[str, str | None]]  # roles and texts


@dataclass(frozen=True)
class Case:
    """A file of a program, and what is stored of it by session."""

    file: str
    given: Any  # a list in a .jsonl is its lines, a text the file itself
    stored: dict[str, Said]
    project: str | None = None
    times: tuple[str | None, ...] = ()  # of the first session
    notes: tuple[str, ...] = ()


def chatgpt(id: str, parent: str | None, role: str, *parts: str, **more: Any) -> dict[str, Any]:
    message = {
        "id": id, "author": {"role": role}, "create_time": 1777622401.0,
        "content": {"content_type": "text", "parts": [*parts]}, **more,
    }  # fmt: skip
    return {"id": id, "parent": parent, "children": [], "message": message}


def by_id(*nodes: dict[str, Any]) -> dict[str, Any]:
    return {node["id"]: node for node in nodes}


def claude(kind: str, content: Any, **more: Any) -> dict[str, Any]:
    message = {"role": kind, "content": content}
    return {
        "type": kind, "sessionId": UUID, "cwd": "/home/ada/pond", "timestamp": T1, "message": message, **more,
    }  # fmt: skip


def codex(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": T1, "type": kind, "payload": payload}


def copilot(kind: str, **data: Any) -> dict[str, Any]:
    return {"type": kind, "data": data, "timestamp": T1}


def letta(
    role: str, text: str = "", *, reasoning: str = "", calls: Any = None, **more: Any
) -> dict[str, Any]:
    thoughts = [{"type": "reasoning", "reasoning": reasoning, "signature": "x"}] if reasoning else []
    content = [*thoughts, {"type": "text", "text": text}]
    return {"role": role, "content": content, "tool_calls": calls, "created_at": T1, **more}


def item(role: str, text: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


PAIR: Said = [("user", "Who lives here?"), ("assistant", "A heron.")]
CALL = {"type": "function_call", "name": "count", "arguments": '{"what": "reeds"}', "call_id": "c"}
OUTPUT = {"type": "function_call_output", "call_id": "c", "output": "seven"}
CALLED: Said = [("assistant", "count\nwhat: reeds"), ("tool", "seven")]
REQUEST = {"model": "m", "instructions": "Be brief.", "input": "Who lives here?"}
RESPONSE = {
    "object": "response", "id": "resp_1", "created_at": 1777622401, "model": "m",
    "output": [{"type": "reasoning", "summary": []}, item("assistant", "A heron.")],
}  # fmt: skip

VS_CODE = {
    "requestId": "1", "timestamp": 1777622401000, "message": {"text": "Who lives here?", "parts": []},
    "response": [
        {"value": "I "}, {"kind": "markdownContent", "content": {"value": "count."}},
        {"kind": "toolInvocationSerialized", "toolId": "copilot_count", "toolCallId": "c"},
        {"value": "A "}, {"kind": "inlineReference", "inlineReference": {"path": "/pond/heron.md"}},
        {"kind": "undoStop"}, {"value": "."},
    ],
    "result": {"metadata": {
        "toolCallRounds": [{"toolCalls": [{"id": "c", "name": "count", "arguments": '{"what": "reeds"}'}]}],
        "toolCallResults": {"c": {"content": [{"value": "seven"}]}},
    }},
}  # fmt: skip
ASKED = {"role": "user", "content": "Who lives here?"}
CALLED_AFTER: Said = [("assistant", "I count.\n\ncount\nwhat: reeds"), ("tool", "seven")]

CASES = {
    "ChatGPT's export": Case(
        "conversations.json",
        [
            {
                "title": "Pond", "conversation_id": "c1", "create_time": 1777622401.0, "current_node": "d",
                "mapping": by_id(
                    {"id": "root", "message": None, "parent": None, "children": ["s"]},
                    chatgpt("s", "root", "system", ""),
                    chatgpt("a", "s", "user", "Who lives here?"),
                    chatgpt("b", "a", "assistant", "A frog."),
                    chatgpt("d", "a", "assistant", "A heron."),
                ),
            },
            {
                "title": "Tools", "conversation_id": "c2", "create_time": 1777622401.0, "current_node": "c",
                "mapping": by_id(
                    chatgpt("a", None, "assistant", "count(reeds)", recipient="python"),
                    chatgpt("b", "a", "tool", "seven"),
                    chatgpt(
                        "c", "b", "assistant",
                        content={"thoughts": [{"summary": "Hm", "content": "7."}]},
                    ),
                ),
            },
        ],
        {
            "c1": PAIR, "c1/version-b": [("assistant", "A frog.")],
            "c2": [
                ("assistant", "python\narguments: count(reeds)"), ("tool", "seven"), ("assistant", "Hm\n7."),
            ],
        },
        times=(AT1, AT1), notes=("1 line without a message (empty)",),
    ),
    "Claude.ai's export": Case(
        "conversations.json",
        [
            {
                "uuid": UUID, "name": "Pond", "chat_messages": [
                    {"uuid": "1", "sender": "human", "text": "Who lives here?", "created_at": T1},
                    {"uuid": "2", "sender": "assistant", "text": "", "created_at": T2,
                     "content": [{"type": "text", "text": "A heron."}]},
                ],
            },
            {"uuid": "empty", "name": "", "chat_messages": []},
            {
                "uuid": OTHER, "name": "Again", "current_leaf_message_uuid": "4", "chat_messages": [
                    {"uuid": "1", "parent_message_uuid": "0", "sender": "human", "text": "Read this.",
                     "content": [], "attachments": [{"extracted_content": "Reeds."}]},
                    {"uuid": "4", "parent_message_uuid": "1", "sender": "assistant", "text": "Read."},
                    {"uuid": "3", "parent_message_uuid": "1", "sender": "assistant", "text": "No."},
                ],
            },
        ],
        {
            UUID: PAIR, OTHER: [("user", "Read this.\n\nReeds."), ("assistant", "Read.")],
            f"{OTHER}/version-3": [("assistant", "No.")],
        },
        times=(AT1, AT2), notes=("1 line without a message (empty conversation)",),
    ),
    "Claude.ai's export, a voice note": Case(
        "conversations.json",
        [{"uuid": UUID, "name": "Pond", "chat_messages": [
            {"uuid": "1", "sender": "human", "text": "",
             "content": [{"type": "voice_note", "transcript": "Who lives here?"}]},
            {"uuid": "2", "sender": "assistant", "text": "A heron."},
        ]}],
        {UUID: PAIR},
    ),
    "Open WebUI's export": Case(
        "chats.json",
        [{"id": "w1", "title": "Pond", "chat": {"history": {"currentId": "2", "messages": by_id(
            {"id": "1", "parentId": None, "role": "user", "content": "Who lives here?"},
            {"id": "2", "parentId": "1", "role": "assistant", "content": "A heron."},
        )}}}],
        {"w1": PAIR},
    ),
    "LibreChat's export": Case(
        "pond.json",
        {"conversationId": "l1", "messages": [
            {"messageId": "1", "parentMessageId": "0", "text": "Who lives here?", "isCreatedByUser": True},
            {"messageId": "2", "parentMessageId": "1", "text": "A heron.", "isCreatedByUser": False},
        ]},
        {"l1": PAIR},
    ),
    "Claude Code": Case(
        f"{UUID}.jsonl",
        [
            {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}},
            {"type": "summary", "summary": "Pond", "leafUuid": "u"},
            claude("user", "Who lives here?"),
            claude("assistant", [{"type": "tool_use", "name": "count", "input": {"what": "reeds"}}]),
            claude("user", [{"type": "tool_result", "tool_use_id": "t", "content": "seven"}]),
            {"type": "system", "subtype": "compact_boundary", "sessionId": UUID, "content": "Compacted"},
            claude("user", "Earlier: reeds were counted.", isCompactSummary=True),
            claude("assistant", [{"type": "text", "text": "A heron."}]),
        ],
        {UUID: [PAIR[0], *CALLED, ("summary", "Earlier: reeds were counted."), PAIR[1]]},
        project="pond", times=(AT1,) * 5,
        notes=("3 lines without a message (file-history-snapshot, summary, system)",),
    ),
    "Claude Code, helpers among its own lines": Case(
        f"{OTHER}.jsonl",
        [
            claude("user", "Who lives here?", uuid="1", parentUuid=None),
            claude("user", "Count reeds.", uuid="2", parentUuid=None, isSidechain=True),
            claude("user", "Count frogs.", uuid="3", parentUuid=None, isSidechain=True),
            claude("assistant", "Seven.", uuid="4", parentUuid="2", isSidechain=True),
            claude("assistant", "None.", uuid="5", parentUuid="3", isSidechain=True),
            claude("assistant", "A heron.", uuid="6", parentUuid="1"),
        ],
        {
            OTHER: PAIR, f"{OTHER}/agent-2": [("user", "Count reeds."), ("assistant", "Seven.")],
            f"{OTHER}/agent-3": [("user", "Count frogs."), ("assistant", "None.")],
        },
        project="pond",
    ),
    "Claude Code, its stream": Case(
        "out.jsonl",
        [
            {"type": "system", "subtype": "init", "session_id": UUID, "cwd": "/home/ada/pond"},
            *(
                {"type": role, "session_id": UUID, "message": {"role": role, "content": text}}
                for role, text in PAIR
            ),
            {"type": "result", "session_id": UUID, "result": "A heron."},
        ],
        {UUID: PAIR}, notes=("2 lines without a message (result, system)",),
    ),
    "Claude Code on the web": Case(
        "web.json",
        {"loglines": [
            {"type": role, "timestamp": T1, "message": {"role": role, "content": text}} for role, text in PAIR
        ]},
        {"web": PAIR}, times=(AT1, AT1),
    ),
    "Codex": Case(
        "rollout-1.jsonl",
        [
            codex("session_meta", id="x1", cwd="C:\\ponds\\pond", timestamp=T1),
            codex("response_item", **item("developer", "Be brief.")),
            codex("event_msg", type="user_message", message="Who lives here?"),
            codex("response_item", **item("user", "Who lives here?")),
            codex("response_item", type="reasoning", summary=[{"type": "summary_text", "text": "Hm."}]),
            codex("response_item", **CALL),
            codex("response_item", **OUTPUT),
            codex("response_item", type="ghost_snapshot", ghost_commit={}),
            codex("compacted", message="Reeds were counted."),
            codex("response_item", **item("assistant", "A heron.")),
            codex("event_msg", type="agent_message", message="A heron."),
        ],
        {"x1": [
            ("system", "Be brief."), PAIR[0], ("assistant", "Hm."), *CALLED,
            ("summary", "Reeds were counted."), PAIR[1],
        ]},
        project="pond", times=(AT1,) * 7,
        notes=("4 lines without a message (event_msg, ghost_snapshot, session_meta)",),
    ),
    "a helper of Codex": Case(
        "rollout-2.jsonl",
        [
            codex(
                "session_meta", id="x2",
                source={"subagent": {"thread_spawn": {"parent_thread_id": "x1", "depth": 1}}},
            ),
            codex("response_item", **item("user", "Who lives here?")),
        ],
        {"x1/x2": PAIR[:1]}, notes=("1 line without a message (session_meta)",),
    ),
    "Codex, earlier lines": Case(
        "rollout-3.jsonl",
        [
            {"id": "x3", "timestamp": T1, "instructions": None},
            {"record_type": "state"}, item("user", "Who lives here?"), CALL, OUTPUT,
            item("assistant", "A heron."),
        ],
        {"x3": [PAIR[0], *CALLED, PAIR[1]]}, notes=("2 lines without a message (without a type)",),
    ),
    "Codex, earlier JSON": Case(
        "rollout-4.json",
        {
            "session": {"id": "x4", "timestamp": T1},
            "items": [item("user", "Who lives here?"), item("assistant", "A heron.")],
        },
        {"x4": PAIR}, times=(AT1, AT1),
    ),
    "Gemini's API": Case(
        "request.json",
        {
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "contents": [{"parts": [{"text": "Who lives here?"}]}],
            "candidates": [{"content": {"role": "model", "parts": [{"text": "A heron."}]}}],
        },
        {"request": [("system", "Be brief."), *PAIR]},
    ),
    "Gemini's batches": Case(
        "batch.jsonl",
        [{
            "key": "k1", "request": {"contents": [{"parts": [{"text": "Who lives here?"}]}]},
            "response": {"candidates": [{"content": {"role": "model", "parts": [{"text": "A heron."}]}}]},
        }],
        {"k1": PAIR},
    ),
    "a saved chat of Gemini": Case(
        "checkpoint.json",
        {"authType": "key", "history": [
            {"role": "user", "parts": [{"text": "Who lives here?"}]},
            {"role": "model", "parts": [{"text": "A heron."}]},
        ]},
        {"checkpoint": PAIR},
    ),
    "LangChain": Case(
        "chain.json",
        {"messages": [
            {"type": "human", "data": {"content": "Who lives here?"}},
            {"type": "ai", "data": {"content": "A heron."}},
        ]},
        {"chain": PAIR},
    ),
    "Google AI Studio": Case(
        "prompt.json",
        {
            "systemInstruction": {}, "chunkedPrompt": {"chunks": [
                {"role": "user", "text": "Who lives here?"},
                {"role": "model", "text": "Hm.", "isThought": True}, {"role": "model", "text": "A heron."},
            ]},
        },
        {"prompt": [PAIR[0], ("assistant", "Hm."), PAIR[1]]},
    ),
    "Gemini CLI": Case(
        "session-1.json",
        {
            "sessionId": "g1", "projectHash": "h", "messages": [
                {"id": "1", "type": "user", "content": [{"text": "Who lives here?"}], "timestamp": T1},
                {"id": "2", "type": "info", "content": "Switched the model", "timestamp": T1},
                {
                    "id": "3", "type": "gemini", "content": "A heron.", "timestamp": T2,
                    "thoughts": [{"subject": "Count", "description": "Reeds first."}],
                    "toolCalls": [{
                        "id": "c", "name": "count", "args": {"what": "reeds"},
                        "result": [{"functionResponse": {"id": "c", "response": {"output": "seven"}}}],
                    }],
                },
            ],
        },
        {"g1": [
            PAIR[0], ("assistant", "Count\nReeds first.\n\nA heron.\n\ncount\nwhat: reeds"),
            ("tool", "output: seven"),
        ]},
        times=(AT1, AT2, AT2), notes=("1 line without a message (info)",),
    ),
    "Gemini CLI, lines": Case(
        "session-2.jsonl",
        [
            {"sessionId": "g2", "projectHash": "h", "startTime": T1},
            {"id": "1", "type": "user", "content": "Who lives there?", "timestamp": T1},
            {"$rewindTo": "1"},
            {"id": "2", "type": "user", "content": "Who lives here?", "timestamp": T1},
            {"id": "3", "type": "gemini", "content": "A", "timestamp": T2},
            {"$set": {"lastUpdated": T2}},
            {"id": "3", "type": "gemini", "content": "A heron.", "timestamp": T2},
        ],
        {"g2": PAIR}, times=(AT1, AT2),
    ),
    "ShareGPT": Case(
        "share.json",
        [
            {"id": "s1", "system": "Be brief.", "conversations": [
                {"from": "human", "value": "Who lives here?"},
                {"from": "function_call", "value": '{"name": "count", "arguments": {"what": "reeds"}}'},
                {"from": "observation", "value": "seven"}, {"from": "gpt", "value": "A heron."},
            ]},
            {"conversations": [{"from": "human", "value": "Thanks."}]},
        ],
        {
            "s1": [
                ("system", "Be brief."), PAIR[0], *CALLED, PAIR[1],
            ],
            "share-2": [("user", "Thanks.")],
        },
    ),
    "OpenAI's Responses": Case(
        "response.json", {**RESPONSE, **REQUEST},
        {"resp_1": [("system", "Be brief."), PAIR[0], ("assistant", None), PAIR[1]]}, times=(AT1,) * 4,
    ),
    "a request of OpenAI's Responses": Case(
        "request.json",
        {"model": "m", "instructions": [item("developer", "Be brief.")],
         "input": [item("user", "Who lives here?"), CALL, OUTPUT]},
        {"request": [("system", "Be brief."), PAIR[0], *CALLED]},
    ),
    "requests with responses": Case(
        "log.jsonl", [{"request": REQUEST, "response": RESPONSE}],
        {"resp_1": [("system", "Be brief."), PAIR[0], ("assistant", None), PAIR[1]]},
    ),
    "OpenAI's chat completions": Case(
        "done.jsonl",
        [{"id": "chat_1", "created": 1777622401, "choices": [
            {"message": {"role": "assistant", "content": "A heron."}},
        ]}],
        {"chat_1": PAIR[1:]}, times=(AT1,),
    ),
    "OpenAI's batches": Case(
        "batch.jsonl",
        [{"custom_id": "b1", "body": {"messages": [{"role": "user", "content": "Who lives here?"}]}}],
        {"b1": PAIR[:1]},
    ),
    "Anthropic's batches": Case(
        "batch.jsonl",
        [{"custom_id": "b2", "result": {"message": {"role": "assistant", "content": "A heron."}}}],
        {"b2": PAIR[1:]},
    ),
    "Continue": Case(
        "1.json",
        {"sessionId": "k1", "workspaceDirectory": "file:///home/ada/pond", "history": [
            {"message": {"role": "user", "content": "Who lives here?"}, "contextItems": []},
            {"message": {"role": "assistant", "content": "A heron."}},
        ]},
        {"k1": PAIR}, project="pond",
    ),
    "Claude Code, words typed while it worked, and messages without a role": Case(
        f"{UUID}.jsonl",
        [
            {"type": "user", "cwd": "/home/ada/pond", "message": {"content": "Who lives here?"}},
            {"type": "attachment", "attachment": {"type": "queued_command", "prompt": "Quickly!"}},
            {"type": "attachment", "attachment": {"type": "todo"}},
            {"type": "assistant", "message": {"content": [{"type": "text", "text": "A heron."}]}},
        ],
        {UUID: [PAIR[0], ("user", "Quickly!"), PAIR[1]]}, project="pond",
        notes=("1 line without a message (attachment)",),
    ),
    "Codex, a result of another kind": Case(
        "rollout-5.jsonl",
        [
            codex("session_meta", id="x5"),
            codex("response_item", type="tool_search_output", tools=[{"name": "count"}]),
        ],
        {"x5": [("tool", "name: count")]}, notes=("1 line without a message (session_meta)",),
    ),
    "Pi": Case(
        "1.jsonl",
        [
            {"type": "session", "version": 3, "id": "p1", "cwd": "/home/ada/pond", "timestamp": T1},
            {"type": "message", "timestamp": T1, "message": {"role": "user", "content": "Who lives here?"}},
            {"type": "message", "timestamp": T1, "message": {"role": "assistant", "content": [
                {"type": "toolCall", "id": "c", "name": "count", "arguments": {"what": "reeds"}},
            ]}},
            {"type": "message", "timestamp": T1, "message": {"role": "toolResult", "content": "seven"}},
            {"type": "model_change", "modelId": "m"},
            {"type": "compaction", "summary": "Reeds were counted."},
            {"type": "message", "timestamp": T1, "message": {
                "role": "bashExecution", "command": "ls", "output": "heron.md"}},
            {"type": "message", "timestamp": T2, "message": {"role": "assistant", "content": "A heron."}},
        ],
        {"p1": [PAIR[0], *CALLED, ("summary", "Reeds were counted."), ("user", "bash\narguments: ls"),
                ("tool", "heron.md"), PAIR[1]]}, project="pond",
        notes=("2 lines without a message (model_change, session)",),
    ),
    "VS Code's Copilot Chat": Case(
        "chat.json",
        {"version": 3, "sessionId": "v1", "customTitle": "Pond", "requests": [VS_CODE]},
        {"v1": [PAIR[0], *CALLED_AFTER, ("assistant", "A `heron.md`.")]}, times=(AT1,) * 4,
    ),
    "VS Code's Copilot Chat, lines": Case(
        "v2.jsonl",
        [
            {"kind": 0, "v": {"version": 3, "sessionId": "v2", "requests": []}},
            {"kind": 1, "k": ["customTitle"], "v": "Pond"},
            {"kind": 2, "k": ["requests"], "v": [{**VS_CODE, "response": VS_CODE["response"][:1]}]},
            {"kind": 2, "k": ["requests", 0, "response"], "v": [{"value": "No."}]},
            {"kind": 2, "k": ["requests", 0, "response"], "i": 1, "v": VS_CODE["response"][1:]},
        ],
        {"v2": [PAIR[0], *CALLED_AFTER, ("assistant", "A `heron.md`.")]}, times=(AT1,) * 4,
    ),
    "Copilot CLI": Case(
        "c1.jsonl",
        [
            copilot("session.start", sessionId="c1", context={"cwd": "/home/ada/pond"}),
            copilot("system.message", role="system", content="Be brief."),
            copilot("hook.start", hookType="userPromptSubmitted", input={"prompt": "Who lives here?"}),
            copilot("user.message", content="Who lives here?", transformedContent="<now> Who lives here?"),
            copilot(
                "assistant.message", content="", reasoningText="Count first.",
                toolRequests=[{"toolCallId": "c", "name": "count", "arguments": {"what": "reeds"}}],
            ),
            copilot("tool.execution_complete", toolCallId="c", success=True, result={"content": "seven"}),
            copilot("assistant.message", content="A heron.", toolRequests=[]),
        ],
        {"c1": [
            ("system", "Be brief."), PAIR[0], ("assistant", "Count first.\n\ncount\nwhat: reeds"), CALLED[1],
            PAIR[1],
        ]},
        project="pond", times=(AT1,) * 5, notes=("2 lines without a message (hook.start, session.start)",),
    ),
    "codex exec --json": Case(
        "out.jsonl",
        [
            {"type": "thread.started", "thread_id": "t1"}, {"type": "turn.started"},
            {"type": "item.completed", "item": {"id": "1", "type": "reasoning", "text": "Count first."}},
            {"type": "item.started", "item": {"id": "2", "type": "command_execution", "command": "wc reeds"}},
            {"type": "item.completed", "item": {
                "id": "2", "type": "command_execution", "command": "wc reeds", "aggregated_output": "seven",
            }},
            {"type": "item.completed", "item": {"id": "3", "type": "agent_message", "text": "A heron."}},
            {"type": "turn.completed", "usage": {}},
        ],
        {"t1": [
            ("assistant", "Count first."), ("assistant", "command_execution\ncommand: wc reeds"), CALLED[1],
            PAIR[1],
        ]},
        notes=("4 lines without a message (item.started, thread.started, turn.completed, turn.started)",),
    ),
    "OpenCode": Case(
        "session.json",
        {"info": {"id": "o1", "title": "Pond", "directory": "/home/ada/pond"}, "messages": [
            {"info": {"role": "user", "time": {"created": 1777622401000}},
             "parts": [{"type": "text", "text": "Who lives here?"}]},
            {"info": {"role": "assistant", "time": {"created": 1777622402000}}, "parts": [
                {"type": "step-start"},
                {"type": "tool", "callID": "c", "tool": "count",
                 "state": {"input": {"what": "reeds"}, "output": "seven"}},
                {"type": "text", "text": "A heron."},
            ]},
        ]},
        {"o1": [PAIR[0], *CALLED, PAIR[1]]}, project="pond", times=(AT1, AT2, AT2, AT2),
    ),
    "DeepSeek": Case(
        "conversations.json",
        [{"id": "d1", "title": "Pond", "inserted_at": T1, "mapping": {
            "root": {"id": "root", "parent": None, "message": None},
            "1": {"id": "1", "parent": "root", "message": {
                "inserted_at": T1, "fragments": [{"type": "REQUEST", "content": "Who lives here?"}]}},
            "2": {"id": "2", "parent": "1", "message": {"inserted_at": T2, "fragments": [
                {"type": "THINK", "content": "Reeds."}, {"type": "RESPONSE", "content": "A heron."}]}},
        }}],
        {"d1": [PAIR[0], ("assistant", "Reeds.\n\nA heron.")]}, times=(AT1, AT2),
    ),
    "Grok's export": Case(
        "prod-grok-backend.json",
        {"conversations": [{"conversation": {"id": "g1", "title": "Pond"}, "responses": [
            {"response": {"_id": "1", "sender": "human", "message": "Who lives here?",
                          "create_time": {"$date": {"$numberLong": "1777622401000"}}}},
            {"response": {"_id": "2", "parent_response_id": "1", "sender": "ASSISTANT", "message": "A heron.",
                          "create_time": {"$date": {"$numberLong": "1777622402000"}}}},
        ]}], "projects": []},
        {"g1": PAIR}, times=(AT1, AT2),
    ),
    "Google Takeout": Case(
        "MyActivity.json",
        [{"header": "Gemini Apps", "title": f"Prompted {asked}", "time": when,
          "safeHtmlItem": [{"html": f"<p>{said}</p>"}]}
         for asked, said, when in (("And here?", "A frog &amp; reeds.", T2), (PAIR[0][1], PAIR[1][1], T1))],
        {"MyActivity": [*PAIR, ("user", "And here?"), ("assistant", "A frog & reeds.")]},
        times=(AT1, AT1, AT2, AT2),
    ),
    "LM Studio": Case(
        "1.conversation.json",
        {"name": "Pond", "createdAt": 1777622401000, "messages": [
            {"currentlySelected": 1, "versions": [
                {"role": "user", "content": [{"type": "text", "text": "Who?"}]},
                {"role": "user", "content": [{"type": "text", "text": "Who lives here?"}]}]},
            {"currentlySelected": 0, "versions": [{"role": "assistant", "steps": [
                {"type": "contentBlock", "content": [{"type": "text", "text": "A heron."}]}]}]},
        ]},
        {"1.conversation": PAIR}, times=(AT1, AT1),
    ),
    "rows of several conversations": Case(
        "rows.jsonl",
        [{"session_id": "x", "role": "User", "content": "Who lives here?", "created_at": T1},
         {"session_id": "y", "role": "user", "content": "Who lives here?"},
         {"session_id": "x", "role": "assistant", "content": "A heron.", "created_at": T2}],
        {"x": PAIR, "y": PAIR[:1]}, times=(AT1, AT2),
    ),
    "LibreChat's messages": Case(
        "messages.json",
        [{"conversationId": "x", "text": "Who lives here?", "isCreatedByUser": True, "sender": "User",
          "createdAt": {"$date": T1}},
         {"conversationId": "y", "text": "Who lives here?", "isCreatedByUser": True, "sender": "User"},
         {"conversationId": "x", "text": "A heron.", "isCreatedByUser": False, "sender": "GPT-4",
          "createdAt": {"$date": T2}}],
        {"x": PAIR, "y": PAIR[:1]}, times=(AT1, AT2),
    ),
    "conversations by their ids": Case(
        "chats.json",
        {"list": [{"id": "x", "name": "Pond"}], "session:x": {"id": "x", "name": "Pond", "messages": [
            {"role": "user", "contentParts": [{"type": "text", "text": "Who lives here?"}]},
            {"role": "assistant", "contentParts": [{"type": "text", "text": "A heron."}]}]},
         "y": [{"role": "user", "content": "Who lives here?"}]},
        {"x": PAIR, "y": PAIR[:1]},
    ),
    "text-generation-webui": Case(
        "Otto.json",
        {"internal": [["<|BEGIN-VISIBLE-CHAT|>", "Hello."], ["Who lives here?", "A heron."]],
         "visible": [["", "Hello."], ["Who lives here?", "A heron."]]},
        {"Otto": [("assistant", "Hello."), *PAIR]},
    ),
    "Letta Code": Case(
        "log.jsonl",
        [{"kind": "user", "text": "Who lives here?", "captured_at": T1},
         {"kind": "status", "text": "working", "captured_at": T1},
         {"kind": "reasoning", "text": "Count them.", "captured_at": T1},
         {"kind": "tool_call", "name": "count", "argsText": '{"what": "reeds"}', "resultText": "seven",
          "captured_at": T1},
         {"kind": "assistant", "text": "A heron.", "captured_at": T2}],
        {"log": [PAIR[0], ("assistant", "Count them."), *CALLED, PAIR[1]]},
        times=(AT1, AT1, AT1, AT1, AT2), notes=("1 line without a message (status)",),
    ),
    "Posit Assistant": Case(
        "lm-messages.jsonl",
        [{"id": 0, "message": {"role": "user", "content": "Who lives here?"}},
         {"id": 1, "message": {"role": "assistant", "content": [
             {"type": "reasoning", "text": "Count them."},
             {"type": "tool-call", "toolCallId": "c", "toolName": "count", "input": {"what": "reeds"}}]}},
         {"id": 2, "message": {"role": "tool", "content": [
             {"type": "tool-result", "toolCallId": "c", "toolName": "count",
              "output": {"type": "text", "value": "seven"}}]}},
         {"id": 3, "message": {"role": "assistant", "content": [{"type": "text", "text": "A heron."}]}}],
        {"pond": [PAIR[0], ("assistant", "Count them.\n\ncount\nwhat: reeds"), ("tool", "seven"),
                  PAIR[1]]},
    ),
    "Posit Assistant, its list": Case(
        "conversation.json",
        {"root": {"id": "p1"}, "messages": [{"id": "a", "parentId": "p1", "lmMessageIds": [0, 1]}]},
        {},
        notes=("conversation.json holds a list of Posit Assistant alone, which are not read: "
               "lm-messages.jsonl has them",),
    ),
    "Hermes's rows": Case(
        "rows.json",
        [{"session_id": "h1", "role": "user", "timestamp": T1,
          "content": '\0json:[{"type": "text", "text": "Who lives here?"}]'},
         {"session_id": "h1", "role": "assistant", "content": "", "reasoning": "Count them.", "timestamp": T1,
          "tool_calls": '[{"name": "count", "arguments": "{\\"what\\": \\"reeds\\"}"}]'},
         {"session_id": "h1", "role": "tool", "content": "seven", "timestamp": T1},
         {"session_id": "h1", "role": "assistant", "content": "A heron.", "timestamp": T2}],
        {"h1": [PAIR[0], ("assistant", "Count them.\n\ncount\nwhat: reeds"), ("tool", "seven"), PAIR[1]]},
        times=(AT1, AT1, AT1, AT2),
    ),
    "SillyTavern": Case(
        "Otto.jsonl",
        [{"user_name": "Ada", "character_name": "Otto"},
         {"name": "Ada", "is_user": True, "mes": "Who lives here?", "send_date": "May 1, 2026 8:00am"},
         {"name": "Otto", "is_user": False, "mes": "A heron.", "send_date": "May 1, 2026 8:01am"}],
        {"Otto": PAIR}, times=("2026-05-01T08:00:00.000+00:00", "2026-05-01T08:01:00.000+00:00"),
        notes=("1 line without a message (without a type)",),
    ),
    "AI SDK": Case(
        "chat.json",
        {"id": "a1", "messages": [
            {"id": "1", "role": "user", "parts": [{"type": "text", "text": "Who lives here?"}]},
            {"id": "2", "role": "assistant", "parts": [
                {"type": "tool-count", "toolCallId": "c", "state": "output-available",
                 "input": {"what": "reeds"}, "output": "seven"},
                {"type": "text", "text": "A heron."}]},
        ]},
        {"a1": [PAIR[0], ("assistant", "tool-count\nwhat: reeds"), ("tool", "seven"), PAIR[1]]},
    ),
    "LangGraph": Case(
        "state.json",
        {"values": {"messages": [
            {"type": "human", "content": "Who lives here?"}, {"type": "ai", "content": "A heron."}]},
         "config": {"configurable": {"thread_id": "l1"}}, "created_at": T1},
        {"l1": PAIR}, times=(AT1, AT1),
    ),
    "LangChain's messages": Case(
        "kept.json",
        [{"type": "human", "data": {"content": "Who lives here?", "type": "human"}},
         {"type": "ai", "data": {"content": "A heron.", "type": "ai"}}],
        {"kept": PAIR},
    ),
    "LangChain's dumps": Case(
        "dumped.json",
        [{"lc": 1, "type": "constructor", "kwargs": {"type": "human", "content": "Who lives here?"}},
         {"lc": 1, "type": "constructor", "kwargs": {"type": "ai", "content": "A heron."}}],
        {"dumped": PAIR},
    ),
    "Zed": Case(
        "thread.json",
        {"summary": "Pond", "updated_at": T1, "messages": [
            {"role": "user", "segments": [{"type": "text", "text": "Who lives here?"}], "tool_uses": []},
            {"role": "assistant", "segments": [{"type": "text", "text": "A heron."}], "tool_uses": []}]},
        {"thread": PAIR}, times=(AT1, AT1),
    ),
    "Le Chat": Case(
        "chat.json",
        [{"role": "user", "content": "Who lives here?", "createdAt": T1},
         {"role": "assistant", "content": "", "contentChunks": [{"type": "text", "text": "A heron."}],
          "createdAt": T2}],
        {"chat": PAIR}, times=(AT1, AT2),
    ),
    "AnythingLLM": Case(
        "export.json",
        [{"workspace": "pond", "prompt": "Who lives here?", "response": "A heron.", "sent_at": T1}],
        {"export": PAIR}, times=(AT1, AT1),
    ),
    "Cursor": Case(
        "composer.json",
        {"composerId": "k1", "name": "Pond", "createdAt": 1777622401000, "conversation": [
            {"bubbleId": "1", "type": 1, "text": "Who lives here?"},
            {"bubbleId": "2", "type": 2, "text": "", "toolFormerData": {
                "name": "count", "toolCallId": "c", "rawArgs": '{"what": "reeds"}', "result": "seven",
            }},
            {"bubbleId": "3", "type": 2, "text": ""},
            {"bubbleId": "4", "type": 2, "text": "A heron."},
        ]},
        {"k1": [PAIR[0], *CALLED, PAIR[1]]}, times=(AT1,) * 4, notes=("1 line without a message (empty)",),
    ),
    "Cursor, lines": Case(
        "agent.jsonl",
        [{"role": role, "message": {"content": [{"type": "text", "text": text}]}} for role, text in PAIR],
        {"agent": PAIR},
    ),
    "Droid": Case(
        "d1.jsonl",
        [
            {"type": "session_start", "id": "d1", "title": "Pond", "cwd": "/home/ada/pond"},
            *({"type": "message", "message": {"role": role, "content": text}} for role, text in PAIR),
        ],
        {"d1": PAIR}, project="pond", notes=("1 line without a message (session_start)",),
    ),
    "OpenHands": Case(
        "events.json",
        {"items": [
            {"kind": "MessageEvent", "source": "user", "timestamp": T1,
             "llm_message": {"role": "user", "content": [{"type": "text", "text": "Who lives here?"}]}},
            {"kind": "ActionEvent", "source": "agent", "timestamp": T1, "tool_name": "count",
             "tool_call": {"arguments": '{"what": "reeds"}'}, "thought": []},
            {"kind": "ObservationEvent", "source": "environment", "timestamp": T1,
             "tool_name": "count", "observation": {"content": [{"type": "text", "text": "seven"}]}},
            {"kind": "StateEvent", "timestamp": T1},
            {"kind": "MessageEvent", "source": "agent", "timestamp": T2,
             "llm_message": {"content": [{"type": "text", "text": "A heron."}]}},
        ]},
        {FOLDER: [PAIR[0], *CALLED, PAIR[1]]}, times=(AT1, AT1, AT1, AT2),
        notes=("1 line without a message (StateEvent)",),
    ),
    "trajectories": Case(
        "run.json",
        {"schema_version": "ATIF-v1.7", "session_id": "a1", "agent": {"name": "a"}, "steps": [
            {"source": "user", "message": "Who lives here?", "timestamp": T1},
            {"source": "agent", "message": "", "timestamp": T1,
             "tool_calls": [{"tool_call_id": "c", "function_name": "count", "arguments": {"what": "reeds"}}],
             "observation": {"results": [{"source_call_id": "c", "content": "seven"}]}},
            {"source": "agent", "message": "A heron.", "timestamp": T2},
        ], "subagent_trajectories": [
            {"trajectory_id": "t2", "steps": [{"source": "user", "message": "Count the reeds."}]},
            {"session_id": "a3", "steps": [{"source": "user", "message": "Count the frogs."}]},
        ]},
        {"a1": [PAIR[0], *CALLED, PAIR[1]], "a1/agent-1": [("user", "Count the reeds.")],
         "a1/a3": [("user", "Count the frogs.")]}, times=(AT1, AT1, AT1, AT2),
    ),
    "Grok CLI": Case(
        "chat_history.jsonl",
        [
            {"type": "system", "content": "Be brief."}, {"type": "user", "content": "Who lives here?"},
            {"type": "assistant", "content": "", "tool_calls": [{"function": CALL}]},
            {"type": "tool_result", "content": "seven"}, {"type": "assistant", "content": "A heron."},
        ],
        {FOLDER: [("system", "Be brief."), PAIR[0], *CALLED, PAIR[1]]},
    ),
    "Letta's agent files": Case(
        "pond.af",
        json.dumps(json.dumps({  # the file holds its JSON as a text
            "agents": [
                {"id": "agent-0", "name": "Ada's", "in_context_message_ids": ["message-0"], "messages": [
                    letta("user", '{"type": "user_message", "message": "Who lives here?"}'),
                    letta("assistant", reasoning="Seven reeds?", calls=[{"function": CALL}]),
                    letta("tool", "seven", created_at=T2),
                    letta("assistant", "She asks.", calls=[{"function": {
                        "name": "send_message", "arguments": '{"message": "A heron."}'}}]),
                    letta("user", '{"type": "system_alert", "message": "summary of the previous messages"}'),
                    letta("user", '{"type": "login"}'),
                ]},
                {"id": "agent-1", "name": "Silent", "in_context_message_ids": [], "messages": []},
            ],
            "blocks": [{"id": "block-0", "label": "human", "value": "Ada"}],
        })),
        {"Ada's": [
            PAIR[0], ("assistant", "Seven reeds?\n\ncount\nwhat: reeds"), ("tool", "seven"),
            ("assistant", "She asks.\n\nA heron."),
            ("summary", "summary of the previous messages"), ("system", '{"type": "login"}'),
        ]},
        times=(AT1, AT1, AT2, AT1, AT1, AT1), notes=("1 line without a message (empty conversation)",),
    ),
    "Letta's agent files, earlier": Case(
        "ada.af",
        {"agent_type": "memgpt_agent", "name": "Ada's", "core_memory": [{"label": "human", "value": "Ada"}],
         "messages": [letta("user", "Who lives here?"), letta("assistant", "A heron.")]},
        {"Ada's": PAIR}, times=(AT1, AT1),
    ),
    "LangSmith": Case(
        "runs.jsonl",
        [{"id": "r1", "start_time": T1, "inputs": {"messages": [ASKED]},
          "outputs": {"message": {"role": "assistant", "content": "A heron."}}}],
        {"r1": PAIR}, times=(AT1, AT1),
    ),
    "Langfuse": Case(
        "traces.json",
        [{"id": "f1", "name": "Pond", "timestamp": T1, "input": [ASKED],
          "output": {"role": "assistant", "content": "A heron."}}],
        {"f1": PAIR}, times=(AT1, AT1),
    ),
    "Aider": Case(
        ".aider.chat.history.md",
        "\n# aider chat started at 2026-05-01 08:00:01\n\n> Aider v0.86.1  \n\n"
        "#### Who lives here?  \n#### Be brief.  \n\n> A heron, says a poem.\n\n"
        "#### A heading of the answer\nA heron.\n\n> Tokens: 2 sent  \n\n"
        "# aider chat started at 2026-05-01 08:00:02\n\n#### Thanks.  \n",
        {
            f"{FOLDER} 2026-05-01 08:00:01": [
                ("user", "Who lives here?\nBe brief."),
                ("assistant", "> A heron, says a poem.\n\n#### A heading of the answer\nA heron."),
            ],
            f"{FOLDER} 2026-05-01 08:00:02": [("user", "Thanks.")],
        },
        times=(AT1, AT1),
    ),
    "SpecStory": Case(
        "2026-05-01_08-00-01Z.md",
        """<!-- Generated by SpecStory, Markdown v2.1.0 -->
# Pond
<!-- Claude Code Session 0a0a0a0a-1111-4222-8333-444444444444 (2026-05-01 08:00:01Z) -->

_**User (2026-05-01 08:00:01Z)**_

Who lives here?

---

_**Agent (claude-opus-4-8 2026-05-01 08:00:02Z)**_

<think><details><summary>Thought Process</summary>
Count them.
</details></think>

_**Agent (claude-opus-4-8 2026-05-01 08:00:02Z)**_

A heron.

---
""",
        {UUID: [PAIR[0], ("assistant", "Count them."), PAIR[1]]}, times=(AT1, AT2, AT2),
    ),
    "Cursor's Markdown": Case(
        "pond.md",
        "# Pond\n_Exported on 5/1/2026 from Cursor (2.1)_\n\n---\n\n**User**\n\nWho lives here?\n\n---\n\n"
        "**Cursor**\n\n```\n**User**\n```\n\n---\n",
        {"pond": [PAIR[0], ("assistant", "```\n**User**\n```")]},
    ),
    "lines of several shapes": Case(
        "all.jsonl",
        [
            {"messages": [{"role": "user", "content": "Who lives here?"}]},
            {"conversations": [{"role": "assistant", "content": "A heron."}]},
            {"items": [{"from": "gpt", "value": "A heron."}]},
            {"input": [{"role": "user", "content": "Who lives here?"}]},
        ],
        {"all-1": PAIR[:1], "all-2": PAIR[1:], "all-3": PAIR[1:], "all-4": PAIR[:1]},
    ),
    "OpenAI's lists of items": Case(
        "items.json",
        {"object": "list", "data": [
            item("user", "Who lives here?"),
            {"role": "assistant", "content": [{"type": "text", "text": {"value": "A heron."}}]},
            {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
        ]},
        {"items": [*PAIR, ("assistant", "No.")]},
    ),
    "prompts of Codex": Case(
        "history.jsonl", [{"session_id": "x1", "ts": 1777622401, "text": "Who lives here?"}], {},
        notes=(
            "history.jsonl holds prompts of Codex alone, which are not read: its sessions have them",
        ),
    ),
}  # fmt: skip


def test_a_session_that_begins_with_many_other_lines_has_the_id_of_its_file(
    memory: Memory, tmp_path: Path
) -> None:
    snapshot = {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}}
    lines(tmp_path / f"{OTHER}.jsonl", [*[snapshot] * 150, claude("user", "Who lives here?")])
    report = memory.transcripts.import_sessions([tmp_path])
    assert (report.sessions, report.messages, report.refused) == ([OTHER], 1, [])
    assert report.notes == ["150 lines without a message (file-history-snapshot)"]


@pytest.mark.parametrize(
    ("name", "titles"),
    [
        ("ChatGPT's export", {"c1": "Pond", "c2": "Tools"}),
        ("Claude.ai's export", {UUID: "Pond", OTHER: "Again"}),
        ("Claude Code", {UUID: "Pond"}),
        ("Codex", {}),
    ],
)
def test_a_conversation_keeps_its_title(
    name: str, titles: dict[str, str], memory: Memory, tmp_path: Path
) -> None:
    path = written(CASES[name], tmp_path)
    for _ in range(2):
        memory.transcripts.import_sessions([path])
        known = {one["session_id"]: one["title"] for one in memory.transcripts.sessions() if one["title"]}
        assert known == titles


def test_an_export_comes_in_from_the_archive_that_was_downloaded(memory: Memory, tmp_path: Path) -> None:
    case = CASES["Claude.ai's export"]
    with ZipFile(tmp_path / "data-2026-05-01.zip", "w") as archive:
        archive.writestr("../conversations.json", json.dumps(case.given))
        archive.writestr("users.json", '[{"uuid": "1", "full_name": "Ada"}]')
    for given in (tmp_path, tmp_path / "data-2026-05-01.zip"):
        assert memory.transcripts.import_sessions([given]).refused == []
        assert stored(memory) == case.stored
    with ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("picture.png", b"")
    (refusal,) = memory.transcripts.import_sessions([tmp_path / "other.zip"]).refused
    assert refusal.reason == "no conversation of a known program is in it"


def test_a_damaged_file_of_an_archive_costs_itself_alone(memory: Memory, tmp_path: Path) -> None:
    given = {f"{name}.json": json.dumps([{"role": "user", "content": name * 99}]) for name in "abc"}
    with ZipFile(tmp_path / "chats.zip", "w") as archive:
        for name, text in given.items():
            archive.writestr(name, text)
    content = (tmp_path / "chats.zip").read_bytes().replace(b"b" * 99, b"x" * 99)  # its sum is another now
    (tmp_path / "chats.zip").write_bytes(content)
    report = memory.transcripts.import_sessions([tmp_path / "chats.zip"])
    assert report.sessions == ["a", "c"]
    assert [one.item for one in report.refused] == ["chats.zip/b.json"]


ASKED = [{"role": "user", "content": "Where's the fée?"}, {"role": "assistant", "content": "By the pond."}]
TEXT = json.dumps(ASKED, ensure_ascii=False)
LINES = "\n".join(json.dumps(one, ensure_ascii=False) for one in ASKED)


def zipped(name: str, content: bytes) -> bytes:
    file = BytesIO()
    with ZipFile(file, "w") as archive:
        archive.writestr(name, content)
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("chat", TEXT.encode()),
        ("chat.txt", LINES.encode()),
        ("chat.ndjson", LINES.encode()),
        ("chat.JSON", TEXT.encode()),
        ("chat.json", TEXT.encode("utf-16")),
        ("chat.jsonl", LINES.encode("utf-16")),
        ("chat.jsonl", LINES.encode("cp1252")),
        ("chat.jsonl", json.dumps({"messages": ASKED}, indent=1).encode()),
        ("chat.json", "\n".join(json.dumps(one, indent=1) for one in ASKED).encode()),
        ("chat.json", json.dumps({"data": {"export": {"chats": [{"messages": ASKED}]}}}).encode()),
        (
            "chat.json",
            json.dumps(
                {"messages": [{"author": one["role"], "text": one["content"]} for one in ASKED]}
            ).encode(),
        ),
        (
            "chat.json",
            json.dumps([{"speaker": one["role"], "message": one["content"]} for one in ASKED]).encode(),
        ),
        ("chat.json", json.dumps([{"request": {"messages": ASKED[:1]}, "response": ASKED[1]}]).encode()),
        ("chat", zipped("chat.json", json.dumps({"messages": ASKED}).encode())),
        ("chat.zip", zipped("inner.zip", zipped("chat.json", json.dumps({"messages": ASKED}).encode()))),
    ],
)
def test_a_conversation_comes_in_whatever_its_file_is_called_and_written_in(
    memory: Memory, tmp_path: Path, name: str, content: bytes
) -> None:
    (tmp_path / name).write_bytes(content)
    assert memory.transcripts.import_sessions([tmp_path / name]).refused == []
    assert [*stored(memory).values()] == [[("user", "Where's the fée?"), ("assistant", "By the pond.")]]


@pytest.mark.parametrize("content", ['"a text"', '"{}"', '{"theme": "dark"}'])
def test_json_without_messages_is_refused_by_name(memory: Memory, tmp_path: Path, content: str) -> None:
    (tmp_path / "notes.json").write_text(content)
    [refused] = memory.transcripts.import_sessions([tmp_path / "notes.json"]).refused
    assert (refused.item, refused.reason) == (
        str(tmp_path / "notes.json"), "it holds no list of messages",
    )  # fmt: skip


def written(case: Case, folder: Path) -> Path:
    (folder / FOLDER).mkdir()
    path = folder / FOLDER / case.file
    if isinstance(case.given, str):
        path.write_text(case.given)
        return path
    if path.suffix == ".jsonl":
        lines(path, case.given)
    else:
        path.write_text(json.dumps(case.given))
    return path


def stored(memory: Memory) -> dict[str, Said]:
    return {
        one["session_id"]: [
            (row["role"], row["text_content"]) for row in memory.transcripts.messages(one["session_id"])
        ]
        for one in memory.transcripts.sessions()
    }


@pytest.mark.parametrize("name", CASES)
def test_every_message_comes_in_with_its_role_and_time_and_only_once(
    memory: Memory, tmp_path: Path, name: str
) -> None:
    case = CASES[name]
    path = written(case, tmp_path)
    report = memory.transcripts.import_sessions([path])
    assert (report.refused, report.notes) == ([], [*case.notes])
    assert stored(memory) == case.stored
    if case.times:
        found = memory.transcripts.messages(next(iter(case.stored)))
        assert tuple(row["ts"] for row in found) == case.times
    assert {one["project_slug"] for one in memory.transcripts.sessions()} <= {case.project}
    again = memory.transcripts.import_sessions([path])
    assert (again.messages, again.changed, again.refused, stored(memory)) == (0, 0, [], case.stored)
    assert again.present == sum(map(len, case.stored.values()))


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.stored])
def test_a_file_is_found_in_its_folder_beside_others(memory: Memory, tmp_path: Path, name: str) -> None:
    (tmp_path / "settings.json").write_text('{"theme": "dark"}')
    written(CASES[name], tmp_path)
    assert memory.transcripts.import_sessions([tmp_path]).refused == []
    assert stored(memory) == CASES[name].stored


def test_a_file_without_a_folder_of_its_own_is_called_by_its_name(memory: Memory, tmp_path: Path) -> None:
    lines(tmp_path / "events.jsonl", [copilot("user.message", content="Thanks.")])
    with ZipFile(tmp_path / "sessions.zip", "w") as archive:
        archive.write(tmp_path / "events.jsonl", "events.jsonl")
    assert memory.transcripts.import_sessions([tmp_path / "sessions.zip"]).sessions == ["events"]
