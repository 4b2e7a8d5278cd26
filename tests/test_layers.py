"""Pages stand on components, components on the store, and nothing looks back (design section 7)."""

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
STORE = sorted((ROOT / "store").rglob("*.py"))
COMPONENTS = sorted((ROOT / "components").rglob("*.py"))
PAGES = [ROOT / "app.py", ROOT / "overview.py", *sorted((ROOT / "pages").rglob("*.py"))]
HEAVY = {"chromadb", "torch", "torchvision", "open_clip", "sentence_transformers", "transformers", "litellm"}


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(path: Path) -> set[str]:
    """The modules that a file imports anywhere in it, by their full names."""
    found: set[str] = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            found |= {str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def tops(path: Path) -> set[str]:
    return {name.partition(".")[0] for name in imports(path)}


def at_module_level(path: Path) -> set[str]:
    """What importing this file imports at once, type checking aside."""
    found: set[str] = set()
    for node in tree(path).body:
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(str(node.module).partition(".")[0])
    return found


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", STORE, ids=named)
def test_the_store_knows_nothing_of_streamlit_or_of_what_stands_on_it(path: Path) -> None:
    assert not tops(path) & {"streamlit", "components", "pages", "app", "overview"}


@pytest.mark.parametrize("path", COMPONENTS, ids=named)
def test_components_know_no_page(path: Path) -> None:
    assert not tops(path) & {"pages", "app", "overview"}


@pytest.mark.parametrize("path", [*COMPONENTS, *PAGES], ids=named)
def test_only_the_store_knows_models_and_chroma(path: Path) -> None:
    assert not tops(path) & (HEAVY | {"onnxruntime"})


@pytest.mark.parametrize("path", [*STORE, *COMPONENTS, *PAGES], ids=named)
def test_heavy_modules_are_imported_when_first_used(path: Path) -> None:
    assert not at_module_level(path) & (HEAVY | {"onnxruntime"})


def test_opening_the_dashboard_loads_no_model_and_no_chroma() -> None:
    script = (
        "import sys, importlib, pathlib\n"
        "import store.library, store.doctor, store.importing\n"
        "for path in sorted(pathlib.Path('components').glob('*.py')):\n"
        "    importlib.import_module(f'components.{path.stem}')\n"
        f"print(sorted({HEAVY!r} & set(sys.modules)))"
    )
    loaded = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert loaded.stdout.strip() == "[]"


def test_imports_inside_the_store_point_one_way() -> None:
    modules = {module(path): path for path in STORE}
    needs = {name: needed(path, modules) - {name} for name, path in modules.items()}
    done: set[str] = set()
    while needs:
        ready = {name for name, others in needs.items() if others <= done}
        assert ready, f"among these some import each other: {sorted(needs)}"
        done |= ready
        needs = {name: others for name, others in needs.items() if name not in ready}


def module(path: Path) -> str:
    return named(path).removesuffix(".py").replace("/", ".").removesuffix(".__init__")


def needed(path: Path, modules: dict[str, Path]) -> set[str]:
    """The modules of the store that importing this one imports at once."""
    found: set[str] = set()
    for node in tree(path).body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            parts = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= parts & modules.keys() or {str(node.module)}
    return found & modules.keys() - {"store"}
