"""The branches of a conversation whose messages were edited or answered again."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from store.memory.transcripts.sources import Branches, Record, at


class Branch(NamedTuple):
    """Messages that follow each other; `name` is "" for the chosen branch, else of its first message."""

    name: str
    records: Sequence[Record]


def branches_of(
    records: Sequence[Record], fields: Branches, conversation: Mapping[str, Any]
) -> Iterator[Branch]:
    """The chosen branch, then of each other one what no branch before it has."""
    ids = [str(at(one, fields.id) or number) for number, one in enumerate(records)]
    by_id = dict(zip(ids, records, strict=True))
    above = {id: str(at(one, fields.parent)) for id, one in by_id.items()}
    if not any(parent in by_id for parent in above.values()):  # no tree
        yield Branch("", records)
        return
    parents, left = {*above.values()}, dict.fromkeys(by_id)
    leaves = [id for id in by_id if id not in parents]
    chosen = str(at(conversation, fields.chosen)) if fields.chosen else ""
    last = chosen if chosen in by_id else (leaves or ids)[-1]
    for id in dict.fromkeys([last, *leaves, *ids]):  # all of them: a broken tree may have circles
        way = list[str]()
        while id in left:
            del left[id]
            way.append(id)
            id = above[id]
        if way:
            yield Branch("" if way[0] == last else way[-1], [by_id[one] for one in reversed(way)])
