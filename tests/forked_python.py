"""Python programs that tests start, forked from a process that has already imported what they import.

An interpreter that starts from nothing imports for a second, longer than most of them work. Forked, they are
separate processes all the same: children of the one that starts them, with a memory of their own.
"""

import atexit
import ctypes
import gc
import os
import runpy
import signal
import socket
import subprocess
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from json import dumps, loads
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

PROJECT = Path(__file__).resolve().parent.parent
IMPORTED = (
    "chromadb",
    "chromadb.api.rust",
    "chromadb.cli.cli",
    "onnxruntime",
    "rich.progress",
    "store.chroma.foreign",
    "store.cli",
    "store.memory.memory",
    "store.runtime",
    "tests.store.conftest",
    "tests.store.memory.bags",
    "tokenizers",
)
PYTHON = sys.executable
_SUBREAPER = 36  # prctl(2): a child whose parent has ended becomes ours
_LONGEST = 150_000  # bytes of what is asked: arguments and environment

_starting = threading.Lock()

start = subprocess._fork_exec  # type: ignore[attr-defined]  as it is without this module


def fork_or_start(
    command: Sequence[Any],
    executables: Any,
    closes: Any,
    keeps: Any,
    folder: Any,
    environment: Any,
    *more: Any,
) -> int:
    """What `subprocess` calls to start a command: fork it if it is Python, and return its process id."""
    given = [os.fsdecode(each) for each in command]
    options = given[3:] if given[1:3] == ["-W", "ignore"] else given[1:]
    if given[0] != PYTHON or options[0] not in ("-m", "-c"):
        return int(start(command, executables, closes, keeps, folder, environment, *more))
    stdin, _, _, stdout, _, stderr, _, _, _, leads_session = more[:10]
    if environment is None:
        environment = [key + b"=" + value for key, value in os.environb.items()]
    asked = {
        "arguments": options,
        "folder": os.fsdecode(folder or Path.cwd()),
        "environment": [os.fsdecode(each) for each in environment],
        "leads_session": bool(leads_session),
    }
    files = [file if file >= 0 else standard for standard, file in enumerate((stdin, stdout, stderr))]
    with _starting:  # threads that start their first programs at once share one
        ours, lock, _ = _server(os.getpid())
    with lock:
        socket.send_fds(ours, [dumps(asked).encode()], files)
        return int(ours.recv(20))


@cache
def _server(_: int) -> tuple[socket.socket, threading.Lock, subprocess.Popen[bytes]]:
    """A connection to the process that forks for this one, which ends with this one."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    own = {name: value for name, value in os.environ.items() if not name.startswith("MEMEDEX_")}
    own["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    command = [PYTHON, "-u", "-m", __name__]  # none that is forked
    with theirs:
        process = subprocess.Popen(command, stdin=theirs, stdout=subprocess.DEVNULL, cwd=PROJECT, env=own)
    return ours, threading.Lock(), process


def main() -> None:
    """Fork for the process at the other end of standard input, until it ends."""
    for name in IMPORTED:
        import_module(name)
    gc.collect()
    gc.freeze()
    with socket.socket(fileno=os.dup(0)) as asking:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        while True:
            message, files, *_ = socket.recv_fds(asking, _LONGEST, 3)
            if not message:
                return
            asked = loads(message)
            if any(each.startswith("MEMEDEX_CAPTION_MODEL=") for each in asked["environment"]):
                import_module("litellm")  # takes three seconds, here once
            asking.send(str(_fork(asked, files, asking)).encode())
            for file in files:
                os.close(file)


def _fork(asked: dict[str, Any], files: Sequence[int], asking: socket.socket) -> int:
    """The process id of a grandchild; its parent has ended, so that it belongs to the process that asked."""
    reads, writes = os.pipe()
    if not (parent := os.fork()):
        if child := os.fork():
            os.write(writes, str(child).encode())
            os._exit(0)
        os.close(reads)
        os.close(writes)
        asking.close()
        _become(files, **asked)
    os.waitpid(parent, 0)
    child = int(os.read(reads, 20))
    os.close(reads)
    os.close(writes)
    return child


def _become(
    files: Sequence[int], *, arguments: list[str], folder: str, environment: list[str], leads_session: bool
) -> NoReturn:
    """Run the program as an interpreter of its own would, and end as it ends."""
    if leads_session:
        os.setsid()
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(each.split("=", 1) for each in environment)
    for standard, file in enumerate(files):
        os.dup2(file, standard)
        os.close(file)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", 1 if os.isatty(1) else -1, "utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", 1, "utf-8", "backslashreplace", closefd=False)  # noqa: SIM115
    status = _status(lambda: _run(arguments)) or _status(sys.stdout.flush)
    threading._shutdown()  # type: ignore[attr-defined]  waits for threads
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        _status(stream.flush)
    os._exit(status)


def _run(arguments: list[str]) -> None:
    warnings.simplefilter("ignore")
    kind, what, *more = arguments
    sys.argv = [kind, *more]
    if kind == "-m":
        runpy.run_module(what, run_name="__main__", alter_sys=True)
    else:
        sys.modules["__main__"] = ModuleType("__main__")
        exec(compile(what, "<string>", "exec"), vars(sys.modules["__main__"]))


def _status(work: Callable[[], object]) -> int:
    """The exit status of an interpreter that does this."""
    try:
        work()
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException:  # noqa: BLE001  as an interpreter prints it
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    main()
