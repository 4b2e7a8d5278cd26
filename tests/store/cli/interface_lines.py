"""The verbs of the command line as lines of text, for a comparison."""

from collections.abc import Iterator
from enum import Enum
from typing import Any

from typer.core import TyperArgument, TyperGroup, TyperOption
from typer.main import get_command

from store.cli.verbs import app

COMMON = {"--root", "--actor", "--json", "--help"}


def verbs(group: Any = None, before: str = "") -> Iterator[tuple[str, Any]]:
    """Every verb, also of the text memory, by its whole name."""
    group = group or get_command(app)
    for name in group.list_commands(None):
        verb = group.get_command(None, name)
        yield f"{before}{name}", verb
        if isinstance(verb, TyperGroup):
            yield from verbs(verb, f"{before}{name} ")


def help_lines() -> list[str]:
    """A line for each verb and each of its arguments; verbs and options in alphabetical order."""
    lines, every = [], list(verbs())
    for name, verb in sorted(every, key=lambda one: f"{one[0]}:"):
        if verb.hidden:  # a second name
            continue
        same = [other for other, one in every if one.hidden and _function(one) is _function(verb)]
        also = f" ({', '.join(same)})" if same else ""
        lines.append(f"{name}{also}: {_sentence(verb.help)}")
        lines += [_line(one) for one in verb.params if isinstance(one, TyperArgument)]
        options = [one for one in verb.params if isinstance(one, TyperOption)]
        lines += sorted(_line(one) for one in options if not COMMON & set(one.opts))
    return lines


def _function(verb: Any) -> Any:
    return getattr(verb.callback, "__wrapped__", verb.callback)


def _line(one: TyperArgument | TyperOption) -> str:
    kept = one.type_descriptor.choices
    several = isinstance(one, TyperOption) and one.multiple
    if isinstance(one, TyperOption):
        mark = "" if one.is_flag else "=" * one.nargs
        name = "/".join(one.opts) + mark + ("…" if several else "")
        name += " (required)" if one.required else ""
    else:
        count = ("+" if one.required else "*") if one.nargs == -1 else "" if one.required else "?"
        name = f"{one.name.upper() if kept else one.metavar}{count}"
    choices = f" {'|'.join(str(getattr(choice, 'value', choice)) for choice in kept)}" if kept else ""
    value = one.default.value if isinstance(one.default, Enum) else one.default
    default = f" [{value}]" if value not in (None, "", [], False, True, 0) else ""
    default = "" if not isinstance(one, TyperOption) else default
    return f"  {name}{choices}{default}: {_sentence(one.help)}".rstrip(": ")


def _sentence(text: str | None) -> str:
    """The text on one line, without the capital and the full stop of a docstring."""
    line = " ".join((text or "").split())
    return (line if line[1:2].isupper() else line[:1].lower() + line[1:]).removesuffix(".")
