"""Any sidecar, token list, table, archive or picture to import gives coins or reasons, never a traceback."""

import io
import json
import zipfile
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.disk.layout import Layout
from store.disk.sidecars import read
from store.errors import InvalidRecord
from store.importing import uploaded
from store.importing.captions import captions_dropped
from store.library import Library
from store.outcome import Refusal
from tests.fuzz.cases import TEXTS, VALUES, altered, bounded, fuzz, garbled
from tests.store.conftest import CREATED_AT, address, picture

COIN: dict[str, Any] = {
    "token_name": "Coin",
    "ticker": "C",
    "description": "A coin.",
    "token_address": address(40),
    "created_at": CREATED_AT,
    "tags": ["dog"],
    "tags_categories": ["animals"],
    "caption": {"entity": "a dog", "context": "a joke"},
    "extensions": {"website": "https://x.org"},
}
TOKENS: dict[str, Any] = {
    "name": "A list",
    "tokens": [
        {"address": address(41), "symbol": "A", "name": "A", "logoURI": "x.png", "tags": ["dog"]},
        {"address": address(42), "symbol": "B", "name": "B", "logoURI": "https://x.org/b.png"},
    ],
}
TABLE = (
    "name,ticker,address,created_at,tags,entity,context,file,more\n"
    f'Coin,C,{address(43)},2023-01-31,"dog,cat",a dog,a joke,x.png,"{{""a"": 1}}"\n'
    f"Other,O,{address(44)},{CREATED_AT},,,,x.png,\n"
)


def zipped(files: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            readable = name.partition("\0")[0].encode(errors="replace").decode()
            archive.writestr(readable[:200] or "x", content)
    return file.getvalue()


LINES = "\n".join(json.dumps({**COIN, "file": "x.png"}) for _ in range(2))
ARCHIVE = zipped({"a.json": json.dumps(COIN).encode(), "a.png": picture(1), "list.csv": TABLE.encode()})
NAMES = st.sampled_from(("x", "a/b", "rag_db/metadata/x", "trash/x")) | TEXTS


def files(name: str, content: bytes) -> list[tuple[str, bytes]]:
    return [(name, content), ("x.png", picture(1))]


CASES = st.one_of(
    st.builds(lambda name, sidecar: files(f"{name}.json", dumped(sidecar)), NAMES, altered(COIN)),
    st.builds(lambda tokens: files("list.json", dumped(tokens)), altered(TOKENS)),
    st.builds(lambda row: files("rows.jsonl", dumped(row)), altered({**COIN, "file": "x.png"})),
    st.builds(lambda row: files("rows.json", dumped([row])), altered({**COIN, "more": {"a": 1}})),
    st.builds(lambda content: files("x.json", content), garbled(json.dumps(COIN).encode())),
    st.builds(lambda content: files("rows.jsonl", content), garbled(LINES.encode())),
    st.builds(lambda content: files("rows.csv", content), garbled(TABLE.encode())),
    st.builds(lambda content: files("coins.zip", content), garbled(ARCHIVE)),
    st.builds(lambda name, content: files("coins.zip", zipped({name: content})), NAMES, garbled(ARCHIVE)),
    st.builds(lambda content: files("y.png", content), garbled(picture(2))),
    st.builds(lambda content: files("notes.txt", content), garbled(b"a dog on the moon")),
)  # fmt: skip


def dumped(value: Any) -> bytes:
    return json.dumps(value).encode()


@fuzz(share=0.18)
@given(CASES)
def test_any_files_give_coins_that_are_added_or_refused(
    library: Library, given: list[tuple[str, bytes]]
) -> None:
    with bounded():
        found = list(uploaded(given))
        assert found
        outcome = library.add(found, actor="ann")
        assert all(one.reason and one.item.isprintable() for one in outcome.refused)
        for done in outcome.done:
            library.get(done)
        if outcome.done:
            library.delete(outcome.done, actor="ann")


@fuzz(share=0.07)
@given(CASES)
def test_any_files_give_captions_that_are_imported_or_refused(
    library: Library, given: list[tuple[str, bytes]]
) -> None:
    with bounded():
        for found in captions_dropped(given, facet="entity"):
            if isinstance(found, Refusal):
                assert found.reason
            else:
                json.dumps([found.address, found.caption, found.tags]).encode()


STORED: dict[str, Any] = {key: COIN[key] for key in COIN if key not in ("caption", "extensions")}


@fuzz(share=0.08)
@given(
    content=st.one_of(altered(STORED).map(dumped), garbled(json.dumps(STORED).encode()), VALUES.map(dumped))
)
def test_any_sidecar_in_a_librarys_folder_is_read_or_named(library: Library, content: bytes) -> None:
    layout, key = Layout(library.layout.root), address(40)
    layout.image("pending", key).write_bytes(picture(3))
    layout.sidecar("pending", key).write_bytes(content)
    try:
        with bounded():
            try:
                state, text = read(layout, "pending", key)
            except InvalidRecord:
                pass
            else:
                assert (state.tier, text) == ("pending", content)
            library.apply_external_edits()
            if known := library.records([key]):
                assert known[0].name.encode()
    finally:
        layout.image("pending", key).unlink(missing_ok=True)
        layout.sidecar("pending", key).unlink(missing_ok=True)


@pytest.mark.parametrize("name", ["list.json", "rows.csv", "coins.zip", "x.json"])
def test_an_empty_file_is_refused(name: str) -> None:
    assert all(isinstance(one, Refusal) for one in uploaded([(name, b"")]))
