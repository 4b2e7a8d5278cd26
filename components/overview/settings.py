"""Where the data is, its size, and the program's settings."""

from pathlib import Path

import streamlit as st

from components.shell.page import tables
from components.shell.server import server_paths
from store import Layout, Library
from store.settings import Settings, settings


def places(library: Library) -> None:
    """Each part of the library, its folder and its size."""
    sizes = _sizes(library.layout.root, library.generation)
    rows = [{"part": name, "size": number, "where": server_paths.shown(path)} for name, path, number in sizes]
    tables.show(
        rows,
        alt="Parts of the library with size and place",
        columns={"size": st.column_config.NumberColumn(format="bytes")},
    )


@st.cache_data(show_spinner=False, max_entries=4)
def _sizes(root: Path, generation: int) -> list[tuple[str, Path, int]]:
    layout = Layout(root)
    parts = (
        ("catalog", layout.catalog),
        ("pending", layout.sidecar_folder("pending")),
        ("approved", layout.sidecar_folder("approved")),
        ("library: sidecars", layout.sidecar_folder("library")),
        ("library: pictures", layout.image_folder("library")),
        ("trash", layout.sidecar_folder("trash")),
        ("thumbnails", layout.thumbnails),
    )
    chroma = layout.chroma
    own = (
        "Chroma",
        chroma,
        sum(_size(path) for path in _inside(chroma) if path.name not in ("images", "metadata")),
    )
    return [*((name, path, _size(path)) for name, path in parts), own]


def _size(path: Path) -> int:
    try:
        if path.is_file():
            return path.stat().st_size
    except OSError:  # moved away this very moment
        return 0
    return sum(_size(each) for each in _inside(path))


def _inside(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _format(name: str, value: object) -> str:
    """A setting's value for a page; of secrets only whether there is one."""
    if name.endswith("_token"):
        return "(set)" if value else ""
    return server_paths.shown(value) if isinstance(value, Path) else str(value)


def configuration() -> None:
    """Every setting, its value, and its purpose."""
    rows = [
        {
            "variable": f"MEMEDEX_{name.upper()}",
            "value": _format(name, getattr(settings(), name)),
            "meaning": field.description or "",
        }
        for name, field in Settings.model_fields.items()
    ]
    tables.show(rows, alt="Settings with their values")
    st.caption("Set them in the environment or in a `.env` file next to `app.py`, and start again.")
