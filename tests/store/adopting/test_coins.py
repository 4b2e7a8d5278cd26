"""Pictures, tables and lists of other tools come in, and the preview says what each of them means."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from store.adopting.systems import recognise
from store.library import Library
from store.records import Record
from store.runtime import open_library
from store.tasks import adopt
from tests.store.conftest import picture
from tests.store.hashed import Hashed

pytestmark = pytest.mark.usefixtures("without_chroma")
EVM = "0x" + "ab" * 20


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    opened = open_library(tmp_path / "res", embedder=Hashed())
    yield opened
    opened.close()


def written(folder: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def taken(library: Library, path: Path, *, system: str) -> dict[str, Record]:
    (survey,) = recognise(path)
    assert survey.system == system
    job = adopt.start(library, [survey])
    assert library.jobs.wait(job.id, timeout=30)
    done = library.jobs.get(job.id)
    assert done
    report = adopt.report_of(library, done)
    assert report, done.error
    assert report.refused == []
    records = [library.get(one) for one in report.taken]
    assert {record.tier for record in records} == {"pending"}
    return {record.name: record for record in records}


def test_text_files_beside_pictures_are_captions_or_tags(tmp_path: Path, library: Library) -> None:
    folder = written(tmp_path / "kohya", {
        "one.png": picture(1), "one.txt": b"A dog on the moon, which looks at us.",
        "two.png": picture(2), "two.txt": b"1girl, dog, space suit\n",
        "alone.png": picture(3),
    })  # fmt: skip
    records = taken(library, folder, system="captioned-pictures")
    assert records["one"].caption == {"entity": "A dog on the moon, which looks at us."}
    assert records["two"].tags == ["1girl", "dog", "space suit"]
    assert (records["alone"].tags, records["alone"].caption) == ([], {})


def test_a_text_column_is_the_caption(tmp_path: Path, library: Library) -> None:
    folder = written(tmp_path / "hf", {
        "train/a.png": picture(1), "train/metadata.csv": b"file_name,text,license\na.png,a dog,cc0\n",
    })  # fmt: skip
    records = taken(library, folder, system="table")
    assert records["a"].caption == {"entity": "a dog"}
    assert records["a"].sidecar["license"] == "cc0"


def test_json_lines_with_a_string_as_caption(tmp_path: Path, library: Library) -> None:
    lines = [{"image": "a.png", "caption": "a dog"}, {"image": "b.png", "caption": ["a cat", "asleep"]}]
    text = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
    folder = written(tmp_path / "blip", {"a.png": picture(1), "b.png": picture(2), "captions.jsonl": text})
    records = taken(library, folder / "captions.jsonl", system="table")
    assert records["a"].caption == {"entity": "a dog"}
    assert records["b"].caption == {"entity": "a cat asleep"}


def test_class_folders_become_tags(tmp_path: Path, library: Library) -> None:
    folder = written(tmp_path / "classes", {
        "train/dog/a.png": picture(1), "train/cat/b.png": picture(2), "test/dog/c.png": picture(3),
    })  # fmt: skip
    records = taken(library, folder, system="class-folders")
    assert {name: record.tags for name, record in records.items()} == {
        "a": ["dog"],
        "b": ["cat"],
        "c": ["dog"],
    }


def test_an_address_on_several_chains_is_as_many_coins(tmp_path: Path, library: Library) -> None:
    tokens = [
        {
            "chainId": chain,
            "address": EVM,
            "symbol": "A",
            "name": f"A {chain}",
            "decimals": 18,
            "logoURI": "a.png",
        }
        for chain in (1, 137, 8453)
    ]
    folder = written(tmp_path / "list", {
        "a.png": picture(1), "tokenlist.json": json.dumps({"name": "L", "tokens": tokens}).encode(),
    })  # fmt: skip
    (survey,) = recognise(folder)
    assert "several chains" in survey.notes[0]
    records = taken(library, folder, system="token-list")
    assert {name: record.address for name, record in records.items()} == {
        "A 1": EVM, "A 137": f"{EVM}@137", "A 8453": f"{EVM}@8453",
    }  # fmt: skip
    (survey,) = recognise(folder)
    again = adopt.start(library, [survey])
    assert library.jobs.wait(again.id, timeout=30)
    report = adopt.report_of(library, again)
    assert report
    assert (len(report.present), report.taken, report.refused) == (3, [], [])


def test_pictures_beside_a_table_that_names_none_are_no_table_of_pictures(tmp_path: Path) -> None:
    files = {
        "stats/days.csv": b"day,count\n1,2\n",
        "notes/a.md": b"# A",
        "notes/b.md": b"# B",
        "shot.png": picture(1),
    }
    assert recognise(written(tmp_path / "docs", files), system="table") == []


def test_the_mapping_of_a_thousand_columns_is_shown_before(tmp_path: Path) -> None:
    heads = ["Contract", "Name", "file", *(f"x{number}" for number in range(997))]
    row = [EVM, "Doge", "a.png", *map(str, range(997))]
    folder = written(tmp_path / "table", {
        "a.png": picture(1), "coins.csv": f"{','.join(heads)}\n{','.join(row)}\n".encode(),
    })  # fmt: skip
    (survey,) = recognise(folder / "coins.csv")
    assert survey.notes[0].startswith(
        "coins.csv has 1,000 columns: Contract → token_address, Name → token_name"
    )
    assert "985 more" in survey.notes[0]
