"""Records that look like others, as one library knows them."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from store.appearance import Appearance
from store.catalog import Catalog
from store.duplicates import findings, folding, judging, verdicts
from store.duplicates.examining import Examiner
from store.duplicates.findings import Suspect, Suspicion
from store.duplicates.neighbours import Neighbours
from store.duplicates.similar import similar
from store.duplicates.verdicts import Judgement, Verdict
from store.outcome import Outcome
from store.people import myself
from store.progress import Progress
from store.writing.write_path import Decision


class Duplicates:
    """`library.duplicates`: what looks like what, what people said of it, and looking for more."""

    READING = frozenset({"of", "called", "groups", "suspicions", "unexamined", "judgements", "judged"})

    def __init__(self, catalog: Catalog, appearance: Appearance, *, picture: Callable[[str], Path]) -> None:
        self._catalog = catalog
        self._appearance = appearance
        self._neighbours = Neighbours()
        self._examiner = Examiner(catalog, self._neighbours, picture=picture)

    def of(self, address: str) -> list[Suspect]:
        """Every other record with the same or a confusable picture, name or ticker, the surest first."""
        with self._catalog.reading() as db:
            near = self._neighbours.unknown(db, address)
            return findings.suspects(db, address, near=near, similar=similar(self._appearance, address))

    def called(self, name: str, ticker: str) -> dict[str, list[str]]:
        """The records, but for the trash, that read as this "name" or "ticker", or both, and which it is."""
        with self._catalog.reading() as db:
            return findings.called(db, name, ticker)

    def groups(self) -> dict[str, int]:
        """For each library record that shows the picture of another one, the number of their group."""
        with self._catalog.reading() as db:
            return folding.groups(db)

    def suspicions(self, addresses: Sequence[str]) -> dict[str, Suspicion]:
        """The badge of each of these records that looks like another, where nobody has judged that yet."""
        with self._catalog.reading() as db:
            return findings.suspicions(db, addresses)

    def unexamined(self) -> int:
        """How many records were not yet compared with the others."""
        with self._catalog.reading() as db:
            return int(db.execute("SELECT count(*) FROM unexamined").fetchone()[0])

    def judgements(self, address: str) -> list[Judgement]:
        """Everything that was said of this record and another, newest first."""
        with self._catalog.reading() as db:
            return verdicts.all_of(db, address)

    def judged(self, decision: str) -> list[Judgement]:
        """What one decision said of records that look alike."""
        with self._catalog.reading() as db:
            return verdicts.of_decision(db, decision)

    def judge(self, address: str, verdict: Verdict, others: Iterable[str], *, who: str = "") -> Outcome:
        """Say what a record is to others that look like it, so that nobody is asked again."""
        decision = Decision("judge", who or myself())
        return judging.judge(self._catalog, address, verdict, others, decision=decision)

    def examine(self, *, progress: Progress | None = None) -> int:
        """Compare what is new with every record; how many that were. What is done is kept when cancelled."""
        return self._examiner.examine(progress=progress)
