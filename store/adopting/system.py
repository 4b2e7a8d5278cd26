"""The interface of every system whose data can be adopted."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from store.adopting.report import AdoptionReport
from store.adopting.survey import DataSurvey
from store.progress import Progress

if TYPE_CHECKING:
    from store.library import Library
    from store.memory.memory import Memory


@dataclass(frozen=True, slots=True)
class AdoptionRequest:
    """What a person decided about one adoption."""

    decision: str  # the id of the library's decision; the same when an interrupted adoption continues
    actor: str = ""
    vectors: str = ""  # the model that the vectors are of; "" leaves vectors of unnamed models out


class _Recognising(Protocol):
    @property
    def name(self) -> str:
        """A short name that never changes, as `--as` takes it."""

    @property
    def title(self) -> str:
        """The name for people."""

    def recognise(self, path: Path) -> DataSurvey | None:
        """What is there, if it is this system's; reads only. None for all other content, damaged files too.

        Damaged data of this system is a survey with refusals.
        """


class LibrarySystem(_Recognising, Protocol):
    """A system whose coins go into the library."""

    def adopt(
        self, library: "Library", survey: DataSurvey, request: AdoptionRequest, progress: Progress
    ) -> AdoptionReport:
        """Take it over as part of one decision; what is there already stays, so that it can be repeated.

        Once `progress.cancelled` is set, it ends before the next batch, with what was done so far.
        """


class MemorySystem(_Recognising, Protocol):
    """A system whose texts go into the text memory."""

    def adopt(
        self, memory: "Memory", survey: DataSurvey, request: AdoptionRequest, progress: Progress
    ) -> AdoptionReport:
        """Take it over as part of one decision; what is there already stays, so that it can be repeated.

        The decision ends with `taking.finish`; until then the same source goes on with it.
        """
