"""The grid's own script and style, each joined from its files."""

from pathlib import Path

from components.scripts import joined

_HERE = Path(__file__).resolve().parent
_STYLES = ("grid", "viewer", "comparison", "ranking", "views")

HTML = '<div class="memedex-grid"></div>\n'


def script() -> str:
    return joined(_HERE / "js" / "main.js")


def style() -> str:
    return "\n".join((_HERE / f"{name}.css").read_text("utf-8") for name in _STYLES)
