"""A typed line: its tokens, its syntax tree, and the line of a tree.

    tokens     split a line; a misplaced token becomes a word, or is completed
    parse      the syntax tree, parsed with query_grammar.lark
    written    a tree as a line that parses to the same tree

Lines that only filter have fewer operators than queries: there, `2 × "frog" + dog` are words.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from store.records import FACETS, Facet

if TYPE_CHECKING:
    from lark import Lark

Dialect = Literal["filter", "question"]

MAX_DEPTH = 16  # parentheses within parentheses; far below what SQLite takes in one expression

_SIGN = r"[+\-−–]"
_MINUS = r"[\-−–]"
NUMBER = r"(?:\d+(?:[.,]\d*)?|[.,]\d+)"
_FACETS = rf"(?:{'|'.join(FACETS)})(?:\s*,\s*(?:{'|'.join(FACETS)}))*\s*:"
_QUOTED = r'(?:"[^"]*(?:"|$)|[“„][^“”]*(?:[“”]|$)|«[^»]*(?:»|$))'  # one left open ends with the line
_COIN = r"(?:picture|like):[\w.-]+"
_PICTURE = rf"picture(?=[\s;)\"“„«]|{_SIGN}{_QUOTED}|$)"
_SOURCE = rf"(?:{_QUOTED}|{_COIN}|{_PICTURE})"
_BY_X = rf"{NUMBER}\s*x(?=\s*(?:{_FACETS}|{_SOURCE}))"  # not in "5 x 5 grid"
_WEIGHT = rf"(?:{NUMBER}\s*[×✕✖*]|{_BY_X})"
_KEY = r"[a-z][a-z0-9_]*:(?!//)"  # an address of the web is a word
_VALUE = r"(?:[^\s;()]|\([^\s;()]*\))*"
_STARRED = r'(?![\d.,]+\*)[$#@]?\w(?:[^\s;"“„«()*]*\w)?\*(?=[\s;()"“„«]|$)'
# Parentheses around plain words are text, as in "frog (rare)"; around anything else they make a group.
_NOT_PLAIN = rf'["“„«;:*]|\b(?-i:OR|AND|NOT)\b|(?<![^\s(]){_SIGN}(?=\S)'
_PLAIN = rf"\((?:(?!{_NOT_PLAIN})[^()]|\((?:(?!{_NOT_PLAIN})[^()])*\))*\)"
_GROUP = rf"(?!{_PLAIN})\("
_WORD = rf'(?:[^\s;"“„«()]|{_PLAIN}|(?<=[^\s(+\-−–])\()+'
_STRUCTURED = rf"(?:\+?{_KEY}|{_GROUP}|{_STARRED})"
# NOT before a plain word is a name, $NOT.
_NOT = rf"(?-i:NOT)(?=\s*{_GROUP}|\s+(?!{_FACETS}|{_COIN})(?:{_STRUCTURED}|{_QUOTED}))"
_OPERATORS = r'(?P<_OR>(?-i:OR)(?=[\s("“„«]))|(?P<_AND>(?-i:AND)(?=[\s("“„«]))'
_CONDITION = rf"(?P<CONDITION>\+?{_KEY}(?:{_QUOTED}|{_VALUE}))"
_REST = rf"(?P<_END>;)|(?P<_LPAR>{_GROUP})|(?P<_RPAR>\))|(?P<WORD>{_WORD})"
_TOKENS = {
    "filter": re.compile(
        rf"(?P<_NOT>{_MINUS}(?=[^\s;)\d+\-−–])|{_NOT})|{_OPERATORS}|"
        rf"(?P<QUOTED>{_QUOTED})|{_CONDITION}|{_REST}",
        re.IGNORECASE,
    ),
    # A sign comes before something marked, between spaces, or right before a word, where "-" is no hyphen.
    "question": re.compile(
        rf"(?P<sign>{_SIGN}(?=\s*(?:{_WEIGHT}|{_FACETS}|{_SOURCE})))|(?P<WEIGHT>{_WEIGHT})|"
        rf"(?P<FACETS>{_FACETS})|(?P<_NOT>{_MINUS}(?={_STRUCTURED})|{_NOT})|{_OPERATORS}|"
        rf"(?P<QUOTED>{_QUOTED})|(?P<COIN>{_COIN})|(?P<PICTURE>{_PICTURE})|{_CONDITION}|"
        rf"(?P<between>[+−](?=\s+[^\s;)+−–-]))|(?P<CLOSE_SIGN>{_SIGN}(?=[^\s;)\d+−–-]))|{_REST}",
        re.IGNORECASE,
    ),
}
_CONDITIONS = ("CONDITION", "QUOTED", "_LPAR", "_RPAR", "_NOT")
_ENDS = ("WORD", "QUOTED", "CONDITION", "COIN", "PICTURE", "_RPAR")
_BEGINS = ("WORD", "QUOTED", "CONDITION", "COIN", "PICTURE", "SIGN", "CLOSE_SIGN", "WEIGHT", "FACETS",
           "_NOT", "_LPAR")  # fmt: skip


class Token(NamedTuple):
    """A terminal of query_grammar.lark, with its text and its range of characters in the line."""

    kind: str
    text: str
    start: int
    end: int

    @property
    def filters(self) -> bool:
        """Whether it is a filter in every place of a line."""
        return self.kind in _CONDITIONS or (self.kind == "WORD" and is_starred(self.text))


_NOTHING = Token("", "", -1, -1)


def is_starred(text: str) -> bool:
    """Whether a word is a prefix: `dog*`."""
    return re.fullmatch(_STARRED, text) is not None


def is_quoted(text: str) -> bool:
    """Whether a typed text is quoted."""
    return re.fullmatch(_QUOTED, text) is not None


def is_left_open(quoted: str) -> bool:
    """Whether a text begins with a quote that is not closed."""
    return len(quoted) == 1 or quoted[-1] not in ('"' if quoted[0] == '"' else "”“»")


def is_bare_value(text: str) -> bool:
    """Whether a condition's value needs no quotes."""
    return re.fullmatch(_VALUE, text) is not None and text[:1] not in ("", '"', "“", "„", "«")


