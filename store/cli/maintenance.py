"""Verbs for the library as a whole: doctor, Chroma's index, the embedding model, backups."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from store.backup.create import backup as copy_library
from store.backup.create import backup_memory as copy_memory
from store.backup.restore import restore_backup as put_back
from store.backup.restore import restore_files as write_files
from store.chroma.place import describe_place, is_there
from store.cli.call import ELSEWHERE, REFUSED, WRONG, Call, as_json, has_library, no_library
from store.cli.verbs import Repair, Yes, typed_path, verb
from store.disk.layout import Layout
from store.disk.sqlite import refuse_replica
from store.embedding.embedding_cache import ModelVectors
from store.embedding.model_download import download
from store.embedding.protocol import REFERENCE
from store.errors import LibraryInUse, ReadOnly
from store.library import Library
from store.maintenance import doctor as checking
from store.maintenance.doctor import DoctorFinding
from store.reading.reader import Reader
from store.tags.taxonomy_file import set_aside_if_broken
from store.tasks.models import switch_model
from store.writing.salvage import move_foreign_catalog_aside, salvage_if_damaged

if TYPE_CHECKING:
    from store.memory.memory import Memory

Vectors = Mapping[str, Sequence[ModelVectors]]
Whose = Annotated[str | None, Argument(metavar="MODEL", help="whose; without it, list what there is")]


@verb("doctor")
def doctor(call: Call, repair: Repair = False) -> int:
    """Check files, catalog, vectors and Chroma."""
    if not has_library(root := call.root):
        return _findings([DoctorFinding(no_library(root), ELSEWHERE)], call)
    if repair:
        refuse_replica(Layout(root).catalog)
        move_foreign_catalog_aside(Layout(root))
        if salvaged := salvage_if_damaged(Layout(root)):
            call.say(salvaged.summary)
        if done := set_aside_if_broken(Layout(root)):
            call.say(done)
        with call.making() as library:
            left = call.watch(lambda progress: checking.repair(library, progress=progress, tell=call.say))
        return _findings(left, call)
    try:
        found = call.watch(lambda progress: checking.check_unopened(root, progress=progress))
    except (LibraryInUse, ReadOnly) as error:
        call.say(f"{error}; Chroma itself is not looked into, since only who writes may open it")
        with Reader(root) as reader:
            found = call.watch(lambda progress: checking.check(reader, progress=progress))
    return _findings(found, call)


def _findings(found: list[DoctorFinding], call: Call) -> int:
    well = not any(finding.is_fault for finding in found)
    if call.json:
        call.answer_json({"well": well, "findings": [asdict(finding) for finding in found]})
    for finding in found:
        about = f"{finding.address}: " if finding.address else ""
        call.say(f"{about}{finding.what} ({finding.remedy})")
    if well:
        call.say("all is well")
    return 0 if well else REFUSED


@verb("index")
def index(
    call: Call,
    rebuild: Annotated[bool, Option("--rebuild", help="rebuild the collections; needs no model")] = False,
) -> int:
    """Bring Chroma's collections to where the settings say, and compare them."""
    # What was interrupted is continued the next time. The place they were in before keeps what it has.
    from store.memory.memory import has_memory

    root = call.root
    if (place := describe_place() or "the library's folder") == "off":
        call.say("Chroma is switched off (MEMEDEX_CHROMA=off)")
        return WRONG
    found: dict[str, list[str]] = {}
    if has_library(root):
        with call.writing() as library:
            if rebuild:
                library.rebuild_chroma()
            found["library"] = _differences(library, call)
    if has_memory(root):
        with call.writing_memory() as memory:
            if rebuild:
                memory.rebuild_chroma()
            found["memory"] = _differences(memory, call)
    if call.json:
        call.answer_json({"place": place, "differences": found})
    for fault in [fault for faults in found.values() for fault in faults]:
        call.say(fault)
    is_equal = not any(found.values())
    if is_equal:
        call.say(f"{place}: the index agrees with the {' and the '.join(found) or 'library'}")
    return 0 if is_equal else REFUSED


def _differences(kept: "Library | Memory", call: Call) -> list[str]:
    """What differs, after one rebuild of an index that follows and differs all the same.

    Such as that of a server that came back empty, which was not noticed as long as nothing changed.
    """
    follows = call.has_followed(kept)
    faults = call.watch(lambda _: kept.check_chroma())
    if faults and follows and is_there() and not call.was_interrupted:
        kept.rebuild_chroma()
        call.has_followed(kept)
        faults = call.watch(lambda _: kept.check_chroma())
    return faults


# -- the embedding model ----------------------------------------------------------------------------------


