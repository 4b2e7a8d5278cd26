"""How a verb is declared: a function whose types, defaults and docstring are its arguments and its help.

    @verb("approve")
    def approve(call: Call, addresses: Addresses) -> int:
        \"""From review (pending) to approved.\"""

The first parameter is the command as it runs (`call.py`), what is returned the exit status. Every verb takes
--root, --actor and --json; the first two may also come before it.
"""

import inspect
import re
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer import Argument, Option
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from store import __version__
from store.cli.call import Call, Common, carry_out
from store.search.query import MAX_TOP

Function = Callable[..., int]

_EPILOG = (
    "Exit status: 0 done, 1 some were refused, 2 wrong usage, 3 the library is in use by another process."
)
_DAY = 86_400
_LONGEST_NAME = 256  # characters; the longest address of a mail has 254
_BRACES = str.maketrans("", "", "{}")  # in which typer puts what has to be given
_SHOWN = 30  # characters of a wrong number
_NO_OPTION = re.compile(r"[^-]|-?$|-\d+$|-\d*\.\d+$|(?s:.* )")  # a negative number, or anything with a blank


# -- values of options ------------------------------------------------------------------------------------


def typed_path(text: str) -> Path:
    """A typed path. Refuses an empty one, as from an unset variable, which would mean the current folder.

    Raises BadParameter if it is empty.
    """
    if not text.strip():
        raise typer.BadParameter("an empty text is no path")
    return Path(text)


def person(text: str) -> str:
    """Who decides. Raises BadParameter above `_LONGEST_NAME`."""
    if len(text) > _LONGEST_NAME:
        raise typer.BadParameter(f"a person's name has at most {_LONGEST_NAME} characters")
    return text


def whole(given: str | int, *, most: int = 999_999_999) -> int:
    """A whole number from 1 to `most`. Raises BadParameter for anything else."""
    text = str(given)
    number = int(text) if text.isdecimal() and len(text) <= len(str(most)) else 0
    if not 1 <= number <= most:
        shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
        raise typer.BadParameter(f"{shown!r} is not a whole number from 1 to {most:,}")
    return number


def top(given: str | int) -> int:
    """How many hits or examples, at most `MAX_TOP`. Raises BadParameter for anything else."""
    return whole(given, most=MAX_TOP)


def port(given: str | int) -> int:
    """The number of a network port. Raises BadParameter for anything else."""
    return whole(given, most=65_535)


def first_second(text: str) -> int:
    """The first second (UNIX time) of a day such as 2025-01-31 (UTC). Raises BadParameter if it is no day."""
    try:
        return int(datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC).timestamp())
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a date such as 2025-01-31") from None


def last_second(text: str) -> int:
    """The last second (UNIX time) of a day such as 2025-01-31 (UTC). Raises BadParameter if it is no day."""
    return first_second(text) + _DAY - 1


def words_of(text: str) -> list[str]:
    """The words between commas, without blanks around them."""
    return [word.strip() for word in text.split(",") if word.strip()]


# -- arguments that several verbs have --------------------------------------------------------------------

# An option whose metavar ends in "…" takes every word up to the next option.
Addresses = Annotated[list[str], Argument(metavar="ADDRESS")]
AnyAddresses = Annotated[list[str] | None, Argument(metavar="ADDRESS")]
Address = Annotated[str, Argument(metavar="ADDRESS")]
Only = Annotated[list[str] | None, Option(metavar="ADDRESS…", help="these coins alone")]
Paths = Annotated[list[Path], Argument(metavar="PATH", parser=typed_path)]
Number = Annotated[int, Argument(metavar="N", parser=whole, help="how many (1)")]
Model = Annotated[str, Option(metavar="M", help="by its litellm name (MEMEDEX_CAPTION_MODEL)")]
CaptionFacet = Literal["entity", "context", "visual", "emotions"]
Yes = Annotated[bool, Option("--yes", help="really delete them: it cannot be undone")]
Repair = Annotated[bool, Option("--repair", help="repair what can be repaired, losing nothing")]

_Root = Annotated[
    Path | None,
    Option("--root", metavar="DIR", parser=typed_path, help="holds memecoins/ (MEMEDEX_ROOT, else res)"),
]
_Actor = Annotated[
    str | None,
    Option("--actor", metavar="NAME", parser=person, help="who decides (MEMEDEX_USER, else your login)"),
]
_Json = Annotated[bool, Option("--json", help="answer in JSON on standard output")]


# -- the program ------------------------------------------------------------------------------------------


