"""Three records to export, and what an import reads of an export."""

from store.exporting.formats import FORMATS
from store.importing import Candidate, candidates
from store.records import Record

MINT = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM"
OTHER = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
THIRD = "0x" + "ab" * 20
LOSSLESS = tuple(form for form in FORMATS if form != "tokenlist")  # when they are imported again


def record(address=MINT, tier="library", **changes):
    whole = {
        "token_name": "Doge Coin",
        "ticker": "DOGE",
        "description": 'Much wow,\nvery "crypto"; =1+1',
        "token_address": address,
        "created_at": 1_693_440_000,
        "caption": {"entity": "a dog", "context": "wow", "visual": "", "emotions": "-happy"},
        "tags": ["dog|wolf", "space cat", "=1+1", "🚀"],
        "tags_categories": ["animals"],
        "chainId": 101,
        "name": "another name",
        "entity": "no facet",
        "file": "no file",
        "extensions": {"links": ["=HYPERLINK(1)"], "n": 1.5, "none": None},
    }
    return Record(whole | changes, tier)


def records():
    pending = record(OTHER, "pending", token_name="=cmd|' /C calc'!A0", ticker="@sum", description="")
    del pending.sidecar["caption"]
    odd = {
        "entity": "",
        "visual": "x\r\n\n 漢字\u2028‏שלום 👩‍🚀",
        "emotions": '"quoted", and, more\t',
        "odd": 1,
    }
    return [record(tags=["dog|wolf"]), pending, record(THIRD, "approved", caption=odd)]


def imported(path):
    found = list(candidates([path]))
    assert [one for one in found if not isinstance(one, Candidate)] == []
    return {one.sidecar["token_address"]: one for one in found}
