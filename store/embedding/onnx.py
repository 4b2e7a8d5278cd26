"""ONNX Runtime sessions for a laptop that runs a web server as well."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from store.errors import ModelUnavailable

if TYPE_CHECKING:
    from onnxruntime import InferenceSession, SessionOptions

THREADS = min(4, os.cpu_count() or 1)  # more gains little for models this small, and starves the pages


# Read when it is loaded: otherwise it writes a number of this machine into the home and looks for its maker's
# server, and `disable_telemetry_events` comes too late. Nothing in the program reaches out on its own.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"


def session_options() -> "SessionOptions":
    """The options of every ONNX session."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    options.inter_op_num_threads = 1
    options.log_severity_level = 4  # its errors are raised as well; on the command line they stood twice
    # Waiting threads would otherwise keep a core busy between two searches.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return options


def open_session(path: Path, *, options: "SessionOptions | None" = None) -> "InferenceSession":
    """A session on the CPU. Raises ModelUnavailable if the file is missing."""
    import onnxruntime

    if not path.exists():
        raise ModelUnavailable(
            f"{path} is missing: it belongs to the program, fetch it from the repository again"
        )
    return onnxruntime.InferenceSession(
        str(path), options or session_options(), providers=["CPUExecutionProvider"]
    )
