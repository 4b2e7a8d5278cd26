"""The script and style of a page: those of the dashboard's grid, which lie next to the store."""

import posixpath
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

_COMPONENTS = Path(__file__).resolve().parent.parent.parent / "components"
_MAIN = "grid/js/saved_page.js"
_STYLES = ("grid/grid.css", "grid/ranking.css", "grid/views.css", "grid/saved_page.css")

_IMPORT = re.compile(r'^import (\{[^}]*\}) from "(.+)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (default )?((?:async )?(?:function|class)|const) (\w*)", re.MULTILINE)
_LEFT = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)
_DEFAULT = "exportedAsDefault"

_BUNDLE = """const modules = {{
{modules}}};
const exported = {{}};
export const moduleAt = (path) => (exported[path] ??= modules[path]());
"""
_MODULE = """"{path}"() {{
{text}return {{ {exports} }};
}},
"""


@cache
def script() -> str:
    """The modules of a page as one, which shows what the document holds."""
    modules = dict[str, str]()
    missing = [_MAIN]
    while missing:
        path = missing.pop()
        modules[path] = text = (_COMPONENTS / path).read_text("utf-8")
        imported = {_source(path, found[2]) for found in _IMPORT.finditer(text)}
        missing += sorted(imported - modules.keys() - {*missing})
    bundle = bundled(dict(sorted(modules.items())))
    if "</" in bundle or "<!--" in bundle:
        raise ValueError("a script in HTML must not contain what ends it")
    return f'{bundle}moduleAt("{_MAIN}").default();\n'


@cache
def style() -> str:
    """The style of a page."""
    return "\n".join((_COMPONENTS / path).read_text("utf-8") for path in _STYLES)


def bundled(modules: Mapping[str, str]) -> str:
    """A module whose `moduleAt(path)` returns what the module of this path exports, and runs it only once.

    Modules have to be as ours are written: an import or export is one statement at the start of a line, and
    no exported variable is assigned to again.
    """
    return _BUNDLE.format(modules="".join(_function(path, text) for path, text in modules.items()))


def _function(path: str, text: str) -> str:
    exports = list[str]()

    def imported(found: re.Match[str]) -> str:
        names, address = found.groups()
        return f'const {names.replace(" as ", ": ")} = moduleAt("{_source(path, address)}");'

    def exported(found: re.Match[str]) -> str:
        is_default, kind, name = found.groups()
        exports.append(f"default: {name or _DEFAULT}" if is_default else name)
        return f"{kind} {name or _DEFAULT}"

    text = _EXPORT.sub(exported, _IMPORT.sub(imported, text))
    if left := _LEFT.search(text):
        raise ValueError(f"{path} has a statement that cannot be bundled: {left[0]}")
    return _MODULE.format(path=path, text=text, exports=", ".join(exports))


def _source(path: str, address: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), address))
