"""Find weights in the local Hugging Face cache, without the network."""

import os
import sys
from pathlib import Path

OFFLINE_VARIABLES = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_DATASETS_OFFLINE")


def stay_offline() -> None:
    """Keep Hugging Face libraries off the network; call it before importing them."""
    for variable in OFFLINE_VARIABLES:
        os.environ[variable] = "1"
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    constants = sys.modules.get("huggingface_hub.constants")
    if constants is not None:  # imported before by somebody else, it has read the environment already
        constants.HF_HUB_OFFLINE = True  # type: ignore[attr-defined]  # a module by its name


def cache_folder() -> Path:
    """The folder of huggingface_hub's cache, by its own rules."""
    if folder := os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE"):
        return Path(folder).expanduser()
    home = os.environ.get("HF_HOME")
    if not home:
        home = str(Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")) / "huggingface")
    return Path(home).expanduser() / "hub"


def snapshot(repository: str) -> Path | None:
    """The folder of the newest complete download of a repository ("owner/name"); None if there is none."""
    folder = cache_folder() / f"models--{repository.replace('/', '--')}"
    main = folder / "refs" / "main"
    if main.is_file():
        current = folder / "snapshots" / main.read_text().strip()
        if current.is_dir():
            return current
    snapshots = [path for path in folder.glob("snapshots/*") if path.is_dir()]
    return max(snapshots, key=lambda path: path.stat().st_mtime) if snapshots else None


def cached_file(repository: str, *names: str) -> Path | None:
    """The first of these files that the cache has for a repository; None if it has none."""
    folder = snapshot(repository)
    if folder is None:
        return None
    return next((folder / name for name in names if (folder / name).is_file()), None)
