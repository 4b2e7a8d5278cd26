"""The editor's own scripts and style."""

from pathlib import Path

from components.scripts import joined

_HERE = Path(__file__).resolve().parent

HTML = '<div class="memedex-editor"></div>\n'


def script(main: str = "main") -> str:
    """The editor's, or that of the rows of changes (`rows`)."""
    return joined(_HERE / "js" / f"{main}.js")


def style() -> str:
    return (_HERE / "editor.css").read_text("utf-8")
