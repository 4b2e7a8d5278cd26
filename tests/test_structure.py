"""Imports point down the ordered tree of ARCHITECTURE.md, and there are no cycles.

Every import counts, including those for types only and those inside functions.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DRAWING = {"pandas"}
HEAVY = {"chromadb", "torch", "torchvision", "open_clip", "sentence_transformers", "transformers", "litellm"}

# From the top down. Entries on one line may import each other, but never in a cycle.
LAYERS = """
app overview pages
components/insights components/activity
components/search components/memory
components/map components/overview
components/review components/captions components/exchange components/generate
components/grid components/editor
components/shell/page
components/shell/server
components/shell/session
components/shell/format components/shell/javascript components/shell/addresses components/shell/js
components/shell
components
store/__main__ store/cli store
store/runtime
store/tasks
store/generation store/captioning store/maintenance store/mcp store/demo store/adopting
store/rules/running
store/rules
store/rules/preview store/rules/keeping store/rules/publishing store/rules/waves
store/rules/copilot
store/rules/second_opinions
store/rules/past store/rules/families store/rules/signals
store/rules/matching
store/library
store/backup store/evaluation store/showcase
store/memory/values
store/memory/reference_names
store/memory/memory
store/memory/demo store/memory/doctor
store/memory/trust
store/memory/inspect store/memory/exporting
store/memory/context
store/memory
store/memory/opened
store/memory/chroma_source store/memory/kinds
store/memory/transcripts store/memory/documents store/memory/story store/memory/memories
store/memory/text
store/memory/engine
store/reading store/writing
store/duplicates store/pictures
store/search store/maps
store/vectors store/exporting
store/embedding store/importing
store/captions store/chroma store/jobs store/llm store/tags
store/rules/rule
store/rules/learning
store/catalog store/fetching store/sessions
store/disk
store/operations
store/outcome
store/records store/permissions
store/errors store/settings store/progress store/lru
"""
LEVEL = {layer_entry: -level for level, line in enumerate(LAYERS.split("\n")) for layer_entry in line.split()}

# Where components and pages enter the store: the face, what modules at its root define, and what the chapters
# list in `__all__`, some of it modules. The store itself imports from its modules directly.
DOORS = (
    *("store", "store.errors", "store.records", "store.settings", "store.sessions"),
    *("store.tasks", "store.jobs", "store.captioning", "store.embedding", "store.generation"),
    *("store.catalog", "store.reading", "store.search", "store.evaluation", "store.maps"),
    *("store.importing", "store.exporting", "store.showcase", "store.disk", "store.maintenance"),
    *("store.rules", "store.memory.values"),
)

# Where command line and agents enter the text memory: its verbs, and the values that these take and return.
DOOR_OF_MEMORY = {"store.memory.memory", "store.memory.values"}

# Known imports that point upwards or form a cycle, and why; nothing may be added.
KNOWN: Mapping[tuple[str, str], str] = {}


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


@cache
def files() -> dict[str, Path]:
    """Every module of the program by its name."""
    paths = [ROOT / "app.py", ROOT / "overview.py"]
    for folder in ("pages", "components", "store"):
        paths += sorted((ROOT / folder).rglob("*.py"))
    return {name_of(path): path for path in paths}


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT).with_suffix("")).replace("/", ".").removesuffix(".__init__")


def imported(nodes: Iterable[ast.AST], modules: Mapping[str, Path]) -> set[str]:
    """The modules, by their full names, that these statements import."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"imports are absolute, unlike `{ast.unparse(node)}`"
            whole = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= whole & modules.keys()
            if whole - modules.keys():
                found.add(str(node.module))
    return found


@cache
def graph() -> dict[str, set[str]]:
    """Who imports whom, the exceptions left out.

    A module imports the packages that it lies in, too: Python runs them first. Those count that import
    something when they run and have a line of their own above the module's.
    """
    modules = files()
    found = {name: imported(ast.walk(tree(path)), modules) & modules.keys() for name, path in modules.items()}
    for name, others in found.items():
        others |= {package for package in packages(name) if layer_entry(package) != layer_entry(name)}
    return {
        name: {other for other in others if (name, other) not in KNOWN} - {name}
        for name, others in found.items()
    }


def packages(name: str) -> Iterator[str]:
    """The packages around this module that import something of the program when they run."""
    while name := name.rpartition(".")[0]:
        if name in files() and imported(tree(files()[name]).body, files()) & files().keys():
            yield name