class _Verb(TyperCommand):
    """A verb as people type it; its help has neither types nor defaults, which the sentences say."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, args if ctx.resilient_parsing else self._in_order(args))

    def _in_order(self, words: list[str]) -> list[str]:
        """The options with their values, then `--` and the rest.

        `-moon "frog"`, which has a blank, is a line and no option; `--only A B` is `--only A --only B`.
        """
        options = {name: one for one in self.params if isinstance(one, TyperOption) for name in one.opts}
        left, ordered, rest = list(words), list[str](), list[str]()
        while left and (word := left.pop(0)) != "--":
            name, has_value, _ = word.partition("=")
            if (option := options.get(name)) is None and _NO_OPTION.match(word):
                rest.append(word)
                continue
            count = 0 if option is None or option.is_flag or has_value else option.nargs
            ordered += [word, *left[:count]]
            del left[:count]
            takes_more = count and option is not None and (option.metavar or "").endswith("…")
            while takes_more and left and _NO_OPTION.match(left[0]):
                ordered += [name, left.pop(0)]
        return [*ordered, "--", *rest, *left]

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [piece.translate(_BRACES) for piece in super().collect_usage_pieces(ctx)]

    def get_short_help_str(self, limit: int = 0) -> str:
        return self.short_help or self.help or ""  # whole

    def format_options(self, ctx: Any, formatter: Any) -> None:
        _write_arguments(self, ctx, formatter)


class Verbs(TyperGroup):
    """Verbs in the order of their declaration."""

    def get_short_help_str(self, limit: int = 0) -> str:
        return self.help or ""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        _write_arguments(self, ctx, formatter)
        self.format_commands(ctx, formatter)


def _write_arguments(verb: TyperCommand | TyperGroup, ctx: Any, formatter: Any) -> None:
    arguments, options = [], []
    for one in verb.get_params(ctx):
        if isinstance(one, TyperArgument):
            arguments.append((one.get_usage_pieces(ctx)[0].translate(_BRACES), one.help or ""))
        elif isinstance(one, TyperOption):
            one.show_default = False
            if row := one.get_help_record(ctx):
                options.append(row)
    for title, rows in (("Arguments", arguments), ("Options", options)):
        if rows:
            with formatter.section(title):
                formatter.write_dl(rows)


def program() -> str:
    """The name under which this command line was called."""
    return "memedex" if Path(sys.argv[0]).stem == "memedex" else "python -m store"


def group(cls: type[TyperGroup] = Verbs, **options: Any) -> typer.Typer:
    """Verbs that belong together; nothing of theirs is drawn by rich, which takes long to import."""
    return typer.Typer(
        cls=cls,
        subcommand_metavar="VERB …",
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["--help", "-h"]},
        **options,
    )


app = group(epilog=_EPILOG, add_completion=program() == "memedex")


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        typer.echo(f"Memedex {__version__}")
        raise typer.Exit


@app.callback()
def _library(
    context: typer.Context,
    root: _Root = None,
    actor: _Actor = None,
    version: Annotated[
        bool, Option("--version", is_eager=True, callback=_print_version, help="Show the version and exit.")
    ] = False,
) -> None:
    """A library of memecoins: import, review, caption, search, export."""
    context.obj = Common(root, actor)


def chapter(name: str, about: str, *, cls: type[TyperGroup] = Verbs) -> typer.Typer:
    """The verbs behind a word, such as `rules list`; what every verb takes may come before them as well."""

    def common(context: typer.Context, root: _Root = None, actor: _Actor = None, json: _Json = False) -> None:
        context.obj = Common(root, actor, json).over(context.obj)

    return group(cls, name=name, help=about, callback=common)


def verb(*names: str, of: typer.Typer = app) -> Callable[[Function], Function]:
    """Declare a function as the verb of the first name, which the others mean as well."""

    def declare(function: Function) -> Function:
        _, *own = inspect.signature(function).parameters.values()

        def run(ctx: typer.Context, root: Any, actor: Any, json: Any, **given: Any) -> None:
            common = Common(root, actor, json).over(ctx.obj)
            called = names[0] if of is app else str(of.info.name)
            raise typer.Exit(carry_out(partial(function, **given), Call(ctx, called, common)))

        run.__doc__ = function.__doc__
        run.__annotations__ = {}
        run.__signature__ = inspect.Signature([_CONTEXT, *own, *_COMMON])  # type: ignore[attr-defined]
        first, *others = names
        also = f"{function.__doc__} Also `{'`, `'.join(others)}`." if others else None
        of.command(first, cls=_Verb, epilog=_EPILOG, short_help=also)(run)
        for name in others:
            of.command(name, cls=_Verb, epilog=_EPILOG, hidden=True)(run)
        return function

    return declare


_CONTEXT = inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
_COMMON = [
    inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
    for name, annotation, default in (("root", _Root, None), ("actor", _Actor, None), ("json", _Json, False))
]
