"""What a record costs on the disk, by where it lies, as a Markdown table."""

from pathlib import Path

from store.disk.layout import Layout


def show(root: Path, size: int) -> None:
    """Print bytes for each of `size` records, as the file system counts them; pictures are left out."""
    layout = Layout(root.resolve())
    catalog = layout.memecoins.glob(f"{layout.catalog.name}*")
    parts = {
        "catalog (texts, history, words, vectors)": _on_disk(catalog),
        "mapped vectors for search": _on_disk(layout.matrices.rglob("*.npy")),
        "sidecars": _on_disk(layout.sidecar_folder("library").iterdir()),
    }
    print("\n| a coin's part on the disk | KB | GB in all |\n| --- | ---: | ---: |")
    for name, used in parts.items():
        print(f"| {name} | {used / size / 1e3:.1f} | {used / 1e9:.2f} |")


def _on_disk(paths: object) -> int:
    return sum(path.stat().st_blocks * 512 for path in paths)  # type: ignore[attr-defined]
