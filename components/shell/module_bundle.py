"""ES modules as one, so that a page loads one file instead of sixty."""

import posixpath
import re
from collections.abc import Mapping

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
        source = posixpath.normpath(posixpath.join(posixpath.dirname(path), address))
        return f'const {names.replace(" as ", ": ")} = moduleAt("{source}");'

    def exported(found: re.Match[str]) -> str:
        is_default, kind, name = found.groups()
        exports.append(f"default: {name or _DEFAULT}" if is_default else name)
        return f"{kind} {name or _DEFAULT}"

    text = _EXPORT.sub(exported, _IMPORT.sub(imported, text))
    if left := _LEFT.search(text):
        raise ValueError(f"{path} has a statement that cannot be bundled: {left[0]}")
    return _MODULE.format(path=path, text=text, exports=", ".join(exports))
