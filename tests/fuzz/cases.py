"""How many cases the fuzzing tests try, what hostile input looks like, and the bounds of each case."""

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from tests.length import repeated

CASES = 1_000  # of all fuzzing tests together, in a whole run
SECONDS = 5.0  # of processor time for one case
MEMORY = 300_000_000  # bytes that one test may grow by

_EDITS = 4  # edits of one valid value


def fuzz(*, share: float) -> Callable[[Any], Any]:
    """Try this share of all cases."""
    return settings(
        max_examples=repeated(round(CASES * share), least=2),
        deadline=None,
        suppress_health_check=[
            HealthCheck.function_scoped_fixture,
            HealthCheck.too_slow,
            HealthCheck.data_too_large,
            HealthCheck.large_base_example,
        ],
    )


@contextmanager
def bounded() -> Iterator[None]:
    """Fail if the block takes too much processor time or memory."""
    began, before = time.process_time(), _resident()
    yield
    assert time.process_time() - began < SECONDS
    assert _resident() - before < MEMORY


def _resident() -> int:
    """Bytes of this process in memory; 0 where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


_LONG = st.sampled_from((("9", 400), ("9", 5_000), ("A", 30_000), ("[", 3_000), ("e\u0301", 200)))
TEXTS = st.one_of(
    st.text(max_size=12),
    _LONG.map(lambda repeated: repeated[0] * repeated[1]),
    st.sampled_from(
        (
            "", " ", "\0", "\ud800", "a\udfffb", "\u202egpj.exe", "<img src=x onerror=alert(1)>", "../../x",
            "NaN", "-0", "1e999", "0x" + "0" * 40, "%s%n{}{0}",
            "2023-13-45", "=1+1", "' OR 1=1 --", "🐕‍🦺", "\N{LINE SEPARATOR}", "null", "true",
        )
    ),
)  # fmt: skip
NUMBERS = st.one_of(
    st.integers(),
    st.floats(),
    st.just(400).map(lambda digits: 10**digits),
    st.sampled_from((0, -1, 2**31, 2**63 - 1, 2**63, -(2**63) - 1, 10**30, 1e308, float("inf"), 1e-320)),
)
SCALARS = st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)


@st.composite
def altered(draw: st.DrawFn, original: Any) -> Any:
    """A valid JSON value with some of its parts replaced, removed, doubled or added."""
    value = json.loads(json.dumps(original))
    for _ in range(draw(st.integers(0, _EDITS))):
        value = _edited(draw, value)
    return value


def _edited(draw: st.DrawFn, value: Any) -> Any:
    if not isinstance(value, dict | list) or not value or draw(st.integers(0, 9)) == 0:
        return draw(VALUES)
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key = draw(st.sampled_from(keys))
    action = draw(st.sampled_from(("into", "into", "replace", "remove", "double", "add")))
    if action == "into":
        value[key] = _edited(draw, value[key])
    elif action == "replace":
        value[key] = draw(VALUES)
    elif action == "remove":
        del value[key]
    elif isinstance(value, dict):
        value[draw(TEXTS)] = value[key] if action == "double" else draw(VALUES)
    else:
        value.append(value[key] if action == "double" else draw(VALUES))
    return value


@st.composite
def garbled(draw: st.DrawFn, original: bytes) -> bytes:
    """Valid bytes with some of them changed, removed, repeated or inserted."""
    content = bytearray(original)
    for _ in range(draw(st.integers(0, 6))):
        at = draw(st.integers(0, len(content)))
        end = min(len(content), at + draw(st.sampled_from((1, 2, 4, 16, 200, 10**6))))
        action = draw(st.sampled_from(("change", "remove", "repeat", "insert", "cut")))
        if action == "change" and at < len(content):
            content[at] = draw(st.integers(0, 255))
        elif action == "remove":
            del content[at:end]
        elif action == "repeat":
            content[at:at] = content[at:end][:2_000] * draw(st.sampled_from((1, 2, 50)))
        elif action == "insert":
            content[at:at] = draw(st.binary(max_size=8) | _INSERTED)
        elif action == "cut":
            del content[at:]
    return bytes(content)


_TOKENS = (
    b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"{", b"}", b'"', b",", b"\n", b"\r",
    b"1e999", b"NaN", b"\\ud800", b"PK\x03\x04", b"PK\x05\x06", b"\xff\xff\xff\xff", b"\x80", b"sep=;\n",
    b"<< /Type /Page >>", b"endobj", b"/Length 99999999", b"2 0 R", b"stream\n",
)  # fmt: skip
_INSERTED = st.sampled_from(_TOKENS) | st.sampled_from(((b"[", 2_000), (b"9", 5_000), (b"A", 40_000))).map(
    lambda repeated: repeated[0] * repeated[1]
)
