"""What a browser sends as a dropped picture."""

from base64 import b64encode

import pytest

from components.search import picture_drop


@pytest.mark.parametrize(
    "sent",
    [
        None,
        [],
        "",
        "data:image/png",
        "data:image/png;base64,ä",
        "data:image/png;base64,\ud800",
        "data:text/html,x",
    ],
)
def test_anything_but_a_picture_is_left_out(sent: object) -> None:
    assert picture_drop._content(sent) is None


def test_a_picture_arrives_as_its_bytes() -> None:
    assert picture_drop._content(f"data:image/png;base64,{b64encode(b'bytes').decode()}") == b"bytes"
