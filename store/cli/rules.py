"""Verbs for rules about coins, `rules VERB …`; for what is known of one (`check`), and what is published."""

from contextlib import suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from store.catalog import filter_syntax
from store.catalog.filters import Filter
from store.cli.call import Call, as_json
from store.cli.jobs import follow
from store.cli.terminal import local_time, plain
from store.cli.verbs import app, chapter, typed_path, words_of
from store.cli.verbs import verb as declare
from store.errors import BadSource, InvalidRecord
from store.outcome import Refusal
from store.reading.reader import Reader
from store.rules import copilot, families, keeping, running, waves
from store.rules import rule as values
from store.rules.preview import DAYS, Preview
from store.rules.preview import preview as previewed
from store.rules.rule import COMPARISONS, Act, Comparison, Level, Rule
from store.runtime import LibraryRuntime

_NAMED = 20  # coins that a preview names
_OTHER = f"what a coin that looks like it must be: {', '.join(COMPARISONS[1:])}"
Name = Annotated[str, Argument(metavar="NAME")]


rule_verbs = chapter("rules", "Rules that decide about many coins.")
app.add_typer(rule_verbs)
verb = partial(declare, of=rule_verbs)


@verb("list")
def list_rules(call: Call) -> int:
    """List the rules."""
    with call.reading() as reader:
        found = list(reader.rules.all().values())
    return call.listed(
        [values.plain(one) for one in found],
        ("NAME", "LEVEL", "PRIORITY", "SAVED BY", "RULE"),
        [
            (one.name, one.level, str(one.priority), one.saved_by, f"{one.sentence} {one.told}".strip())
            for one in found
        ],
        empty="no rules yet; `rules add` saves one",
    )


@verb("add")
def add(
    call: Call,
    name: Name,
    do: Annotated[Act, Option(help="what it does with each coin")],
    when: Annotated[
        str, Option(metavar="LINE", help="filter of the coins, in review unless tier: says so")
    ] = "",
    other: Annotated[Comparison, Option(metavar="HOW", help=_OTHER)] = "",
    sure: Annotated[
        float, Option(metavar="0…1", help="how sure it is that the two are one coin or a copy (0.9)")
    ] = 0.9,
    reason: Annotated[str, Option(metavar="TEXT", help="of a rejection")] = "",
    tags: Annotated[str, Option(metavar="A,B", help="to add")] = "",
    level: Annotated[Level, Option(help="how far it may go (shown)")] = "shown",
    priority: Annotated[
        int, Option(metavar="N", help="where rules meet, the higher one has the coin (0)")
    ] = 0,
    leave: Annotated[str, Option("--except", metavar="A,B", help="addresses that it leaves alone")] = "",
    promise: Annotated[
        float, Option(metavar="0…1", help="the agreement with people below which it is only shown (0.95)")
    ] = 0.95,
) -> int:
    """Save a rule under a name, in place of one that has it."""
    rule = values.checked(
        {
            "name": name, "do": do, "when": when, "other": other, "sure": sure, "reason": reason,
            "tags": words_of(tags), "level": level, "priority": priority, "exceptions": words_of(leave),
            "promise": promise,
        }
    )  # fmt: skip
    with call.writing() as library:
        saved = running.save(library, rule, actor=call.actor)
    return call.answered(values.plain(saved), [f"{saved.name}: {saved.sentence}"])


@verb("preview")
def preview(
    call: Call,
    name: Name,
    days: Annotated[int, Option(metavar="N", help=f"of people's decisions ({DAYS})")] = DAYS,
) -> int:
    """What a rule would do now, and would have done beside what people decided."""
    with call.reading() as reader:
        return shown(call, reader, running.get(reader, name), days=days)


def shown(call: Call, reader: Reader, rule: Rule, *, days: int) -> int:
    """Answer with the preview of a rule."""
    found = previewed(reader, rule, days=days)
    named = [
        *(match.address for match in found.matches[:_NAMED]),
        *(case.address for case in found.contradictions[:_NAMED]),
    ]
    names = {record.address: record.name for record in reader.records(named)}
    gains = _gains(reader, found) if rule.do == "keep" else {}
    return call.answered(_as_json(found), [plain(row) for row in _rows(found, names, gains)])


def _gains(reader: Reader, shown: Preview) -> dict[str, str]:
    """What each kept coin would get of those that it is kept in place of, by its address."""
    return {
        match.address: f", gets {gain}"
        for match in shown.matches[:_NAMED]
        if (gain := keeping.gain_in_words(reader.get(match.address), reader.records(match.others)))
    }