def inside(quoted: str) -> str:
    """The text between a pair of quotes, or after an open one; other quotes become '."""
    text = quoted[1:] if is_left_open(quoted) else quoted[1:-1]
    return text.replace('"', "'")


def tokens(line: str, dialect: Dialect) -> tuple[list[Token], list[str]]:
    """Tokens in an order that the grammar accepts, and the corrections for that, each with its place."""
    found, hints = [], []
    for match in _TOKENS[dialect].finditer(line):
        kind = {"sign": "SIGN", "between": "SIGN"}.get(str(match.lastgroup), str(match.lastgroup))
        text = match[0]
        quoted = match["QUOTED"] or (match["CONDITION"] or "").partition(":")[2]
        if is_quoted(quoted) and is_left_open(quoted):
            place = match.end() - len(quoted) + 1
            hints.append(f'The {quoted[0]} at character {place} is not closed. Add a " where it ends.')
            if kind == "QUOTED" and dialect == "filter" and text[-1].isalnum():
                text += '*"' if text[0] == '"' else "*”"  # it is still being typed
        found.append(Token(kind, text, *match.span()))
    return _operators(_parentheses(found, hints), dialect), hints


def _parentheses(found: Sequence[Token], hints: list[str]) -> list[Token]:
    """The tokens with balanced parentheses: an open one is closed at the end, others become text."""
    tokens: list[Token] = []
    opened: list[int] = []  # places in `kept`
    is_too_deep = False
    is_plain = not any(token.kind in ("_OR", "_AND", "_NOT", "_LPAR") for token in found)
    for token in found:
        last = tokens[-1] if tokens else _NOTHING
        if token.kind == "_LPAR" and len(opened) == MAX_DEPTH:
            if not is_too_deep:  # said once, not for each of thousands
                hints.append(
                    f"The ( at character {token.start + 1} is one too many: at most {MAX_DEPTH} deep."
                )
            is_too_deep = True
            token = token._replace(kind="WORD")
        elif token.kind == "_LPAR":
            opened.append(len(tokens))
        elif token.kind == "_RPAR" and opened:
            _close(tokens, opened.pop(), token)
            continue
        elif token.kind == "_RPAR":
            if not re.fullmatch(r"\W+", last.text):  # no face, such as :)
                hints.append(
                    f"The ) at character {token.start + 1} closes nothing. Leave it out, or add a (."
                )
            is_bare = last.kind == "CONDITION" and not is_quoted(last.text.partition(":")[2])
            if last.end == token.start and (is_bare or (is_plain and last.kind == "WORD")):
                tokens[-1] = last._replace(text=f"{last.text})", end=token.end)
            else:
                tokens.append(token._replace(kind="_END"))
            continue
        if (
            token.kind == last.kind == "WORD" and last.end == token.start
        ):  # what is left of a face: ":" and ")x"
            tokens[-1] = last._replace(text=last.text + token.text, end=token.end)
        else:
            tokens.append(token)
    for place in reversed(opened):
        start = tokens[place].start
        hints.append(f"The ( at character {start + 1} is not closed. Add a ) where it ends.")
        if all(token.kind == "_END" for token in tokens[place + 1 :]):  # it is still being typed
            del tokens[place:]
            while tokens and tokens[-1].kind in ("_NOT", "_OR", "_AND"):
                tokens.pop()
        else:
            _close(tokens, place, Token("_RPAR", ")", tokens[-1].end, tokens[-1].end))
    return tokens


def _close(tokens: list[Token], opened: int, closing: Token) -> None:
    """Close the last group of the tokens; an empty one becomes text."""
    if all(token.kind == "_END" for token in tokens[opened + 1 :]):
        tokens[opened:] = [Token("WORD", "()", tokens[opened].start, closing.end)]
    else:
        tokens.append(closing)


