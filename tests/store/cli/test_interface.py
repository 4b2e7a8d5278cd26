"""What scripts and people rely on: every verb, option and help sentence, and the output of real commands.

`interface/help.txt` has a line for each verb and each of its arguments: name, marks (`*` any number, `+` at
least one, `?` optional, `…` an option that may be repeated, `=` an option with a value), choices, default and
help. `interface/transcript.txt` has commands on a small library, each with its exit status, its answer and
its messages (`! `). A difference is a change of the interface.
"""

import re
import shlex
from pathlib import Path

import pytest

from tests.store.cli.interface_lines import help_lines
from tests.store.cli.program import ALSO_KEPT, APPROVED, CAPTIONED, KEPT, NOWHERE, PENDING, PROJECT, Run
from tests.store.conftest import address

FOLDER = Path(__file__).parent / "interface"
ADDRESSES = {
    "PENDING": PENDING, "APPROVED": APPROVED, "CAPTIONED": CAPTIONED, "KEPT": KEPT, "ALSO_KEPT": ALSO_KEPT,
    "NOWHERE": NOWHERE, "COIN10": address(10), "COIN11": address(11), "COIN12": address(12),
}  # fmt: skip
NAME = re.compile(rf"\b({'|'.join(ADDRESSES)})\b")
VARYING = (
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?Z?)?", "<time>"),
    (r'"(\w*at|began|seen|expires)": \d{9,}(\.\d+)?', r'"\1": <time>'),
    (r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}\b", "<id>"),
    (r"\bmem_\d+\b", "<id>"),
    (r'"id": \d+|"decision": "\w+"', '"…": <id>'),
    (r"\d+\.\d{2,}(e-\d+)?|\d+\.\d(?= %)", "<number>"),
    (r"process \d+", "process <number>"),
    (r"[\d,]+ (bytes|seconds)", r"<number> \1"),
    (r'"(bytes|size)": \d+', r'"\1": <number>'),
)


def test_every_verb_option_and_help_sentence_is_there() -> None:
    assert help_lines() == (FOLDER / "help.txt").read_text(encoding="utf-8").splitlines()


@pytest.mark.slow
@pytest.mark.usefixtures("root", "incoming")
def test_commands_answer_as_written(run: Run, tmp_path: Path) -> None:
    written = (FOLDER / "transcript.txt").read_text(encoding="utf-8")
    (tmp_path / "prompt.txt").write_text("Say what you see.")
    commands = re.findall(r"^\$ (.*)$", written, re.M)
    assert "\n".join(shown(command, run, tmp_path) for command in commands) + "\n" == written


def shown(command: str, run: Run, folder: Path) -> str:
    """The command as a block of the transcript."""
    done = run(*[NAME.sub(lambda name: ADDRESSES[name[0]], word) for word in shlex.split(command)])
    messages = done.stderr
    if "sage:" in messages:  # the words around our own are the parser's
        messages = own_words(messages)
    lines = [*done.stdout.splitlines(), *(f"! {line}" for line in messages.splitlines())]
    text = "\n".join([f"$ {command}", f"= {done.returncode}", *lines])
    for place, name in (
        (folder, "HERE"),
        (PROJECT, "PROJECT"),
        *((value, key) for key, value in ADDRESSES.items()),
    ):
        text = text.replace(str(place), name)
    for pattern, name in VARYING:
        text = re.sub(pattern, name, text)
    return text


def own_words(messages: str) -> str:
    """The last sentence of wrong usage; nothing if it is the parser's own."""
    last = messages.splitlines()[-1]
    sentence = re.split(r"[Ee]rror: (?:argument [^:]+: |Invalid value(?: for [^:]+)?: )?", last)[-1]
    is_of_parser = re.match(
        "invalid choice|unrecognized|the following arguments|one of the|expected|not allowed|"
        "Missing|No such|Got unexpected|.*is not one of|Option|Input should",
        sentence,
    )
    return "" if is_of_parser else sentence
