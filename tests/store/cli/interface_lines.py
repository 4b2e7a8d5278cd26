"""The verbs of the command line as lines of text, for a comparison."""

import argparse
from collections.abc import Iterator

from store.cli.arguments import parser

COMMON = {"--root", "--actor", "--json", "--help"}


def help_lines() -> list[str]:
    """A line for each verb and each of its arguments; verbs and options in alphabetical order."""
    return [line for verb in sorted(_of(parser(), "")) for line in verb]


def _of(whole: argparse.ArgumentParser, before: str) -> Iterator[list[str]]:
    (verbs,) = (one for one in whole._actions if isinstance(one, argparse._SubParsersAction))
    helps = {one.dest: one.help for one in verbs._choices_actions}
    seen: dict[int, list[str]] = {}
    for name, verb in verbs.choices.items():
        seen.setdefault(id(verb), []).append(name)
    for name, verb in verbs.choices.items():
        if seen[id(verb)][0] != name:
            continue
        aliases = f" ({', '.join(seen[id(verb)][1:])})" if len(seen[id(verb)]) > 1 else ""
        sentence = helps.get(name, (verb.description or "").partition(": ")[2])
        lines = [f"{before}{name}{aliases}: {_sentence(sentence)}{'' if name in helps else ' (not listed)'}"]
        options = []
        nested = False
        for action in verb._actions:
            if isinstance(action, argparse._SubParsersAction):
                nested = True
            elif not COMMON & set(action.option_strings):
                (options if action.option_strings else lines).append(_line(action))
        yield lines + sorted(options)
        if nested:
            yield from _of(verb, f"{before}{name} ")


def _line(action: argparse.Action) -> str:
    several = isinstance(action, argparse._AppendAction) or (action.option_strings and action.nargs == "+")
    if action.option_strings:
        mark = "" if action.nargs == 0 else "=" * (action.nargs if isinstance(action.nargs, int) else 1)
        name = "/".join(action.option_strings) + mark + ("…" if several else "")
        name += " (required)" if action.required else ""
    else:
        count = {None: "", "...": "*"}.get(action.nargs, action.nargs)
        name = f"{action.metavar or action.dest.upper()}{count}"
    choices = f" {'|'.join(map(str, action.choices))}" if action.choices else ""
    default = f" [{action.default}]" if action.default not in (None, "", [], False, True, 0) else ""
    return f"  {name}{choices}{default}: {_sentence(action.help)}".rstrip(": ")


def _sentence(text: str | None) -> str:
    """The text on one line, without the capital and the full stop of a docstring."""
    line = " ".join((text or "").replace("%%", "%").split())
    return (line if line[:2].isupper() else line[:1].lower() + line[1:]).removesuffix(".")
