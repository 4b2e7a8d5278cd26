"""Dashboards as separate processes, forked from one that has already imported everything they need.

Importing takes more than a second of processor time, and about fifty servers are started.
"""

import atexit
import os
import sys
import time
from collections.abc import Mapping, Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import ModuleType
from typing import IO
from unittest.mock import patch

PROJECT = Path(__file__).resolve().parent.parent.parent

_processes = get_context("forkserver")
# Without `components` and `pages`: they import quickly, and they register with a running server.
_processes.set_forkserver_preload(
    [
        "streamlit.web.cli",
        "streamlit.web.server.starlette.starlette_app",
        "streamlit.web.server.starlette.starlette_server",
        "streamlit.runtime.scriptrunner.script_runner",
        "pandas",
        "pyarrow",
        "onnxruntime",
        "store.chroma.follower",
        "store.embedding.offline",
        "store.memory.memory",
        "store.runtime",
        # What the first page and the search for duplicates import, with the library open.
        "anyio._backends._asyncio",
        "argon2",
        "charset_normalizer",
        "confusable_homoglyphs.confusables",
        "scipy.fftpack",
        "starlette.staticfiles",
        "streamlit.web.server.starlette.starlette_agent_routes",
        "tokenizers",
        "uvicorn.protocols.http.httptools_impl",
        "websockets.server",
        "store.captioning.checkup",
        "store.maintenance.doctor",
        "store.reading.query_binding",
        "store.search.in_browser",
        "store.sessions",
        "tests.installed_components",
        "tests.preloaded",
    ]
)


def start(
    arguments: Sequence[str],
    settings: Mapping[str, str],
    *,
    chroma: bool,
    model: bool,
    looks: str,
    demo: Sequence[str],
    later: float,
) -> tuple[BaseProcess, IO[str]]:
    """Run `streamlit run` with these arguments and environment variables; return the process and its output.

    Without Chroma, which no page reads, without loading the embedding model before somebody searches, and
    without reading, embedding and comparing pictures in the background: each takes longer than most tests.
    If `demo` names coins, the demo library has no others. Its clock is so many seconds `later`.
    """
    reads, writes = _processes.Pipe(duplex=False)
    process = _processes.Process(
        target=_run,
        args=([*arguments], {**os.environ, **settings}, chroma, model, looks, demo, later, writes),
    )
    with patch.dict(sys.modules, {"__main__": ModuleType("__main__")}):
        process.start()  # else it would run our main module, which after a test of a page is that page
    writes.close()
    message = os.fdopen(os.dup(reads.fileno()), encoding="utf-8", errors="replace")
    reads.close()
    return process, message


def _run(
    arguments: list[str],
    environment: dict[str, str],
    chroma: bool,
    model: bool,
    looks: str,
    demo: Sequence[str],
    later: float,
    writes: Connection,
) -> None:
    os.chdir(PROJECT)
    os.environ.clear()
    os.environ.update(environment)
    for standard in (1, 2):
        os.dup2(writes.fileno(), standard)
    writes.close()
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    from streamlit.web.cli import main

    import store.demo
    from store.chroma.follower import ChromaFollower
    from store.embedding.offline import OfflineEmbedder
    from store.jobs.background_worker import Worker
    from tests.resting_workers import wake_comparing, wake_others

    if later:
        now = time.time
        time.time = lambda: now() + later
    if demo:
        few = [entry for entry in store.demo.entries() if entry.address in demo]
        store.demo.entries = lambda folder: few
    if looks != "all":
        Worker.wake = wake_comparing if looks else wake_others  # type: ignore[method-assign]
    if not model:
        OfflineEmbedder.warm = lambda self: None  # type: ignore[method-assign]
    if not chroma:
        ChromaFollower.wake = lambda self: None  # type: ignore[method-assign]
    try:
        main(["run", "--server.headless=true", *arguments])
    finally:
        atexit._run_exitfuncs()  # `multiprocessing` skips these
