"""The README says what the program does."""

import re
from pathlib import Path

import pytest

from store.cli.arguments import parser
from store.memory.engine.settings import MemorySettings
from store.settings import Settings

FIELDS = Settings.model_fields | MemorySettings.model_fields
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


def test_every_command_in_the_readme_exists():
    verbs = set(re.findall(r"python -m store ([a-z-]+)", README))
    assert verbs
    for verb in verbs:
        assert f"{verb}" in parser().format_help()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_internal_link_works(page: Path):
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target
