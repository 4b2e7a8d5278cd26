"""Three records to export."""

import io

import pytest
from PIL import Image

from store.disk.images import normalise
from tests.store.exporting.coins import MINT, OTHER, THIRD


@pytest.fixture
def picture_of(tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    for address, colour in ((MINT, "red"), (OTHER, "blue"), (THIRD, "lime")):
        buffer = io.BytesIO()
        Image.new("RGB", (8, 8), colour).save(buffer, "PNG")
        (folder / f"{address}.jpg").write_bytes(normalise(buffer.getvalue()))
    return lambda address: folder / f"{address}.jpg"