def _rows(shown: Preview, names: dict[str, str], gains: dict[str, str]) -> list[str]:
    rows = [shown.rule.sentence, f"now: {_coins(len(shown.matches))}"]
    rows += [
        f"{f'{match.do} ' if match.do else ''}{match.address} {names.get(match.address, '')}"
        f"{gains.get(match.address, '')}"
        for match in shown.matches[:_NAMED]
    ]
    for met in shown.meetings:
        what = "contradicts it" if met.is_contrary else "does the same"
        whose = (
            f"{met.rule} has them"
            if met.goes_first
            else "people have them"
            if met.is_open
            else "this one has them"
        )
        rows.append(f"meets {met.rule} at {_coins(len(met.coins))}, and {what}: {whose}")
    rows.append(shown.sentence)
    rows += [
        f"{case.said} by {case.actor}: {case.address} {names.get(case.address, '')}"
        for case in shown.contradictions[:_NAMED]
    ]
    return [*rows, *shown.limits]


def _coins(count: int) -> str:
    return "1 coin" if count == 1 else f"{count:,} coins"


def _as_json(shown: Preview) -> dict[str, Any]:
    def cases(found: Any) -> list[dict[str, Any]]:
        return [
            {"token_address": one.address, "said": one.said, "who": one.actor, "at": one.at} for one in found
        ]

    return {
        "rule": values.plain(shown.rule),
        "now": [
            {"token_address": one.address, "others": list(one.others), "do": one.do or shown.rule.do}
            for one in shown.matches
        ],
        "meets": [
            {"rule": one.rule, "coins": list(one.coins), "contrary": one.is_contrary, "first": one.goes_first}
            for one in shown.meetings
        ],
        "days": shown.days,
        "decisions": shown.decisions,
        "agreement": shown.agreement,
        "agreements": cases(shown.agreements),
        "contradictions": cases(shown.contradictions),
        "limits": list(shown.limits),
    }


@verb("run")
def run(
    call: Call,
    name: Annotated[
        str | None, Argument(metavar="NAME", help="without one: all that act by themselves")
    ] = None,
) -> int:
    """Do what a rule says with every coin that it means now."""
    with call.writing() as library:
        if name is not None:
            return started(library, running.get(library, name), call)
        look(library, call)
        call.watch(lambda progress: copilot.keep_up(library, progress=progress))
        count = running.run_by_themselves(library)
        own = {rule.actor for rule in library.rules.all().values()}
        jobs = [job for job in library.jobs.under_way() if job.actor in own]
        call.say(f"rules act by themselves on {_coins(count)}")
        return max((follow(library, job, call) for job in jobs), default=0)


def look(library: LibraryRuntime, call: Call) -> None:
    """Look at coins that are new, as a dashboard does in the background, before rules mean them."""
    if copilot.its_rule(library):
        call.watch(lambda progress: library.embed_new(progress=progress))
        call.watch(lambda progress: library.picture_faults.look(progress=progress))
    call.watch(lambda progress: library.duplicates.examine(progress=progress))


def started(library: LibraryRuntime, rule: Rule, call: Call) -> int:
    """Run a rule to its end."""
    look(library, call)
    if rule.do == "judge":
        call.watch(lambda progress: copilot.keep_up(library, progress=progress))
    job = running.start(library, rule.name, actor=call.actor)
    if job is None:
        call.say(f"the rule {rule.name} means no coin now")
        return 0
    return follow(library, job, call)


@verb("export")
def export(
    call: Call,
    file: Annotated[
        Path | None, Argument(metavar="FILE", parser=typed_path, help="else standard output")
    ] = None,
) -> int:
    """Write all rules as YAML."""
    with call.reading() as reader:
        text = values.as_yaml(reader.rules.all().values())
    if file is None:
        call.answer(text.rstrip())
        return 0
    file.write_text(text, encoding="utf-8", newline="")
    call.say(f"rules written to {file}")
    return 0


@verb("import")
def import_rules(call: Call, file: Annotated[Path, Argument(metavar="FILE", parser=typed_path)]) -> int:
    """Take rules from YAML; those of the same name are replaced."""
    refused, saved = [], []
    try:
        found = values.from_yaml(file.read_text("utf-8"))
    except UnicodeDecodeError as error:
        raise BadSource(f"{file} is not a text in UTF-8") from error
    except BadSource as error:
        raise BadSource(f"{file}: {error}") from error
    with call.writing() as library:
        for one in found:
            if isinstance(one, InvalidRecord):
                refused.append(Refusal(file.name, str(one)))
            else:
                saved.append(running.save(library, one, actor=call.actor).name)
    if call.json:
        call.answer_json({"saved": saved, "refused": [refusal.reason for refusal in refused]})
    call.say(f"rules saved: {', '.join(saved) or 'none'}")
    return call.named(refused)


