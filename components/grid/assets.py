"""The grid's script and style, the latter joined from its files."""

from pathlib import Path

from components.shell import javascript

_HERE = Path(__file__).resolve().parent
_STYLES = ("grid", "tags", "viewer", "comparison", "ranking", "views")

HTML = '<div class="memedex-grid"></div>\n'


def script(name: str = "main.js") -> str:
    """The grid's JavaScript, or another component's of this folder."""
    return javascript.component(_HERE / "js" / name)


def style(*names: str) -> str:
    """These parts of the style, or all of it."""
    return "\n".join((_HERE / f"{name}.css").read_text("utf-8") for name in names or _STYLES)
