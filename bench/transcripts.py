"""How fast recorded sessions of agents are imported, as a Markdown table.

    python -m bench.transcripts                        # 50 and 200 MB, a minute or two
    python -m bench.transcripts --megabytes 1000       # a gigabyte

Each import is the command line's (`memory import-transcripts`, `adopt`) into a new library, followed by the
same once more. Half the sessions are Claude Code's, half Codex's; their texts are parts of Python's library
with names that no other part has. Memory is the largest proportional set of all its processes together.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bench.dashboard import PROJECT
from bench.measuring import machine, print_head, print_row

_HUGE = 400_000  # characters of the largest outputs of tools


class _Texts:
    """Parts of real files, of real length, none of them twice."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        files = sorted(Path(os.__file__).parent.glob("*.py"))
        self._lines = [line for file in files for line in file.read_text("utf-8").splitlines() if line]

    def part(self, least: int, most: int) -> str:
        """Lines that follow each other in one of these files, some with a name of their own."""
        size = int(least * (most / least) ** self.random.random())
        place, found, length = self.random.randrange(len(self._lines)), list[str](), 0
        while length < size:
            line = self._lines[place % len(self._lines)]
            if self.random.random() < 0.05:
                line = f"{line}  # {self.random.getrandbits(40):x} {self.random.randrange(10**6)}"
            found.append(line)
            length += len(line) + 1
            place += 1
        return "\n".join(found)

    def output(self) -> str:
        """What a tool answers: short as a rule, one in two hundred a whole log."""
        return self.part(100, 8_000) if self.random.random() > 0.005 else self.part(_HUGE // 4, _HUGE)

    def id(self) -> str:
        return str(uuid.UUID(int=self.random.getrandbits(128)))


def make_sessions(folder: Path, megabytes: int, *, seed: int = 0) -> None:
    """Write sessions of Claude Code and Codex below a folder until they have this size."""
    texts, size = _Texts(seed), 0
    while size < megabytes * 1_000_000:
        is_codex, id = texts.random.random() < 0.5, texts.id()
        path = folder / (f"codex/rollout-{id}.jsonl" if is_codex else f"projects/-home-u-coins/{id}.jsonl")
        path.parent.mkdir(parents=True, exist_ok=True)
        records = (_codex if is_codex else _claude)(texts, id, texts.random.randrange(20, 200))
        size += path.write_bytes(b"".join(json.dumps(one).encode() + b"\n" for one in records))


def _claude(texts: _Texts, session: str, turns: int) -> Iterator[dict[str, Any]]:
    parent: str | None = None

    def row(kind: str, content: Any, **more: Any) -> dict[str, Any]:
        nonlocal parent
        above, parent = parent, texts.id()
        return {
            "parentUuid": above, "isSidechain": False, "userType": "external", "cwd": "/home/u/coins",
            "sessionId": session, "version": "2.1.0", "gitBranch": "main", "type": kind,
            "message": {"role": kind, "content": content}, "uuid": parent, "timestamp": next(times), **more,
        }  # fmt: skip

    times = _times(texts)
    for turn in range(turns):
        yield row("user", texts.part(40, 1_500))
        for _ in range(texts.random.randrange(1, 5)):
            call, said = f"toolu_{texts.id()}", texts.output()
            thought = {"type": "thinking", "thinking": texts.part(100, 1_500), "signature": "EqQB" * 100}
            given = {"command": texts.part(20, 800), "file_path": f"/home/u/coins/{turn}.py"}
            yield row("assistant", [thought])
            yield row("assistant", [{"type": "tool_use", "id": call, "name": "Bash", "input": given}])
            result = [{"type": "tool_result", "tool_use_id": call, "content": said}]
            yield row("user", result, toolUseResult={"stdout": said, "stderr": "", "interrupted": False})
        yield row("assistant", [{"type": "text", "text": texts.part(100, 4_000)}])
        yield {"type": "file-history-snapshot", "messageId": texts.id(), "snapshot": {}}


def _codex(texts: _Texts, session: str, turns: int) -> Iterator[dict[str, Any]]:
    times = _times(texts)

    def row(kind: str, **payload: Any) -> dict[str, Any]:
        return {"timestamp": next(times), "type": kind, "payload": payload}

    def message(role: str, kind: str, text: str) -> dict[str, Any]:
        return row("response_item", type="message", role=role, content=[{"type": kind, "text": text}])

    yield row("session_meta", id=session, cwd="/home/u/coins", originator="codex_cli_rs")
    for _ in range(turns):
        yield message("user", "input_text", texts.part(40, 1_500))
        yield row("turn_context", cwd="/home/u/coins", model="gpt-5-codex")
        for _ in range(texts.random.randrange(1, 5)):
            call, thought = f"call_{texts.id()}", [{"type": "summary_text", "text": texts.part(100, 800)}]
            yield row("response_item", type="reasoning", summary=thought, encrypted_content="gAAA" * 300)
            given = json.dumps({"command": ["bash", "-lc", texts.part(20, 800)]})
            yield row("response_item", type="function_call", name="shell", arguments=given, call_id=call)
            yield row("response_item", type="function_call_output", call_id=call, output=texts.output())
            yield row("event_msg", type="token_count", info={"total_token_usage": {"input_tokens": 9_000}})
        said = texts.part(100, 4_000)
        yield row("event_msg", type="agent_message", message=said)
        yield message("assistant", "output_text", said)


def _times(texts: _Texts) -> Iterator[str]:
    at = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=texts.random.randrange(300_000))
    while True:
        at += timedelta(seconds=texts.random.randrange(1, 60))
        yield f"{at:%Y-%m-%dT%H:%M:%S.123Z}"


