"""The editor's own script and style, each joined from its files."""

import re
from pathlib import Path

_HERE = Path(__file__).resolve().parent
# In the order they need one another; Streamlit takes one text, so the imports between them are taken out.
_SCRIPTS = (
    "../grid/js/dom", "js/words", "js/keeper", "js/beside", "js/difference", "js/proposals", "js/facet",
    "js/tags", "js/merge", "js/revisions", "js/meeting", "js/suggesting", "js/main",
)  # fmt: skip
_IMPORT = re.compile(r'^import .*? from "[./\w]+\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?!default)", re.MULTILINE)

HTML = '<div class="memedex-editor"></div>\n'


def script(*names: str) -> str:
    """One ES module out of these files, the editor's own by default."""
    sources = ((_HERE / f"{name}.js").read_text("utf-8") for name in names or _SCRIPTS)
    return "\n".join(_EXPORT.sub("", _IMPORT.sub("", source)) for source in sources)


def style() -> str:
    return (_HERE / "editor.css").read_text("utf-8")
