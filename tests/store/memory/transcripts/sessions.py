"""A session with messages of every kind and its events."""

import json
from pathlib import Path
from typing import Any

MESSAGES: list[dict[str, Any]] = [
    {"role": "user", "content": "why does the bridge fail", "turn": 1, "ts": "2026-01-31T10:00:00Z"},
    {
        "role": "assistant",
        "turn": 1,
        "content": [
            {"type": "thinking", "thinking": "perhaps the relayer is offline"},
            {"type": "text", "text": "The relayer has stopped."},
            {"type": "tool_call", "name": "bash", "input": {"command": "systemctl status"}},
        ],
    },
    {"role": "tool", "content": "relayer: connection refused"},
    {"role": "tool", "content": [{"type": "text", "text": "structured output"}]},
    {"role": "system", "content": "be brief"},
]


EVENTS: list[dict[str, Any]] = [
    {"event": "tool:pre", "ts": "2026-01-31T10:00:01Z", "lvl": "INFO", "data": {"tool_name": "bash"}},
    {
        "event": "tool:error",
        "ts": "2026-01-31T10:00:02Z",
        "lvl": "ERROR",
        "turn": 1,
        "data": {"tool_name": "bash", "error": {"type": "Timeout"}},
    },
    {"event": "llm:response", "ts": "2026-02-01T10:00:00Z", "lvl": "INFO", "data": {"model": "gpt-x"}},
]


def lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
