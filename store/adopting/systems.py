"""All systems that are recognised, in the order in which they are asked."""

from collections.abc import Iterable
from pathlib import Path

from store.adopting import texts
from store.adopting.chroma_texts import ChromaTexts
from store.adopting.coins import CaptionedPictures, ClassFolders, Tables, TokenLists
from store.adopting.conversations import Conversations
from store.adopting.documents import DocumentRows
from store.adopting.memory_files import MemoryFiles
from store.adopting.system import AdoptionReport, AdoptionRequest, DataSurvey, LibrarySystem, MemorySystem
from store.adopting.three_tiers import ThreeTierLibrary
from store.adopting.transcripts import TranscriptDatabases
from store.errors import BadSource
from store.memory.memory import Memory
from store.progress import Progress

LIBRARY_SYSTEMS: tuple[LibrarySystem, ...] = (
    ThreeTierLibrary(),
    TokenLists(),
    Tables(),
    CaptionedPictures(),
    ClassFolders(),
)
MEMORY_SYSTEMS: tuple[MemorySystem, ...] = (
    ChromaTexts(),
    DocumentRows(),
    MemoryFiles(),
    TranscriptDatabases(),
    Conversations(),
)


def recognise(path: Path, *, system: str = "") -> list[DataSurvey]:
    """What is at this path: coins by the first system that knows them, texts by each; or by the named one.

    Raises BadSource if there is no such path, or no system of that name.
    """
    if not path.exists():
        raise BadSource(f"there is nothing at {path}")
    candidates = [one for one in (*LIBRARY_SYSTEMS, *MEMORY_SYSTEMS) if system in ("", one.name)]
    if not candidates:
        raise BadSource(f"no system is called {system!r}; known are {', '.join(names())}")
    found = [survey for one in candidates if one in MEMORY_SYSTEMS and (survey := one.recognise(path))]
    coins = (survey for one in candidates if one in LIBRARY_SYSTEMS and (survey := one.recognise(path)))
    first = None if found and path.is_file() else next(coins, None)
    return [*([first] if first else []), *found]


def adopt_texts(
    memory: Memory, surveys: Iterable[DataSurvey], request: AdoptionRequest, progress: Progress
) -> AdoptionReport:
    """Take over the texts of all systems that were found at one place, as one decision.

    Raises BadSource if a survey has no texts.
    """
    report = AdoptionReport()
    for survey in surveys:
        system = memory_system(survey.system)
        if system is None:
            raise BadSource(f"{survey.title} has nothing for the text memory")
        if not progress.cancelled:
            report.add(system.adopt(memory, survey, request, progress))
    if not progress.cancelled:
        texts.finish(memory)
    return report


def names() -> list[str]:
    """The names of all systems."""
    return [one.name for one in (*LIBRARY_SYSTEMS, *MEMORY_SYSTEMS)]


def library_system(name: str) -> LibrarySystem | None:
    """The system of this name, if its data goes into the library."""
    return next((one for one in LIBRARY_SYSTEMS if one.name == name), None)


def memory_system(name: str) -> MemorySystem | None:
    """The system of this name, if its data goes into the text memory."""
    return next((one for one in MEMORY_SYSTEMS if one.name == name), None)
