"""Pausing and stopping jobs from a page's script.

Both may be sent again: a job that rests already, or has ended, stays as it is.
"""

from dataclasses import dataclass
from typing import Literal

from components.shell.messages import Kind, RowNumber, Sender
from store.library import Library


@dataclass(frozen=True, slots=True)
class JobOrder:
    """What is to become of a job."""

    job: RowNumber
    verb: Literal["pause", "stop"]


def answer(library: Library, order: JobOrder, _: Sender) -> dict[str, str]:
    """Pause or stop the job. Raises UnknownJob if there is none to pause."""
    if order.verb == "pause":
        library.jobs.pause(order.job)
    else:
        library.jobs.cancel(order.job)
    return {}


KIND = Kind("job", JobOrder, answer, writes=True)
