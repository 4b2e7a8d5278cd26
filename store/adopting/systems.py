"""All systems that are recognised, in the order in which they are asked."""

from collections.abc import Iterable
from pathlib import Path

from store.adopting import texts
from store.adopting.chroma_texts import TITLES, ChromaTexts
from store.adopting.coins import CaptionedPictures, ClassFolders, Tables, TokenLists
from store.adopting.conversations import Conversations
from store.adopting.documents import DocumentRows
from store.adopting.memory_files import MarkdownNotes, MemoryFiles
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
    MarkdownNotes(),
    TranscriptDatabases(),
    Conversations(),
)
_BY_KIND: tuple[MemorySystem, ...] = tuple(map(ChromaTexts, TITLES))  # only by their names


def recognise(path: Path, *, system: str = "") -> list[DataSurvey]:
    """What is at this path: coins by the first system that knows them, texts by each; or by the named one.

    Raises BadSource if there is no such path, or no system of that name.
    """
    if not path.exists():
        raise BadSource(f"there is nothing at {path}")
    libraries = [one for one in LIBRARY_SYSTEMS if system in ("", one.name)]
    memories = [one for one in MEMORY_SYSTEMS if not system] or [*filter(None, [memory_system(system)])]
    if not (libraries or memories):
        raise BadSource(f"no system is called {system!r}; known are {', '.join(names())}")
    found = [survey for one in memories if (survey := one.recognise(path))]
    coins = (survey for one in libraries if (survey := one.recognise(path)))
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
    """The names of all systems, and the kinds that the texts of a Chroma can be taken as."""
    return [one.name for one in (*LIBRARY_SYSTEMS, *MEMORY_SYSTEMS, *_BY_KIND)]


def library_system(name: str) -> LibrarySystem | None:
    """The system of this name, if its data goes into the library."""
    return next((one for one in LIBRARY_SYSTEMS if one.name == name), None)


def memory_system(name: str) -> MemorySystem | None:
    """The system of this name, if its data goes into the text memory."""
    return next((one for one in (*MEMORY_SYSTEMS, *_BY_KIND) if one.name == name), None)