@verb("delete")
def delete(call: Call, name: Name) -> int:
    """Delete a rule; what it decided stays."""
    with call.writing() as library:
        running.get(library, name)
        library.rules.delete(name, actor=call.actor)
    call.say(f"the rule {name} is deleted; Activity can restore it")
    return 0


def _picture(asked: str) -> bytes | None:
    """The content of a file; None for what is no path of a picture."""
    path = Path(asked)
    is_path = path.suffix.lower() in (".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".avif", ".svg")
    with suppress(OSError, ValueError):  # a name may be longer than a path
        is_path |= path.is_file()
    return path.read_bytes() if is_path else None


@declare("check")
def check(
    call: Call,
    asked: Annotated[str, Argument(metavar="ADDRESS|TICKER|NAME|PICTURE", help="a picture by its path")],
) -> int:
    """What is known of a coin: copy of which, and what was decided."""
    with call.reading() as reader:
        content = _picture(asked)
        found = families.check_picture(reader, content) if content else families.check(reader, asked)
    if not found:
        call.say("nothing like it is known")
    return call.answered(
        [families.as_json(one) for one in found],
        [f"{one.member.name} ({one.member.ticker}) {one.member.address}: {one.sentence}" for one in found],
    )


@declare("waves")
def show_waves(
    call: Call,
    reject: Annotated[
        str, Option(metavar="ADDRESS", help="the wave like this coin: reject it, as one decision")
    ] = "",
    leave: Annotated[str, Option("--except", metavar="A,B", help="addresses that are left")] = "",
) -> int:
    """List coins of one family that arrived in review within an hour, or reject them."""
    if not reject:
        with call.reading() as reader:
            found = waves.find(reader)
        return call.listed(
            [asdict(one) for one in found],
            ("LIKE", "COINS", "SINCE", "NAME"),
            [(one.of, f"{len(one.coins):,}", local_time(one.since), one.name) for one in found],
            empty="no wave waits for review",
        )
    with call.writing() as library:
        call.watch(lambda progress: library.duplicates.examine(progress=progress))
        wave = next((one for one in waves.find(library) if one.of == reject), None)
        if wave is None:
            call.fail(f"no wave like {reject} waits; `waves` lists them")
        return follow(library, waves.settle(library, wave, leave=words_of(leave), actor=call.actor), call)


@declare("publish")
def publish(
    call: Call,
    folder: Annotated[Path, Argument(metavar="FOLDER", parser=typed_path)],
    line: Annotated[str, Argument(metavar="LINE", help="only coins that it finds")] = "",
    name: Annotated[str, Option(metavar="TEXT", help="of the list (Memedex)")] = "Memedex",
    key: Annotated[
        Path | None,
        Option(metavar="FILE", parser=typed_path, help="an Ed25519 private key (publishing-key.pem)"),
    ] = None,
) -> int:
    """Publish approved coins as a signed Token List, and why others were rejected."""
    from store.rules import publishing  # cryptography comes along

    asked = filter_syntax.parsed(line, base=Filter(tier="approved"))
    if asked.faults:
        call.fail(asked.faults[0])
    with call.reading() as reader:
        done = call.watch(
            lambda progress: publishing.publish(
                reader, folder, key=key, filter=asked.filter, name=name, progress=progress
            )
        )
    if call.json:
        call.answer_json(
            {
                "version": done.version, "tokens": done.tokens, "rejected": done.sheets, "key": done.key,
                "refused": as_json(done.refused),
            }
        )  # fmt: skip
    call.say(
        f"published {done.tokens:,} coins as version {done.version}, and why {done.sheets:,} were rejected"
    )
    call.say(f"signed by {done.key}")
    return call.named(done.refused)


@declare("verify")
def verify(
    call: Call,
    folder: Annotated[Path, Argument(metavar="FOLDER", parser=typed_path)],
    key: Annotated[str, Option(metavar="KEY", help="the public key that must have signed it")] = "",
) -> int:
    """Check that a published folder is as it was signed."""
    from store.rules import publishing  # cryptography comes along

    found = publishing.verify(folder, expected=key)
    if call.json:
        call.answer_json({"key": found.key, "at": found.at, "files": found.files, "faults": found.faults})
    for fault in found.faults:
        call.say(fault)
    if not found.faults:
        known = "" if key else "; compare it with the key that you know"
        call.say(f"{found.files:,} files are as {found.key} signed them at {found.at}{known}")
    return int(bool(found.faults))
