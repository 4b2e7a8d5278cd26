"""Where our collections lie, as the follower sees it: a folder (`folder.py`) or a server (`server.py`)."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping

from store.chroma.collections import Collections
from store.chroma.process import ChromaProcess

Metadata = Mapping[str, Mapping[str, str]]  # of each collection by name


class ChromaPlace(ABC):
    """A place for collections; none of its methods but `lacks` asks a server."""

    name = ""  # tells servers apart; "" is the folder beside the database

    @property
    @abstractmethod
    def has_files(self) -> bool:
        """Whether there may be something to compare with SQLite."""

    def lacks(self, metadata: Metadata) -> bool:
        """Whether a server lost one of these collections; the loss of a folder shows in its `stamp`.

        Raises ServerAway if the server does not say, OthersCollection if it has others' under our names.
        """
        return False

    @abstractmethod
    def collections(self, metadata: Metadata) -> Callable[[], Collections]:
        """What opens the collections; can be pickled."""

    @abstractmethod
    def foreign(self) -> str:
        """A description of others' files that are in the way; "" if there are none."""

    @abstractmethod
    def clear_the_way(self) -> None:
        """Move others' files aside before Chroma opens the place; ours stay."""

    @abstractmethod
    def remove_own(self) -> None:
        """Remove ours, which can be rebuilt; others' collections stay."""

    @abstractmethod
    def begin(self, chroma: ChromaProcess, metadata: Metadata) -> None:
        """Create what a rebuild needs after `remove_own`."""

    @abstractmethod
    def flush(self) -> None:
        """Fsync what Chroma wrote."""

    @property
    @abstractmethod
    def stamp(self) -> str:
        """Its state, to notice that another program changed it since."""
