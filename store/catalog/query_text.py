"""Format a tree of query_grammar.py as a line that parses to the same tree."""

from collections.abc import Sequence
from decimal import Decimal

from store.catalog.query_grammar import (
    AllOf,
    AnyOf,
    Condition,
    MarkedPart,
    Node,
    Not,
    Phrase,
    Word,
    parse,
)
from store.catalog.query_tokens import Dialect, is_bare_value, is_starred

_OPERATORS = ("OR", "AND", "NOT")


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
        inner = self._choice(node) if isinstance(node, AnyOf) else self._all(_items(node))
        return f"({inner})" if isinstance(node, AnyOf) else f"({inner};)"

    def _one(self, node: Node) -> str:
        if isinstance(node, Word):
            return node.text
        if isinstance(node, Phrase):
            return _quoted(node.text)
        if isinstance(node, Condition):
            return f"{node.key}:{self._value(node)}"
        if isinstance(node, MarkedPart):
            return _part(node)
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
            isinstance(node, Word) and node.text not in _OPERATORS and node.text[0] not in "0123456789+-−–)"
        )
        if isinstance(node, Word) and is_plain and (self._dialect == "filter" or is_starred(node.text)):
            return f"-{node.text}"
        return f"-{self._group(node)}"


def _items(node: Node) -> tuple[Node, ...]:
    return node.items if isinstance(node, AllOf | AnyOf) else (node,)


def _needs_end(node: Node) -> bool:
    return isinstance(node, MarkedPart) and node.source == "text" and not (node.is_quoted or node.is_close)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', "'") + '"'


def _part(part: MarkedPart) -> str:
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
