"""Records of one library that look like others.

    Duplicates       `library.duplicates`: what looks alike, and people's verdicts
    LikenessFinder   compares pictures that the embedding model finds alike, in the background
    groups           library records with the same picture, for lists that show each only once

Pictures that the model finds close count once one was laid over the other (`alignment.py`), unless they are
so close that this was never wrong.
"""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from store.catalog.catalog import Catalog, current_generation, next_derived
from store.duplicates import alignment, findings
from store.duplicates.alignment import Confirmation
from store.duplicates.examiner import Examiner
from store.duplicates.findings import Judgement, Kind, Suspect, Suspicion, of_print, weigh
from store.duplicates.fingerprints import Neighbours
from store.embedding.protocol import OFFLINE
from store.errors import MemedexError
from store.outcome import Outcome
from store.progress import Progress, batches
from store.search.picture_similarity import PictureSimilarity

# Measured for the offline model (docs/duplicates.md); of others only what needs no confirmation counts.
_CLOSE = {OFFLINE: 0.80}
_CLOSE_ELSEWHERE = 0.95
_LEAST, _MOST = 0.6, 0.95  # how sure the furthest and the closest are
_KEPT = 50


def similar(pictures: PictureSimilarity, confirmation: Confirmation, address: str) -> dict[str, float]:
    """Other records whose pictures' vectors are close to this one's, with a confidence for each."""
    try:
        index = pictures.index()
    except MemedexError:
        return {}
    vector = index.vector(address)
    if vector is None:
        return {}
    name = index.embedder.name
    near = index.near(vector, least=least_cosine(name))
    near.pop(address, None)
    return certainties(confirmation.similar(address, near), name)


def least_cosine(model: str) -> float:
    """The cosine from which this model's pictures count as alike."""
    return _CLOSE.get(model, _CLOSE_ELSEWHERE)


def certainties(near: Mapping[str, float], model: str) -> dict[str, float]:
    """How sure each of these cosines is, 0 to 1; of the closest alone."""
    least = least_cosine(model)
    closest = sorted(near.items(), key=lambda pair: -pair[1])[:_KEPT]
    steep = (_MOST - _LEAST) / (1 - least)
    return {other: min(_MOST, _LEAST + steep * (cosine - least)) for other, cosine in closest}


_BATCH = 32  # pictures that are compared with all others at once: ten seconds at most


class LikenessFinder:
    """Compares pictures by their vectors; remembers up to where all were compared."""

    def __init__(self, catalog: Catalog, pictures: PictureSimilarity, confirmation: Confirmation) -> None:
        self._catalog = catalog
        self._pictures = pictures
        self._confirmation = confirmation
        self._model = ""  # and how alike counts: with another one all are compared again
        self._since = -1  # up to this generation all were compared but for …
        self._left: list[str] = []  # … these pictures, by their hashes, which have no vector yet

    def compare_new(self, *, progress: Progress) -> int:
        """Compare every embedded picture that was not compared yet with all others; returns how many.

        Nothing without a usable model. If it is cancelled, finished ones stay.
        """
        try:
            embedder = self._pictures.embedder
        except MemedexError:
            return 0
        least = least_cosine(embedder.name)
        model = f"{embedder.fingerprint} {least} {alignment.SCHEME}"
        if model != self._model:
            self._forget_others(model)
        with self._catalog.reading() as db:
            generation = current_generation(db)
            new = db.execute(
                "SELECT image_hash, min(address) AS address FROM records "
                "WHERE (generation > ? OR image_hash IN (SELECT value FROM json_each(?))) "
                "AND image_hash NOT IN (SELECT image_hash FROM likened) GROUP BY +image_hash",
                [self._since, json.dumps(self._left)],
            ).fetchall()
        if not new:  # no vector is read for it: a million take a minute and 2 GB
            self._since, self._left = generation, []
            return 0
        index = self._pictures.index()
        waiting = [row for row in new if index.vector(row["address"]) is not None]
        done = 0
        for batch in batches(waiting, _BATCH):
            if progress.cancelled:
                return done
            found = index.near_many([row["address"] for row in batch], least=least)
            sure = {}
            for address, near in found.items():
                if progress.cancelled:
                    return done
                sure[address] = certainties(self._confirmation.similar(address, near), embedder.name)
            with self._catalog.writing() as db:
                for row in batch:
                    _store(db, row["image_hash"], sure[row["address"]], model=model)
                if any(sure.values()):
                    next_derived(db)
            done += len(batch)
        compared = {row["image_hash"] for row in waiting}
        self._since = generation
        self._left = [row["image_hash"] for row in new if row["image_hash"] not in compared]
        return done

    def _forget_others(self, model: str) -> None:
        """Drop what another model, or another threshold, found."""
        is_current = not self._catalog.row("SELECT 1 FROM likened WHERE model <> ? LIMIT 1", [model])
        if not is_current:
            with self._catalog.writing() as db:
                db.execute("DELETE FROM likenesses")
                db.execute("DELETE FROM likened")
        self._model, self._since, self._left = model, -1, []


def is_compared(db: sqlite3.Connection, address: str) -> bool:
    """Whether a record's picture was compared with the others, so that its likenesses are stored."""
    return bool(
        db.execute(
            "SELECT 1 FROM records r JOIN likened l ON l.image_hash = r.image_hash WHERE r.address = ?",
            [address],
        ).fetchone()
    )


