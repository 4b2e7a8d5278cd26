"""`library.picture_texts`: the text in each record's picture, and which pictures are left to look at."""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from store.catalog import picture_rows, unfit_words
from store.catalog.catalog import Catalog, current_generation, next_derived
from store.errors import MemedexError, ModelUnavailable
from store.outcome import Outcome, Refusal
from store.pictures import nudity, text_reader
from store.pictures.glued_words import taken_apart
from store.pictures.nudity import NudityClassifier
from store.pictures.text_reader import TextReader
from store.progress import Progress

_BATCH = 16  # pictures of one transaction


@dataclass(frozen=True, slots=True)
class PictureText:
    """What stands in a picture, and who says so."""

    text: str  # a line for each line of the picture
    source: Literal["person", "program", "unread"]
    read: str = ""  # what the program read, beside a person's correction


@dataclass(frozen=True, slots=True)
class TextReading:
    """One picture that was read, or the reason why it could not be."""

    image_hash: str
    text: str = ""
    words: str = ""  # those that the program ran together, taken apart
    nudity: float = 0.0  # how likely, 0 to 1
    fault: str = ""


class PictureTexts:
    """The text in pictures: read by a program in the background, corrected by people."""

    def __init__(
        self,
        catalog: Catalog,
        reader: TextReader,
        nudity: NudityClassifier,
        *,
        picture: Callable[[str], Path],
    ) -> None:
        self._catalog = catalog
        self._reader = reader
        self._nudity = nudity
        self._picture = picture  # where the picture of an address lies at this moment
        self._since = -1  # up to this generation every picture is read

    def of(self, address: str) -> PictureText:
        """What stands in a record's picture; `Library.correct_text` corrects it."""
        with self._catalog.reading() as db:
            correction, read = picture_rows.correction_and_reading(db, address)
        if correction is not None:
            return PictureText(correction, "person", read or "")
        return PictureText(read or "", "unread" if read is None else "program", read or "")

    def unread(self) -> dict[str, str]:
        """Pictures that were not read yet, by their hash, each with the address of a record, newest first.

        Empty where nothing can be read, because RapidOCR is not installed.
        """
        if not text_reader.is_installed():
            return {}
        with self._catalog.reading() as db:
            generation = current_generation(db)
            found = picture_rows.unread(db, reader=text_reader.reader_name(), since=self._since)
        if not found:
            self._since = generation
        return found

    def read_one(self, image_hash: str, address: str) -> TextReading:
        """Read one picture without storing anything. Raises ModelUnavailable if that cannot be done here."""
        from store.disk.images import decode  # Pillow comes along

        self._catalog.actor.check_login()
        try:
            image = decode(self._picture(address))
            text = self._reader.read(image)
            return TextReading(image_hash, text, taken_apart(text), self._nudity.score(image))
        except ModelUnavailable:
            raise
        except (MemedexError, OSError) as error:
            return TextReading(image_hash, fault=str(error))

    def read(self, *, progress: Progress | None = None) -> Outcome:
        """Read every picture that was not read yet; if cancelled, what was read stays.

        Raises ModelUnavailable, with the remedy, if RapidOCR is not installed.
        """
        self._catalog.check_writable()
        if not text_reader.is_installed():
            raise ModelUnavailable(f"RapidOCR is not installed; {text_reader.INSTALL}")
        waiting = list(self.unread().items())
        progress = progress or Progress()
        progress.what, progress.total = "reading pictures", len(waiting)
        outcome = Outcome()
        for start in range(0, len(waiting), _BATCH):
            if progress.cancelled:
                break
            batch = waiting[start : start + _BATCH]
            readings = [self.read_one(image_hash, address) for image_hash, address in batch]
            with self._catalog.writing() as db:
                for reading, (_, address) in zip(readings, batch, strict=True):
                    if reading.fault:
                        outcome.refused.append(Refusal(address, reading.fault))
                    else:
                        store_reading(db, reading)
                        outcome.done.append(address)
                next_derived(db)
            progress.done += len(batch)
        return outcome


def store_reading(db: sqlite3.Connection, reading: TextReading) -> None:
    """Store one reading in the caller's transaction, and flag the records that have its picture."""
    db.execute(
        "INSERT OR REPLACE INTO picture_nudity VALUES (?, ?, ?)",
        [reading.image_hash, nudity.model_name(), reading.nudity],
    )
    for number in picture_rows.store_text(
        db, reading.image_hash, reading.text, words=reading.words, reader=text_reader.reader_name()
    ):
        if unfit_words.refresh_unfit(db, number):
            next_derived(db)  # so that pages hide it
