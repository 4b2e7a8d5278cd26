"""The README says what the program does."""

import re
from pathlib import Path

import pytest
from streamlit.config import get_config_options

from store.cli import main
from store.settings import Settings

FIELDS = Settings.model_fields
ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
SETTINGS = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_the_table_lists_every_setting_with_its_default_and_meaning():
    for name, field in FIELDS.items():
        default = f"`{field.default}`" if field.default not in ("", None) else ""
        assert f"| `MEMEDEX_{name.upper()}` | {default} | {field.description} |" in SETTINGS


def test_the_table_lists_no_unknown_settings():
    known = {f"MEMEDEX_{name.upper()}" for name in FIELDS}
    assert set(re.findall(r"^\| `(MEMEDEX_\w+)`", SETTINGS, re.M)) == known


def test_every_command_in_the_readme_exists(capsys):
    verbs = set(re.findall(r"python -m store ([a-z-]+)", README))
    assert verbs
    assert main(["--help"]) == 0
    printed = capsys.readouterr().out
    for verb in verbs:
        assert verb in printed


@pytest.mark.parametrize("document", PAGES, ids=lambda document: document.name)
def test_streamlit_takes_every_option_that_is_named(document: Path):
    for name in re.findall(r"--([a-z]+\.[A-Za-z]+)", document.read_text(encoding="utf-8")):
        assert not get_config_options()[name].sensitive, f"{name} has to be in the environment"


@pytest.mark.parametrize("document", PAGES, ids=lambda document: document.name)
def test_every_internal_link_works(document: Path):
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", document.read_text(encoding="utf-8")):
        assert (document.parent / target).exists(), target


def test_every_file_named_in_the_architecture_exists():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:store|components|pages|tests)/[\w./]+|[\w/]+\.(?:py|js|lark))`", text))
    places = [ROOT, ROOT / "store", *(ROOT / "store").iterdir(), *(ROOT / "components").iterdir()]
    assert len(named) > 50
    assert [name for name in sorted(named) if not any((place / name).exists() for place in places)] == []


def test_every_question_of_the_architecture_is_answered_by_a_file():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rows = text.partition("## Where to find things")[2].strip().splitlines()[2:]
    assert len(rows) == 12
    for row in rows:
        paths = re.findall(r"`((?:store|components)/[\w./]+)`", row)
        assert paths, row
        assert [path for path in paths if not (ROOT / path).is_file()] == [], row
