"""One script out of ES modules, without a build: Streamlit takes one text, and no address to import from."""

import re
from pathlib import Path

_IMPORT = re.compile(r'^import \{ ([\w, ]+) \} from "(\.[./\w]+\.js)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?(?:class|const|function) (\w+))", re.MULTILINE)


def joined(main: Path) -> str:
    """This module with all that it imports, each in a scope of its own: equal names cannot collide.

    ImportError where a module asks for a name that another does not export, or where they import in a circle.
    """
    found: dict[Path, tuple[str, list[str]]] = {}
    text = _taken(main.resolve(), found, above=())
    return "".join(scope for scope, _ in found.values()) + text


def _taken(path: Path, found: dict[Path, tuple[str, list[str]]], *, above: tuple[Path, ...]) -> str:
    """The module's text, its imports bound to the scopes of what it imports, which are added before it."""
    if path in above:
        raise ImportError(f"{path.name} imports itself, through {', '.join(each.name for each in above)}")

    def bound(imported: re.Match[str]) -> str:
        other = (path.parent / imported[2]).resolve()
        if other not in found:
            text = _taken(other, found, above=(*above, path))
            names = [name for _, name in _EXPORT.findall(text)]
            body = _EXPORT.sub(r"\1", text)
            scope = (
                f"const $scope{len(found)} = (() => {{\n{body}\nreturn {{ {', '.join(names)} }};\n}})();\n"
            )
            found[other] = scope, names
        if missing := set(imported[1].split(", ")).difference(found[other][1]):
            raise ImportError(f"{other.name} does not export {', '.join(missing)}, which {path.name} imports")
        return f"const {{ {imported[1]} }} = $scope{list(found).index(other)};"

    return _IMPORT.sub(bound, path.read_text("utf-8"))
