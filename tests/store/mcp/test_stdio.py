"""Every line that an agent sends is answered, also one that cannot be read."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from mcp.types import jsonrpc_message_adapter
from pydantic import ValidationError

from store.mcp.transports import refusal
from store.memory.memory import Memory
from tests.store.cli.program import environment, program

HALF = "\\ud83d"  # as JavaScript writes half an emoji


def call(id: int, tool: str, arguments: str) -> str:
    params = f'{{"name": "{tool}", "arguments": {arguments}}}'
    return f'{{"jsonrpc": "2.0", "id": {id}, "method": "tools/call", "params": {params}}}'


def test_requests_after_half_a_character_are_answered_as_well(tmp_path: Path) -> None:
    Memory.open(tmp_path).close()
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
        '{"jsonrpc": "2.0", "method": "notifications/initialized"}',
        call(2, "search_memory", f'{{"query": "a {HALF} b"}}'),
        "no JSON",
        call(3, "list_tags", "{}"),
    ]
    with subprocess.Popen(
        program("--root", tmp_path, "mcp"), env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, encoding="utf-8",
    ) as served:  # fmt: skip
        assert served.stdin
        assert served.stdout
        served.stdin.write("\n".join(lines) + "\n")
        served.stdin.flush()
        answers = {(answer := json.loads(served.stdout.readline()))["id"]: answer for _ in range(4)}
        served.stdin.close()
        assert served.wait(60) == 0
    assert answers.keys() == {1, 2, 3, None}
    assert "params.arguments.query holds an unpaired surrogate" in answers[2]["error"]["message"]
    assert answers[3]["result"]["structuredContent"]["names"] == {}


@pytest.mark.parametrize(
    ("line", "id", "says"),
    [
        (
            call(7, "x", f'{{"tags": ["a", "{HALF}"]}}'),
            7,
            "params.arguments.tags.1 holds an unpaired surrogate",
        ),
        (call(7, "x", f'{{"{HALF}": 1}}'), 7, "params.arguments holds an unpaired surrogate"),
        (f'{{"jsonrpc": "2.0", "id": "{HALF}", "method": "ping"}}', None, "id holds an unpaired surrogate"),
        ('{"id": "a", "method": 3}', "a", "no message of JSON-RPC"),
        ("[1, 2]", None, "no message of JSON-RPC"),
        ("{", None, "no JSON"),
        ("", None, "no JSON"),
    ],
)
def test_a_line_that_is_no_message_is_answered_by_its_own_id(line: str, id: Any, says: str) -> None:
    with pytest.raises(ValidationError) as error:
        jsonrpc_message_adapter.validate_json(line, by_name=False)
    answer = refusal(error.value)
    assert answer.id == id
    assert says in answer.error.message
    assert answer.model_dump_json(), "it can be sent"
