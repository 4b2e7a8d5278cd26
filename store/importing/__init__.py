"""Read coins from token lists, folders, archives, single pictures and uploads, one at a time.

`candidates` and `uploaded` give a `Candidate` or a `Refusal` for each coin: `trees` are the files, `folders`
reads coins from them, with the `pictures` that they name; `tables` and `metadata` say what a row or a file
means. `captions` reads captions and tags of coins that are here.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from store.errors import BadSource
from store.importing.candidate import Candidate, RemoteLogo, shown
from store.outcome import Refusal

if TYPE_CHECKING:
    from store.importing.preview import Choices, ImportPreview

__all__ = [
    "Candidate", "Refusal", "RemoteLogo", "candidates", "captions", "names", "preview", "uploaded",
]  # fmt: skip


def candidates(
    paths: Iterable[Path], *, choices: "Choices | None" = None, preview: "ImportPreview | None" = None
) -> Iterator[Candidate | Refusal]:
    """Every coin at these paths, and everything refused, as they are read.

    A path is a folder, an archive, a token list, a table, a sidecar or a picture; files of the same folder
    belong together. `choices` says what a person knows better than the files' names, and `preview` is filled
    with what each file was recognised as.
    """
    from store.importing import folders  # Pillow comes along, which most commands do without
    from store.importing.preview import ImportPreview
    from store.importing.trees import DiskTree, is_archive, opened, why_unreadable

    preview = preview or ImportPreview()
    coins = partial(folders.coins, choices=choices, preview=preview)
    together: dict[Path, list[str]] = {}
    for path in map(Path, paths):
        try:
            is_folder, is_file = path.is_dir(), path.is_file()
        except OSError as error:  # no permission to look, or a name no system can have
            yield preview.unread(Refusal(shown(str(path)), f"it cannot be read: {error.strerror}"))
            continue
        if is_folder:
            yield from coins(DiskTree(path, title=path.resolve().name))
        elif not is_file:
            yield preview.unread(Refusal(shown(str(path)), why_unreadable(path)))
        elif is_archive(path.name):
            try:
                with opened(path, title=path.name) as tree:
                    yield from coins(tree)
            except BadSource as error:
                yield preview.unread(Refusal(shown(path.name), str(error)))
        else:
            together.setdefault(path.parent, []).append(path.name)
    for folder, names in together.items():
        yield from coins(DiskTree(folder, title="", chosen=names))


def uploaded(
    files: Iterable[tuple[str, bytes]],
    *,
    choices: "Choices | None" = None,
    preview: "ImportPreview | None" = None,
) -> Iterator[Candidate | Refusal]:
    """Every coin in files that were dropped together, given by untrusted names and contents."""
    from store.importing import folders
    from store.importing.trees import UploadTree

    yield from folders.coins(UploadTree(files), choices=choices, preview=preview)
