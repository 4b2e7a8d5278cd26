"""Records of one library that look like others."""

from collections.abc import Iterable, Sequence

from store.catalog.catalog import Catalog
from store.duplicates import findings, groups, judge, likenesses, verdicts
from store.duplicates.confirmation import Confirmation
from store.duplicates.examiner import Examiner
from store.duplicates.findings import Suspect, Suspicion
from store.duplicates.likenesses import LikenessFinder
from store.duplicates.neighbours import Neighbours
from store.duplicates.similar import similar
from store.duplicates.verdicts import Judgement, Verdict
from store.outcome import Outcome
from store.progress import Progress
from store.search.picture_similarity import PictureSimilarity


class Duplicates:
    """`library.duplicates`: similar records, people's verdicts, and the search for more."""

    def __init__(
        self,
        catalog: Catalog,
        pictures: PictureSimilarity,
        neighbours: Neighbours,
        confirmation: Confirmation,
        examiner: Examiner,
        likenesses: LikenessFinder,
    ) -> None:
        self._catalog = catalog
        self._pictures = pictures
        self._neighbours = neighbours
        self._confirmation = confirmation
        self._examiner = examiner
        self._likenesses = likenesses

    def of(self, address: str) -> list[Suspect]:
        """Every other record with the same or a confusable picture, name or ticker, most confident first."""
        with self._catalog.reading() as db:
            near = self._neighbours.unknown(db, address)
            is_compared = likenesses.is_compared(db, address)
        if near:
            near = self._confirmation.near_record(address, near)
        alike = {} if is_compared else similar(self._pictures, self._confirmation, address)
        with self._catalog.reading() as db:
            return findings.suspects(db, address, near=near, similar=alike)

    def called(self, name: str, ticker: str) -> dict[str, list[str]]:
        """Records outside the trash that read as this name or ticker, with "name", "ticker" or both."""
        with self._catalog.reading() as db:
            return findings.called(db, name, ticker)

    def groups(self) -> dict[str, int]:
        """The group number of each library record whose picture another one has as well."""
        with self._catalog.reading() as db:
            return groups.groups(db)

    def suspicions(self, addresses: Sequence[str]) -> dict[str, Suspicion]:
        """The badge of each of these records that looks like another, as long as nobody has judged it."""
        with self._catalog.reading() as db:
            return findings.suspicions(db, addresses)

    def unexamined(self) -> int:
        """How many records were not compared with the others yet."""
        with self._catalog.reading() as db:
            return int(db.execute("SELECT count(*) FROM unexamined").fetchone()[0])

    def judgements(self, address: str) -> list[Judgement]:
        """All verdicts on this record and another, newest first."""
        with self._catalog.reading() as db:
            return verdicts.all_of(db, address)

    def copies(self) -> dict[str, str]:
        """Every record that people judged a copy, with the record that it is a copy of."""
        with self._catalog.reading() as db:
            return verdicts.copies(db)

    def judge(self, address: str, verdict: Verdict, others: Iterable[str], *, actor: str = "") -> Outcome:
        """Record whether a record is a copy of others that look like it, so that nobody is asked again."""
        decision = self._catalog.decide("judge", actor=actor)
        return judge.judge(self._catalog, address, verdict, others, decision=decision)

    def examine(self, *, progress: Progress | None = None) -> int:
        """Compare new records with all others; returns how many. If cancelled, finished ones stay."""
        self._catalog.check_writable()
        progress = progress or Progress()
        examined = self._examiner.examine(progress=progress)
        self._likenesses.compare_new(progress=progress)
        return examined