@verb("model")
def model(
    call: Call,
    name: Annotated[str | None, Argument(metavar="NAME", help="auto, offline, openclip:…, litellm:…")] = None,
    is_download: Annotated[
        bool, Option("--download", help="fetch its weights from the hub: CLIP ViT-L/14 if none is named")
    ] = False,
) -> int:
    """Show the embedding model, or change it."""
    if is_download:  # needs no library, and leaves it as it is
        return _download(name or REFERENCE, call)
    if name is None:
        with call.reading() as reader:
            now = reader.model
    else:
        with call.writing() as library:
            switched = call.watch(lambda progress: switch_model(library, name, progress=progress))
            now = library.model
        if not switched:
            call.say(f"not switched, the model is still {now}; what was embedded is kept for next time")
    return call.answered({"model": now}, [now])


def _download(name: str, call: Call) -> int:
    done = call.watch(lambda progress: download(name, progress))
    call.say(
        f"{name} is on this machine; `model {name}` embeds everything with it"
        if done
        else f"what has come of {name} is kept; the same command goes on"
    )
    return 0


@verb("delete-vectors")
def delete_vectors(call: Call, model: Whose = None, yes: Yes = False) -> int:
    """Delete the vectors of a model not in use."""
    call.check_there_is_one()
    with call.reading() as reader:
        found = reader.vectors_by_model()
    if not (chosen := choose_vectors({"library": found}, model, yes, call)):
        return 0 if model is None else REFUSED
    with call.writing() as library:
        library.delete_vectors(model or "", actor=call.actor)
    return print_deleted(chosen, model or "", call)


def choose_vectors(found: Vectors, model: str | None, yes: bool, call: Call) -> Vectors:
    """What is to be deleted, by its place; empty if only listed, or not confirmed."""
    if model is None:
        lines = [
            f"{place}: {one.model}: {_vectors([one])}{', in use' if one.is_in_use else ''}"
            for place, models in found.items()
            for one in models
        ]
        call.answered({"vectors": _rows(found)}, lines)
        return {}
    chosen = {
        place: kept for place, models in found.items() if (kept := [m for m in models if m.model == model])
    }
    if not chosen:
        call.say(f"there are no vectors of {model}")
    elif not yes:
        for place, models in chosen.items():
            call.say(f"{place}: {_vectors(models)} of {model} would be deleted for good")
        call.say("nothing was deleted; add --yes to do it")
        chosen = {}
    return chosen


def print_deleted(chosen: Vectors, model: str, call: Call) -> int:
    for place, models in chosen.items():
        call.say(f"{place}: {_vectors(models)} of {model} deleted")
    return call.answered({"deleted": _rows(chosen)})


def _vectors(models: Sequence[ModelVectors]) -> str:
    count, size = sum(one.count for one in models), sum(one.size for one in models)
    return f"{count:,} vector{'' if count == 1 else 's'}, {size:,} bytes"


def _rows(found: Vectors) -> dict[str, list[dict[str, object]]]:
    return {place: [asdict(one) for one in models] for place, models in found.items()}


# -- backups ----------------------------------------------------------------------------------------------


@verb("backup")
def backup(
    call: Call, path: Annotated[Path, Argument(metavar="PATH", parser=typed_path, help="a new folder")]
) -> int:
    """Copy the library, also while it is in use."""
    root = call.root
    if not has_library(root) and (root / "memory").is_dir():
        what = "files of the text memory"
        outcome = call.watch(lambda progress: copy_memory(root, path, progress=progress))
    else:
        what = "records"
        call.check_there_is_one()
        with call.reading() as reader:
            outcome = call.watch(lambda progress: copy_library(reader, path, progress=progress))
    if not call.was_interrupted:
        call.say(f"backed up {len(outcome.done):,} {what} to {path}, and read back")
    if call.json:
        call.answer_json({"path": str(path), "done": outcome.done, "refused": as_json(outcome.refused)})
    return call.named(outcome.refused)


@verb("restore-backup")
def restore_backup(call: Call, path: Annotated[Path, Argument(metavar="PATH", parser=typed_path)]) -> int:
    """Restore a backup."""
    root = call.root
    restored = call.watch(lambda progress: put_back(root, path, progress=progress))
    if restored.replaced:
        call.say(f"what was there before is kept in {restored.replaced}; restore-backup takes it as well")
    if restored.refused:
        call.say("nothing was restored: the backup is damaged")
    elif not call.was_interrupted and not any(name.startswith("memecoins/") for name in restored.done):
        call.say(f"restored {len(restored.done):,} files of the text memory")
    elif not call.was_interrupted:
        with call.making() as library:
            call.say(f"restored {sum(library.counts().values()):,} records")
    if restored.fault:
        call.say(f"the catalog was damaged when this backup was made ({restored.fault}); doctor --repair")
    if call.json:
        replaced = str(restored.replaced) if restored.replaced else None
        answer = {"replaced": replaced, "refused": as_json(restored.refused), "damaged": restored.fault}
        call.answer_json(answer)
    return call.named(restored.refused) or int(bool(restored.fault))


@verb("restore-files")
def restore_files(call: Call) -> int:
    """Write a restored catalog's files (MEMEDEX_PICTURES)."""
    root = call.root
    outcome = call.watch(lambda progress: write_files(root, progress=progress))
    return call.report(outcome, "restored the files of")