def _store(db: sqlite3.Connection, picture: str, near: dict[str, float], *, model: str) -> None:
    db.execute("INSERT OR REPLACE INTO likened VALUES (?, ?)", [picture, model])
    for address, sure in near.items():
        row = db.execute("SELECT image_hash FROM records WHERE address = ?", [address]).fetchone()
        if row and row[0] != picture:
            pairs = [(picture, row[0], sure), (row[0], picture, sure)]
            db.executemany("INSERT OR REPLACE INTO likenesses VALUES (?, ?, ?)", pairs)
    if near:
        for row in db.execute("SELECT address FROM records WHERE image_hash = ?", [picture]).fetchall():
            weigh(db, row["address"])


NEAR = 27  # differing bits of 256: 0.8 sure (findings._PER_BIT); beyond it they stay apart

_SHOWING = "SELECT address, image_hash FROM records WHERE tier = 'library' ORDER BY id"
_ALIKE = "SELECT picture, other FROM lookalikes WHERE distance <= ?"
_STANDING = """
SELECT first, second, after = 'different' FROM verdicts v WHERE after IS NOT NULL AND id = (
    SELECT max(id) FROM verdicts WHERE first = v.first AND second = v.second
)
"""


def groups(db: sqlite3.Connection) -> dict[str, int]:
    """The group of each record that has a copy, one after the other; none of pairs judged different."""
    picture: dict[str, str] = dict(db.execute(_SHOWING))
    left: defaultdict[str, set[str]] = defaultdict(set)  # picture → records that are in no group yet
    for address, shown in picture.items():
        left[shown].add(address)
    near: defaultdict[str, list[str]] = defaultdict(list)
    for one, other in db.execute(_ALIKE, [NEAR]):
        near[one].append(other)
    same: defaultdict[str, set[str]] = defaultdict(set)
    apart: defaultdict[str, set[str]] = defaultdict(set)
    for one, other, differs in db.execute(_STANDING):
        for first, second in (one, other), (other, one):
            (apart if differs else same)[first].add(second)

    grouped: dict[str, int] = {}
    for number, start in enumerate(picture):
        if start not in left[picture[start]]:
            continue
        left[picture[start]].remove(start)
        group = [start]
        for address in group:  # grows meanwhile
            shown = picture[address]
            for other in (shown, *near[shown]):
                reached = left[other] - apart[address]
                left[other] -= reached
                group += reached
            for called in same[address].intersection(picture):
                if called in left[picture[called]]:
                    left[picture[called]].remove(called)
                    group.append(called)
        if len(group) > 1:
            grouped.update(dict.fromkeys(group, number))
    return grouped


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
            is_known = is_compared(db, address)
        if near:
            near = self._confirmation.near_record(address, near)
        alike = {} if is_known else similar(self._pictures, self._confirmation, address)
        with self._catalog.reading() as db:
            return findings.suspects(db, address, near=near, similar=alike)

    def called(self, name: str, ticker: str) -> dict[str, list[str]]:
        """Records outside the trash that read as this name or ticker, with "name", "ticker" or both."""
        with self._catalog.reading() as db:
            return findings.called(db, name, ticker)

    def like_picture(self, picture: bytes) -> list[tuple[str, Kind, float]]:
        """The hashes of pictures like this one, what they share, how sure (0 to 1). Raises BadPicture."""
        from store.disk.images import normalise, stored_hashes  # Pillow comes along

        self._catalog.actor.check_login()
        own = stored_hashes(picture)
        near = self._examiner.like(normalise(picture))
        return [
            *((known, "exact picture", 1.0) for known in own),
            *((one.image_hash, *of_print(one)) for one in near if one.image_hash not in own),
        ]

    def groups(self) -> dict[str, int]:
        """The group number of each library record whose picture another one has as well."""
        with self._catalog.reading() as db:
            return groups(db)

    def suspicions(self, addresses: Sequence[str]) -> dict[str, Suspicion]:
        """The badge of each of these records that looks like another, until a person has judged it."""
        with self._catalog.reading() as db:
            return findings.suspicions(db, addresses)

    def unexamined(self) -> int:
        """How many records were not compared with the others yet."""
        return int(self._catalog.row("SELECT count(*) FROM unexamined")[0])

    def judgements(self, address: str) -> list[Judgement]:
        """All verdicts on this record and another, newest first."""
        with self._catalog.reading() as db:
            return findings.all_verdicts(db, address)

    def copies(self) -> dict[str, str]:
        """Every record that people judged a copy, with the record that it is a copy of."""
        with self._catalog.reading() as db:
            return findings.copies_by_verdict(db)

    def judge(
        self,
        address: str,
        verdict: str,
        others: Iterable[str],
        *,
        actor: str = "",
        decision: str | None = None,
    ) -> Outcome:
        """Record whether a record is a copy of others like it. Raises InvalidRecord."""
        known = findings.checked_verdict(verdict)
        others = list(others)
        decided = self._catalog.decide("judge", actor=actor, id=decision)
        if decision and self._catalog.row("SELECT 1 FROM decisions WHERE id = ?", [decision]):
            return Outcome(done=others, decision=decision)  # all of it is one transaction
        return findings.judge(self._catalog, address, known, others, decision=decided)

    def examine(self, *, progress: Progress | None = None) -> int:
        """Compare new records with all others; returns how many. If cancelled, finished ones stay."""
        self._catalog.check_writable()
        progress = progress or Progress()
        examined = self._examiner.examine(progress=progress)
        self._likenesses.compare_new(progress=progress)
        return examined
