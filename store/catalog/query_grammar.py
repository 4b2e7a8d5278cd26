"""The syntax tree of a line, parsed with query_grammar.lark.

query_text.py formats a tree as a line that parses to the same tree.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from store.catalog.query_tokens import Dialect, inside, is_quoted, tokens
from store.records import FACETS, Facet

if TYPE_CHECKING:
    from lark import Lark

Source = Literal["text", "picture", "like"]
Sign = Literal["", "+", "−"]

_HEAVIEST = 1e9  # above all that may be asked; what is heavier is refused all the same


@dataclass(frozen=True, slots=True)
class Word:
    """A plain word; with `*` at its end, a prefix."""

    text: str


@dataclass(frozen=True, slots=True)
class Phrase:
    """Quoted words, which must be adjacent."""

    text: str


@dataclass(frozen=True, slots=True)
class Condition:
    """`tag:dog`: a key in lower case, known or not, and its value."""

    key: str
    value: str


@dataclass(frozen=True, slots=True)
class MarkedPart:
    """A marked part of a query: `− 2 × visual:"pixel art"`, `like:0xabc`, `-rain`.

    `facets` are the named ones, () for none; `is_close` says that the sign directly precedes one word.
    """

    source: Source
    text: str
    sign: Sign = ""
    weight: float | None = None
    facets: tuple[Facet, ...] = ()
    is_quoted: bool = False
    is_close: bool = False

    @property
    def is_marked(self) -> bool:
        """Whether it has a sign, weight or facet."""
        return bool(self.sign or self.facets or self.weight is not None)


@dataclass(frozen=True, slots=True)
class Not:
    """A negation."""

    item: "Node"


@dataclass(frozen=True, slots=True)
class AllOf:
    """A conjunction."""

    items: tuple["Node", ...] = ()


@dataclass(frozen=True, slots=True)
class AnyOf:
    """An alternative of at least two."""

    items: tuple["Node", ...]


Node: TypeAlias = Word | Phrase | Condition | MarkedPart | Not | AllOf | AnyOf


@dataclass(frozen=True, slots=True)
class Parsed:
    """A line as a tree, with what was left out (`faults`) or corrected (`hints`, with place and remedy)."""

    tree: AllOf
    faults: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()


@lru_cache(maxsize=512)
def parse(line: str, dialect: Dialect = "filter") -> Parsed:
    """Parse a line. Never raises: every text has a tree."""
    whole = line.encode(errors="ignore").decode()
    faults = () if whole == line else ("an unpaired surrogate (invalid Unicode) was left out",)
    found, hints = tokens(whole.strip(), dialect)
    built: Node | None = _parser(dialect).parse(found) if found else None  # type: ignore[assignment]
    if built and any(map(_says_nothing, leaves(built))):
        faults = (*faults, "a part of the question says nothing")
        built = _pruned(built)
    tree = built if isinstance(built, AllOf) else AllOf((built,) if built else ())
    return Parsed(tree, faults, tuple(hints))


def all_of(items: Sequence["Node | None"]) -> "Node | None":
    """The conjunction of these, flattened; None if empty."""
    flat = [one for item in items if item for one in (item.items if isinstance(item, AllOf) else (item,))]
    return AllOf(tuple(flat)) if len(flat) > 1 else next(iter(flat), None)


def any_of(items: Sequence["Node | None"]) -> "Node | None":
    """The alternative of these, flattened; None if empty."""
    flat = [one for item in items if item for one in (item.items if isinstance(item, AnyOf) else (item,))]
    return AnyOf(tuple(flat)) if len(flat) > 1 else next(iter(flat), None)


def none_of(item: "Node | None") -> "Node | None":
    """The negation of this; a double negation is removed."""
    return item.item if isinstance(item, Not) else Not(item) if item else None


def leaves(tree: "Node") -> Iterator["Node"]:
    """The leaves of a tree, in their order."""
    if isinstance(tree, Not):
        yield from leaves(tree.item)
    elif isinstance(tree, AllOf | AnyOf):
        for item in tree.items:
            yield from leaves(item)
    else:
        yield tree


def _says_nothing(leaf: "Node") -> bool:
    return isinstance(leaf, MarkedPart) and leaf.source == "text" and not leaf.text


def _pruned(node: "Node") -> "Node | None":
    """The tree without empty parts."""
    if isinstance(node, Not):
        return none_of(_pruned(node.item))
    if isinstance(node, AllOf):
        return all_of([_pruned(item) for item in node.items])
    if isinstance(node, AnyOf):
        return any_of([_pruned(item) for item in node.items])
    return None if _says_nothing(node) else node


@cache
def _parser(dialect: Dialect) -> "Lark":
    """The LALR parser for lines of this kind; it takes 40 ms to build."""
    from lark import Lark, Token, Transformer
    from lark.lexer import Lexer

    class Tokens(Lexer):
        def __init__(self, _: object) -> None: ...

        def lex(self, found: Any) -> Iterator[Token]:  # type: ignore[override]  # of tokens already found
            return (Token(token.kind, token.text) for token in found)

    class TreeBuilder(Transformer[Token, Any]):
        """Builds the tree during parsing; each method receives the children of its rule."""

        all = staticmethod(all_of)
        group = filter = question = staticmethod(any_of)
        part = staticmethod(_part)

        def word(self, found: list[Token]) -> Word:
            return Word(_spaced(found[0]))

        def phrase(self, found: list[Token]) -> Phrase | None:
            text = _spaced(inside(found[0]))
            return Phrase(text) if text else None

        def condition(self, found: list[Token]) -> Condition:
            key, _, value = found[0].removeprefix("+").partition(":")
            return Condition(key.lower(), inside(value).strip() if is_quoted(value) else value)

        def negated(self, found: list[Node | None]) -> Node | None:
            return none_of(found[0])

    grammar = Path(__file__).with_suffix(".lark").read_text(encoding="utf-8")
    return Lark(
        grammar,
        parser="lalr",
        lexer=Tokens,
        start=dialect,
        transformer=TreeBuilder(),
        maybe_placeholders=False,
    )


def _part(found: Sequence[Any]) -> MarkedPart | Word:
    """A part from its tokens; among words, `picture` is one of them."""
    sign: Sign = ""
    weight: float | None = None
    facets: tuple[Facet, ...] = ()
    source: Source = "text"
    text: list[str] = []
    for token in found:
        if token.type in ("SIGN", "CLOSE_SIGN"):
            sign = "+" if token == "+" else "−"
        elif token.type == "WEIGHT":
            number = float(re.sub(r"[^\d.]", "", token.replace(",", ".")))
            weight = min(number * (1.0 if weight is None else weight), _HEAVIEST)
        elif token.type == "FACETS":
            named = re.findall(r"[a-z]+", token.lower())
            facets = tuple(facet for facet in FACETS if facet in named)
        elif token.type == "COIN":
            name, coin = token.split(":")
            source = "like" if name.lower() == "like" else "picture"
            text.append(coin)
        elif token.type == "PICTURE" and not text:
            source = "picture"
        else:
            text.append(inside(token) if token.type == "QUOTED" else token)
    last = found[-1].type
    return MarkedPart(
        source, _spaced(" ".join(text)), sign, weight, facets, last == "QUOTED", found[0].type == "CLOSE_SIGN"
    )


def _spaced(text: str) -> str:
    return " ".join(text.split())
