"""Split a typed line into tokens; a misplaced one becomes a word, or is completed.

Lines that only filter have fewer operators than queries: there, `2 × "frog" + dog` are words.
"""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from store.records import FACETS

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
_KEY = r"[a-z]+:(?!//)"  # an address of the web is a word
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
    # A sign stands before something marked, between spaces, or right before a word, where "-" is no hyphen.
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
            stands = before is not None and before.kind in _ENDS and following.kind in _BEGINS
            # Between plain words of a question it is one of them, as these are asked and filter nothing.
            joins = (dialect == "filter" and token.kind == "_OR") or following.filters
            if not stands or not (joins or (before is not None and before.filters)):
                tokens.append(token._replace(kind="WORD"))
            elif token.kind == "_OR":
                tokens.append(token)
        elif token.kind == "_END":
            if last not in ("", "_LPAR", "_OR", "_NOT", "_END"):
                tokens.append(token)
        elif token.kind != "CLOSE_SIGN" or following.kind in ("WORD", "_OR", "_AND"):
            tokens.append(token)
    return tokens
