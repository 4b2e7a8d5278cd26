"""The grid's own script and style, each joined from its files."""

import re
from pathlib import Path

_HERE = Path(__file__).resolve().parent
# In the order they need one another; Streamlit takes one text, so the imports between them are taken out.
_SCRIPTS = (
    "dom", "difference", "comparison", "bars", "rank", "log", "model", "cards", "pointer", "keys", "tools",
    "help", "viewer", "sliders", "drop", "places", "why", "table", "versus", "views", "ranking", "decisions",
    "main",
)  # fmt: skip
_STYLES = ("grid", "viewer", "comparison", "ranking", "views")
_IMPORT = re.compile(r'^import .*? from "\./\w+\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?!default)", re.MULTILINE)

HTML = '<div class="memedex-grid"></div>\n'


def script() -> str:
    """One ES module out of those in `js/`."""
    sources = ((_HERE / "js" / f"{name}.js").read_text("utf-8") for name in _SCRIPTS)
    return "\n".join(_EXPORT.sub("", _IMPORT.sub("", source)) for source in sources)


def style() -> str:
    return "\n".join((_HERE / f"{name}.css").read_text("utf-8") for name in _STYLES)