def layer_entry(name: str) -> str:
    """The line of the plan that a module belongs to: its own, or its folder's."""
    path = name.replace(".", "/")
    while path not in LEVEL:
        path = path.rpartition("/")[0]
        assert path, f"{name} has no place in the plan"
    return path


def shortest_circle(edges: Mapping[str, set[str]]) -> str:
    """The shortest way that ends where it begins, such as "a → b → a"; empty if there is none."""
    circles = [way for name in sorted(edges) if (way := way_back(name, edges))]
    return " → ".join(min(circles, key=len, default=[]))


def way_back(start: str, edges: Mapping[str, set[str]]) -> list[str]:
    """The shortest way from this name to itself; empty if there is none."""
    ways, seen = [[start]], set[str]()
    for way in ways:  # it grows behind
        for name in sorted(edges.get(way[-1], set()) - seen):
            if name == start:
                return [*way, name]
            seen.add(name)
            ways.append([*way, name])
    return []


def test_no_import_points_upwards() -> None:
    up = [
        f"{name} → {other}"
        for name, others in graph().items()
        for other in others
        if LEVEL[layer_entry(name)] < LEVEL[layer_entry(other)]
    ]
    assert sorted(up) == []


def test_no_file_imports_itself_through_others() -> None:
    assert shortest_circle(graph()) == ""


def test_no_folder_imports_itself_through_others() -> None:
    folders: dict[str, set[str]] = {}
    for name, others in graph().items():
        folders.setdefault(layer_entry(name), set()).update(
            layer_entry(other) for other in others if layer_entry(other) != layer_entry(name)
        )
    assert shortest_circle(folders) == ""


def test_command_line_and_agents_enter_the_text_memory_by_its_door() -> None:
    assert [
        f"{name} → {other}"
        for name, others in graph().items()
        if name.startswith(("store.cli", "store.mcp"))
        for other in sorted(others)
        if other.startswith("store.memory.") and other not in DOOR_OF_MEMORY
    ] == []


def test_the_shortest_circle_is_named() -> None:
    assert shortest_circle({"a": {"b"}, "b": {"c"}, "c": {"d", "b"}, "d": {"a"}}) == "b → c → b"
    assert shortest_circle({"a": {"b", "c"}, "b": {"c"}}) == ""


def test_every_exception_is_still_needed() -> None:
    modules = files()
    for name, other in KNOWN:
        assert other in imported(ast.walk(tree(modules[name])), modules), f"{name} no longer imports {other}"


@pytest.mark.parametrize("folder", sorted({str(Path(place).parent) for place in LEVEL} - {"."}))
def test_a_folder_holds_what_the_plan_names_and_nothing_else(folder: str) -> None:
    planned = {Path(place).name for place in LEVEL if str(Path(place).parent) == folder}
    there = {path.stem for path in (ROOT / folder).iterdir() if path.name != "py.typed"}
    assert there - {"__init__", "__pycache__"} == planned


def test_a_test_has_the_name_of_what_it_tests_or_a_row_in_the_readme() -> None:
    listed = (ROOT / "tests" / "README.md").read_text("utf-8")
    tests = [
        path.relative_to(ROOT / "tests")
        for folder in ("components", "store")
        for path in (ROOT / "tests" / folder).rglob("test_*.py")
    ]
    assert [test for test in tests if not namesake(test).exists() and f"`tests/{test}`" not in listed] == []


def test_every_file_that_the_readme_of_the_tests_names_exists() -> None:
    listed = (ROOT / "tests" / "README.md").read_text("utf-8")
    named = re.findall(r"`((?:tests|store)/[\w/]+\.\w+)`", listed)
    assert [name for name in named if not (ROOT / name).exists()] == []


def namesake(test: Path) -> Path:
    """The module, or the package as a whole, that a test is named after."""
    module = ROOT / test.parent / test.name.removeprefix("test_")
    package = module.with_suffix("")
    if package.name == test.parent.name:
        package = package.parent
    return package if package.is_dir() else module


def test_components_and_pages_enter_the_store_by_its_doors() -> None:
    elsewhere = [
        f"{name}: from {node.module} import {alias.name}"
        for name, path in files().items()
        if not name.startswith("store")
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ImportFrom) and str(node.module).partition(".")[0] == "store"
        for alias in node.names
        if not is_offered(alias.name, door=str(node.module))
    ]
    assert elsewhere == []