def _operators(found: Sequence[Token], dialect: Dialect) -> list[Token]:
    """The tokens with OR only between two operands, without redundant AND and separators."""
    tokens: list[Token] = []
    for token, following in zip(found, [*found[1:], _NOTHING], strict=False):
        last = tokens[-1].kind if tokens else ""
        if token.kind in ("_OR", "_AND"):
            before = next((one for one in reversed(tokens) if one.kind != "_END"), None)
            is_between = before is not None and before.kind in _ENDS and following.kind in _BEGINS
            # Between plain words of a question it is one of them, as these are asked and filter nothing.
            joins = (dialect == "filter" and token.kind == "_OR") or following.filters
            if not is_between or not (joins or (before is not None and before.filters)):
                tokens.append(token._replace(kind="WORD"))
            elif token.kind == "_OR":
                tokens.append(token)
        elif token.kind == "_END":
            if last not in ("", "_LPAR", "_OR", "_NOT", "_END"):
                tokens.append(token)
        elif token.kind != "CLOSE_SIGN" or following.kind in ("WORD", "_OR", "_AND"):
            tokens.append(token)
    return tokens


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


_OPERATOR_WORDS = ("OR", "AND", "NOT")


def written(tree: AllOf, dialect: Dialect = "filter") -> str:
    """The shortest line that `parse` turns into this tree."""
    line = _Text(dialect, between=" ").top(tree)
    if parse(line, dialect).tree == tree:
        return line
    return _Text(dialect, between="; ").top(tree)  # where neighbours would be taken together


class _Text:
    def __init__(self, dialect: Dialect, *, between: str) -> None:
        self._dialect = dialect
        self._between = between
        self._is_short = between == " "

    def top(self, tree: AllOf) -> str:
        """An alternative needs no parentheses if it is all there is."""
        if len(tree.items) == 1 and isinstance(tree.items[0], AnyOf):
            return self._choice(tree.items[0])
        return self._all(tree.items)

    def _all(self, items: Sequence[Node]) -> str:
        parts = [self._one(item) for item in items]
        ended = [
            f"{text};" if _needs_end(item) and self._is_short else text
            for item, text in zip(items[:-1], parts[:-1], strict=True)
        ]
        return self._between.join([*ended, *parts[-1:]])

    def _choice(self, choice: AnyOf) -> str:
        parts = [self._all(one.items if isinstance(one, AllOf) else (one,)) for one in choice.items]
        return " OR ".join(parts if self._is_short else [f"({text};)" for text in parts])

    def _group(self, node: Node) -> str:
        """In parentheses that cannot be taken for plain text."""
        inner = (
            self._choice(node)
            if isinstance(node, AnyOf)
            else self._all(node.items if isinstance(node, AllOf) else (node,))
        )
        return f"({inner})" if isinstance(node, AnyOf) else f"({inner};)"

    def _one(self, node: Node) -> str:
        if isinstance(node, Word):
            return node.text
        if isinstance(node, Phrase):
            return _quoted(node.text)
        if isinstance(node, Condition):
            return f"{node.key}:{self._value(node)}"
        if isinstance(node, MarkedPart):
            return _marked_part(node)
        if isinstance(node, Not):
            return self._negated(node.item)
        return self._group(node)

    def _value(self, node: Condition) -> str:
        """Quoted if it would be parsed differently without; `words` usually has several."""
        if '"' in node.value:
            return node.value
        is_coin = self._dialect == "question" and node.key in ("like", "picture")
        is_exact = node.key == "words" and not is_starred(node.value)
        return node.value if is_bare_value(node.value) and not (is_coin or is_exact) else _quoted(node.value)

    def _negated(self, node: Node) -> str:
        if isinstance(node, Condition):
            return f"-{self._one(node)}"
        if isinstance(node, Phrase):
            return f"{'NOT ' if self._dialect == 'question' else '-'}{self._one(node)}"
        is_plain = (
            isinstance(node, Word)
            and node.text not in _OPERATOR_WORDS
            and node.text[0] not in "0123456789+-−–)"
        )
        if isinstance(node, Word) and is_plain and (self._dialect == "filter" or is_starred(node.text)):
            return f"-{node.text}"
        return f"-{self._group(node)}"


def _needs_end(node: Node) -> bool:
    return isinstance(node, MarkedPart) and node.source == "text" and not (node.is_quoted or node.is_close)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', "'") + '"'


def _marked_part(part: MarkedPart) -> str:
    weight = "" if part.weight is None else f"{Decimal(str(part.weight)).normalize():f} × "
    facets = f"{','.join(part.facets)}:" if part.facets else ""
    if part.source != "text":
        text = f"{part.source}{':' if part.text else ''}{part.text}"
    elif part.is_quoted:
        text = _quoted(part.text)
    else:
        text = f" {part.text}" if part.facets else part.text
    sign = f"{part.sign} " if part.sign and not part.is_close else part.sign.replace("−", "-")
    return f"{sign}{weight}{facets}{text}"
