"""Commands that import from outside: logos from the network, the watched folder."""

import time
from argparse import Namespace
from pathlib import Path

from store.cli.jobs import watched, what_is_left
from store.cli.open_library import making
from store.cli.output import as_json, named, report_import
from store.cli.terminal import Terminal
from store.importing import candidates
from store.importing.candidate import RemoteLogo
from store.jobs import Job
from store.library import Library
from store.outcome import ImportReport, Refusal
from store.progress import Progress
from store.settings import settings
from store.tasks.inbox import EVERY, Inbox


def fetch_logos(arguments: Namespace, terminal: Terminal) -> int:
    """Download the logos that lists name, or continue an earlier download."""
    with making(arguments, terminal) as library:
        if arguments.paths:
            refused, job = _begun(library, arguments)
        else:
            refused, job = [], _left(library)
        done = watched(library, job, terminal) if job else None
        if done:
            refused += [
                Refusal(item.key, item.reason)
                for item in library.jobs.items(done.id, state="refused", limit=done.total)
            ]
    fetched = done.done if done else 0
    terminal.say(f"fetched {fetched:,}, refused {len(refused):,}" if job else "there is nothing to fetch")
    if arguments.json:
        terminal.answer_json({"fetched": fetched, "refused": as_json(refused)})
    for line in what_is_left(done) if done else []:
        terminal.say(line)
    return max(named(refused, terminal), bool(done and done.error))


def inbox(arguments: Namespace, terminal: Terminal) -> int:
    """Import what is in the folder and not still being copied; for cron."""
    folder: Path | None = arguments.folder or settings().inbox
    if folder is None:
        arguments.parser.error("set MEMEDEX_INBOX, or give --folder")
    assert folder is not None

    def work(progress: Progress) -> ImportReport:
        watched = Inbox(library, folder)
        watched.scan(progress=progress)
        time.sleep(EVERY)  # what is still being copied grows meanwhile
        return watched.scan(progress=progress)

    with making(arguments, terminal) as library:
        report = terminal.watch(work)
    return report_import(report, arguments, terminal)


def _begun(library: Library, arguments: Namespace) -> tuple[list[Refusal], Job | None]:
    from store.tasks.fetch_logos import start

    found = list(candidates(arguments.paths))
    logos = [one for one in found if isinstance(one, RemoteLogo)]
    refused = [one for one in found if type(one) is Refusal]
    name = f"Fetch logos of {arguments.paths[0].name}"
    return refused, start(library, logos, name=name, actor=arguments.actor or "")


def _left(library: Library) -> Job | None:
    for job in library.jobs.all():
        if job.kind == "logos" and (job.can_resume or job.refused):
            if job.can_resume:
                library.jobs.resume(job.id)
            else:
                library.jobs.try_again(job.id)
            return job
    return None
