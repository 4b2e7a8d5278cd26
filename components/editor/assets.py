"""The editor's scripts and style."""

from pathlib import Path

from components.shell import javascript

_HERE = Path(__file__).resolve().parent

HTML = '<div class="memedex-editor"></div>\n'


def script(main: str = "main") -> str:
    """The script of the editor, or of the list of changes (`rows`)."""
    return javascript.component(_HERE / "js" / f"{main}.js")


def style() -> str:
    """The editor's style sheet."""
    return (_HERE / "editor.css").read_text("utf-8")
