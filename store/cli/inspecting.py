"""Look into what another program left, or another library, without taking it over: `inspect`."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any
from warnings import catch_warnings, simplefilter

from typer import Argument, Option

from store.cli.call import Call, has_library
from store.cli.exchange import adopted, described
from store.cli.verbs import typed_path, verb
from store.disk.files import absolute
from store.disk.layout import PROGRAM
from store.errors import BadSource, ChromaBehind

_DERIVED = ("chroma", "chroma.*", "writer.*", "*.lock", "copies", "snapshots")  # made again, or of a process
_SHOWN = 160  # characters of an entry


@verb("inspect")
def inspect(
    call: Call,
    path: Annotated[
        Path,
        Argument(metavar="PATH", parser=typed_path, help="another program's folder or file, or a library"),
    ],
    question: Annotated[
        str, Argument(metavar="QUESTION", help="what to ask its texts; else they are listed")
    ] = "",
    words: Annotated[str, Option(metavar="W", help="list those with these words alone")] = "",
    n: Annotated[int, Option("-n", metavar="N", help="entries of each kind (5)")] = 5,
    system: Annotated[str, Option("--as", metavar="SYSTEM", help="what it is, if it is not known")] = "",
    in_browser: Annotated[
        bool, Option("--open", help="browse and ask in the dashboard, until Ctrl-C ends it")
    ] = False,
) -> int:
    """Browse and ask what is at PATH, read into a temporary place; nothing of it changes."""
    path = absolute(path)
    with tempfile.TemporaryDirectory(prefix="memedex-inspect-") as folder:
        call.given_root = Path(folder)
        refused = _read_into(call, path, system)
        if in_browser:
            return _served(folder)
        found = [*_entries(call, question, words, n)]
    lines = [line for one in found for line in _lines(one)]
    if not found:
        call.say("it has no texts to browse; --open shows coins in the dashboard")
    call.answered({"kinds": found}, lines)
    return int(refused)


def _read_into(call: Call, path: Path, system: str) -> bool:
    """Read all of it into the root of the call; returns whether something was refused."""
    from store.adopting.systems import recognise
    from store.memory.memory import Memory

    if root := _own_root(path):
        shutil.copytree(root, call.root, ignore=shutil.ignore_patterns(*_DERIVED), dirs_exist_ok=True)
        call.say(f"a library of Memedex in {root}" if has_library(root) else f"a text memory in {root}")
        return False
    surveys = recognise(path, system=system)
    if not surveys:
        raise BadSource(f"nothing that is known was found in {path}")
    for survey in surveys:
        described(survey, call)
    report = adopted(surveys, "", call)
    with catch_warnings():
        simplefilter("ignore", ChromaBehind)  # it is not asked here
        Memory.open(call.root).close(longest=0)  # which adopting leaves open
    for note in report.notes:
        call.say(note)
    return bool(report.refused)


def _own_root(path: Path) -> Path | None:
    """The root of ours that this is, or whose text memory this is."""
    for root in (path, path.parent, path.parent.parent):
        memory = root / "memory" / "memory.sqlite3"
        if path in (root, memory.parent, memory) and (has_library(root) or memory.is_file()):
            return root
    return None


def _entries(call: Call, question: str, words: str, n: int) -> Iterator[dict[str, Any]]:
    """Of each kind with entries how many there are, and the first of them or those that answer best."""
    from store.memory.memory import has_memory
    from store.memory.values import KINDS, SearchFilters

    if not has_memory(call.root):
        return
    with call.reading_memory() as memory:
        for kind in KINDS:
            text = memory.entries(kind).kind.text
            if question:
                rows = (
                    memory.search(question, kind=kind, limit=n, filters=SearchFilters(min_score=0.0))
                    if memory.entries(kind).count()
                    else []
                )
                total = len(rows)
            else:
                total, rows = memory.list(kind=kind, words=words, limit=n)
            if rows:
                yield {"kind": kind, "count": total, "text": text, "entries": rows}


def _lines(found: dict[str, Any]) -> Iterator[str]:
    yield f"{found['kind']}: {found['count']:,}"
    for row in found["entries"]:
        score = f"{row['score']:.3f}  " if "score" in row else ""
        id, text = row.get("id", row.get("memory_id")), " ".join(str(row[found["text"]]).split())
        yield f"  {score}{id}  {text[:_SHOWN]}"


def _served(root: str) -> int:
    """Serve the dashboard over this root until it ends."""
    command = [sys.executable, "-m", "streamlit", "run", str(PROGRAM / "app.py")]
    try:
        return subprocess.run(command, env=os.environ | {"MEMEDEX_ROOT": root}, check=False).returncode
    except KeyboardInterrupt:
        return 0
