"""Scripts that use the names of earlier versions go on working, and the help shows the new ones."""

from pathlib import Path

import pytest

from store.cli.arguments import parser
from store.reading.reader import Reader
from tests.store.cli.program import APPROVED, KEPT, PROJECT, Run

SAME = [
    (f"return {KEPT}", f"back-to-review {KEPT}"),
    (f"degrade {KEPT}", f"remove {KEPT}"),
    ("take --all", "accept --all"),
    ("forget-vectors offline --yes", "delete-vectors offline --yes"),
    ("memory forget-vectors", "memory delete-vectors"),
    ("memory forget-session elf_s1", "memory delete-session elf_s1"),
    ("jobs again 1", "jobs retry 1"),
    ("taxonomy --forget cat", "taxonomy --remove cat"),
    ("--who bob undo", "--actor bob undo"),
    ("undo --who bob", "undo --actor bob"),
    ("memory undo --who bob", "memory undo --actor bob"),
]


@pytest.mark.parametrize(("earlier", "now"), SAME)
def test_an_earlier_name_means_what_the_new_one_does(earlier: str, now: str) -> None:
    whole = parser()
    assert vars(whole.parse_args(earlier.split())) == vars(whole.parse_args(now.split()))


@pytest.mark.parametrize(
    ("verb", "key", "goal"), [("return", APPROVED, "pending"), ("degrade", KEPT, "approved")]
)
def test_an_earlier_verb_moves_a_record(run: Run, root: Path, verb: str, key: str, goal: str) -> None:
    done = run(verb, key, "--who", "bob")
    assert done.returncode == 0, done.stderr
    with Reader(root) as reader:
        assert reader.get(key).tier == goal
        assert reader.history(limit=1)[0].actor == "bob"


@pytest.mark.parametrize("name", ["back-to-review", "remove", "accept", "delete-vectors", "--actor"])
def test_the_help_begins_with_the_new_name(name: str) -> None:
    earlier = {"--actor": "--who"} | {now.split()[0]: before.split()[0] for before, now in SAME[:4]}
    shown = parser().format_help()
    assert 0 <= shown.index(name) < shown.rindex(earlier[name])


def test_the_manual_names_every_earlier_name_beside_the_new_one() -> None:
    rows = (PROJECT / "docs" / "command-line.md").read_text(encoding="utf-8").split("## Earlier names")[1]
    for earlier, now in SAME[:4]:
        assert f"| `{earlier.split()[0]}`" in rows
        assert f"`{now.split()[0]}`" in rows
