"""No page uses an old label, and no definition has a banned name."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Whole strings only: other sentences may contain the same words.
OLD_LABELS = {
    "Answered worst", "Any case", "Arrange anew", "As", "Ask again", "Ask them all",
    "At odds with the picture", "At once", "Better than it", "Better than the other", "Captions in",
    "Choose what is in view", "Chroma behind", "Chroma in step", "Coins an hour", "Decisions an hour",
    "Degrade", "Do again", "Done again", "Draft kept", "Drafting", "Examination", "Examine everything",
    "Fold copies", "Fold copies into one", "Forget", "Forget it", "Forget one", "Forget this key",
    "Forget this session", "From look-alikes", "Go on with the list", "Health", "In and out", "Keep",
    "Lacks a facet", "Let them follow", "Look", "Look through all instead", "Near it",
    "No clear drop in relevance", "Nobody has asked them yet.", "Nothing to say", "Optional, not written",
    "Out", "Over", "Pattern", "Pending", "Put back", "Refuse", "Right answers", "Save what is asked now as",
    "Send back", "Sent back", "Show the page again", "Surroundings", "Suspicious captions", "Take",
    "Take all", "Take back", "Take in these worlds", "Taken back", "Text files hold", "Throw away",
    "To model", "To the model", "Trash", "What it speaks about", "What to look after", "Whole map", "Work",
}  # fmt: skip


@cache
def _nodes(path: Path) -> list[ast.AST]:
    return [*ast.walk(ast.parse(path.read_text()))]


def _python(path: Path) -> Iterator[str]:
    for node in _nodes(path):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _script(path: Path) -> Iterator[str]:
    yield from re.findall(r'"([^"\n]*)"', path.read_text())


# Parts of sentences: names of jobs and workers, messages, the help of the command line.
EARLIER_PARTS = re.compile(
    r"\b(in step|in the trash|in pending|nothing to say|right answers"
    r"|(take|takes|taken|taking|took) (in|back|(it|one|that|them|captions) in)|half a (sign|character)"
    r"|mistake of the program|long work|health page|asks? .*anew)\b",
    re.IGNORECASE,
)


KEPT = {("audit.py", "taken back")}  # a column of the history's CSV file, by whose name scripts read it


def _sentences(path: Path) -> Iterator[str]:
    """The strings of a file but docstrings and tables."""
    tree = ast.parse(path.read_text())
    documents = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documents:
            yield "" if "CREATE TABLE" in node.value else node.value


def test_no_message_and_no_help_uses_an_earlier_name() -> None:
    assert [
        f"{path.relative_to(ROOT)}: {text}"
        for folder in ("store", "components", "pages")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for text in _sentences(path)
        if EARLIER_PARTS.search(text) and (path.name, text) not in KEPT
    ] == []


def test_no_document_uses_an_earlier_name() -> None:
    documents = [
        path for path in (ROOT / "docs").glob("*.md") if path.name not in ("decisions.md", "python.md")
    ]
    assert [
        f"{path.name}: {line}"
        for path in [ROOT / "README.md", *documents]
        for line in path.read_text().splitlines()
        if EARLIER_PARTS.search(line)
    ] == []


def test_no_page_uses_an_old_label() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {text}"
        for folder in ("components", "pages")
        for ending, read in (("py", _python), ("js", _script))
        for path in (ROOT / folder).rglob(f"*.{ending}")
        if path.name != "address.py"  # old links still work
        for text in read(path)
        if text in OLD_LABELS
    ]
    assert found == []


# Names that meant nothing outside this project; each has a plain one (docs/decisions.md).
BANNED = {
    "Appearance", "Asked", "Assembled", "Beside", "Book", "Borrowed", "Changing", "ChosenModel", "Compared",
    "Exported", "Felt", "InHand", "Keeper", "Ledger", "Looks", "Lost", "Mentioned", "Onlooker", "Patience",
    "Picked", "Recent", "Removed", "Restored", "Reviewed", "Salvaged", "Shelf", "Shift", "Slab", "Turn",
    "appearing", "book", "bury", "carried", "cut_again", "dealt_with", "forget_vectors", "give_back",
    "look_again", "myself", "neighbourly", "note_final", "retagged", "take_back", "take_in", "told",
    "troubles",
}  # fmt: skip


PROGRAM = ("store", "components", "pages")


def _definitions(folders: tuple[str, ...] = PROGRAM) -> Iterator[tuple[str, ast.ClassDef | ast.FunctionDef]]:
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in _nodes(path):
                if isinstance(node, ast.ClassDef | ast.FunctionDef):
                    yield str(path.relative_to(ROOT)), node


def test_no_two_classes_have_one_name() -> None:
    places: dict[str, list[str]] = {}
    for place, node in _definitions():
        if isinstance(node, ast.ClassDef):
            places.setdefault(node.name, []).append(place)
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_no_definition_has_a_banned_name() -> None:
    found = _definitions((*PROGRAM, "bench", "scripts", "tests"))
    assert [f"{place}: {node.name}" for place, node in found if node.name.strip("_") in BANNED] == []


def test_no_javascript_function_has_a_banned_name() -> None:
    banned = BANNED | {"applyOrTake", "takeAll", "takeBack", "takeEverything", "throwAway"}
    assert [
        f"{path.relative_to(ROOT)}: {name}"
        for path in sorted((ROOT / "components").rglob("*.js"))
        for name in re.findall(
            r"^(?:export )?\s*(?:async |function )*(\w+)\(.*\{$", path.read_text(), re.MULTILINE
        )
        if name in banned
    ] == []


FOREIGN = {"EfficientNet", "ImageNet", "JavaScript", "NumPy", "TorchScript"}  # no classes of ours


def _names(node: ast.AST) -> set[str]:
    match node:
        case ast.ClassDef() | ast.FunctionDef() | ast.alias():
            return {node.name}
        case ast.Name():
            return {node.id}
        case ast.Attribute():
            return {node.attr}
    return set()


def test_docstrings_name_only_classes_that_exist() -> None:
    known, read = set(FOREIGN), []
    for folder in ("store", "components", "pages"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                known |= _names(node)
                if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                    text = ast.get_docstring(node) or ""
                    read += [(path, word) for word in re.findall(r"\b(?:[A-Z][a-z0-9]+){2,}\b", text)]
    assert [f"{path.relative_to(ROOT)}: {word}" for path, word in read if word not in known] == []


# Keys can be changed in the browser, so that a sentence must not name one; buttons and the list of keys do.
NAMES_A_KEY = re.compile(r"\((?:shift )?[a-z?/]\)|\b(?:with|press|key) [b-z?](?!\w)|`[a-z?/]`", re.IGNORECASE)


def test_no_sentence_of_a_page_names_a_key() -> None:
    assert [
        f"{path.relative_to(ROOT)}: {text}"
        for folder in ("components", "pages")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for text in _sentences(path)
        if NAMES_A_KEY.search(text) and " " in text
    ] == []