def is_offered(name: str, *, door: str) -> bool:
    """Whether components and pages may import this name here; names of the face come from there alone."""
    if door not in DOORS or name.startswith("_"):
        return (door, name) == ("store", "__version__")
    if door != "store" and name in offered("store") and f"{door}.{name}" not in files():
        return False
    return name in offered(door) or ("." in door and files()[door].stem != "__init__")


def offered(door: str) -> set[str]:
    """What a package lists in `__all__`."""
    lists = [
        ast.literal_eval(node.value)
        for node in tree(files()[door]).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    ]
    return {name for names in lists for name in names}


def test_the_store_runs_without_streamlit() -> None:
    assert [
        name for name in files() if name.startswith("store") and "streamlit" in top_level_packages(name)
    ] == []


def test_pages_and_components_import_neither_models_nor_chroma() -> None:
    assert [
        name
        for name in files()
        if not name.startswith("store") and top_level_packages(name) & {*HEAVY, "onnxruntime"}
    ] == []


def test_nothing_of_streamlits_is_replaced() -> None:
    found = [f"{name}: {text}" for name in files() for text in replacements_in(tree(files()[name]))]
    assert found == []


def test_a_replacement_is_found_however_it_is_written() -> None:
    assert replacements_in(ast.parse("import streamlit as st\nst.button = None")) == ["st.button"]
    source = "from streamlit.runtime.app_session import AppSession as A\nA.request_rerun, B.a = f, g"
    assert replacements_in(ast.parse(source)) == ["A.request_rerun"]
    assert replacements_in(ast.parse("from streamlit.web import cli\ncli.main.x += 1")) == ["cli.main.x"]
    assert replacements_in(ast.parse("import streamlit as st\nsetattr(st, 'a', 1)")) == [
        "setattr(st, 'a', 1)"
    ]
    assert replacements_in(ast.parse("import streamlit as st\nst.session_state.a = st.user")) == []


def replacements_in(module: ast.Module) -> list[str]:
    """Assignments to attributes of what this module imports from Streamlit, except to a session's state."""
    theirs = {
        (alias.asname or alias.name).partition(".")[0]
        for node in ast.walk(module)
        for alias in getattr(node, "names", ())
        if isinstance(node, ast.Import | ast.ImportFrom)
        and "streamlit" in (alias.name.partition(".")[0], str(getattr(node, "module", "")).partition(".")[0])
    }

    def is_theirs(node: ast.AST) -> bool:
        while isinstance(node, ast.Attribute):
            if node.attr in ("session_state", "query_params"):
                return False
            node = node.value
        return isinstance(node, ast.Name) and node.id in theirs

    stored = [
        ast.unparse(node)
        for node in ast.walk(module)
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load) and is_theirs(node)
    ]
    return stored + [
        ast.unparse(node)
        for node in ast.walk(module)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in ("setattr", "delattr")
        and is_theirs(node.args[0])
    ]


def test_heavy_modules_are_imported_only_when_used() -> None:
    early = [name for name in files() if top_level_packages(name, at_once=True) & {*HEAVY, "onnxruntime"}]
    assert early == []


def test_pandas_stays_out_of_the_store_and_loads_lazily() -> None:
    assert [name for name in files() if name.startswith("store") and top_level_packages(name) & DRAWING] == []
    assert [name for name in files() if top_level_packages(name, at_once=True) & DRAWING] == []


def top_level_packages(name: str, *, at_once: bool = False) -> set[str]:
    """The top-level packages that a module imports anywhere, or (`at_once`) on its own import."""
    whole = tree(files()[name])
    return {module.partition(".")[0] for module in imported(whole.body if at_once else ast.walk(whole), {})}


@pytest.mark.usefixtures("own_interpreter")
def test_opening_the_dashboard_loads_no_model_and_no_chroma() -> None:
    names = [name for name in files() if name.startswith("components") or name == "store.runtime"]
    script = (
        "import importlib, sys\n"
        f"for name in {names!r}:\n"
        "    importlib.import_module(name)\n"
        f"print(sorted({HEAVY | {'pandas'}!r} & set(sys.modules)))"
    )
    loaded = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert loaded.stdout.strip() == "[]"