def measure(arguments: list[str]) -> tuple[float, float, float, str]:
    """Seconds elapsed, seconds of processor time, MB of memory and the last line of a command."""
    before, start = os.times(), time.perf_counter()
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryFile("w+") as output:
        with subprocess.Popen(
            [sys.executable, "-m", "store", *arguments], cwd=PROJECT, env=environment,
            stdout=output, stderr=subprocess.STDOUT,
        ) as process:  # fmt: skip
            most = 0.0
            while process.poll() is None:
                most = max(most, _proportional(process.pid))
                time.sleep(0.2)
        output.seek(0)
        said = output.read().strip().splitlines()
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - start, used, most, next((one for one in said if "session" in one), "")


def _proportional(process: int) -> float:
    """MB of a process and all that it began, pages that several share counted once."""
    try:
        text = Path(f"/proc/{process}/smaps_rollup").read_text()
        children = Path(f"/proc/{process}/task").glob("*/children")
        begun = [int(one) for place in children for one in place.read_text().split()]
    except OSError:  # it ended
        return 0
    own = next((int(one.split()[1]) for one in text.splitlines() if one.startswith("Pss:")), 0)
    return own / 1_000 + sum(map(_proportional, begun))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--megabytes", type=int, nargs="+", default=[50, 200])
    parser.add_argument("--verbs", nargs="+", default=["import-transcripts", "adopt"])
    options = parser.parse_args()
    print(f"{machine()}\n")
    print_head("", "elapsed", "processor", "memory", "what it said")
    for size in options.megabytes:
        with tempfile.TemporaryDirectory() as folder:
            make_sessions(Path(folder, "sessions"), size)
            for name in options.verbs:
                verb = ["adopt"] if name == "adopt" else ["memory", name]
                for time_ in ("", ", again"):
                    elapsed, used, most, said = measure(
                        [*verb, f"{folder}/sessions", "--root", f"{folder}/{name}"]
                    )
                    cells = (f"{elapsed:.0f} s", f"{used:.0f} s", f"{most:.0f} MB", said)
                    print_row(f"{name}, {size:,} MB{time_}", *cells)


if __name__ == "__main__":
    main()
