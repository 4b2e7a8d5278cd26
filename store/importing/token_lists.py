"""Token lists: one JSON with many coins and the URLs of their logos. Source: tokenlists.org."""

from collections.abc import Iterator
from typing import Any

from store.errors import BadSource, InvalidRecord
from store.importing import tables
from store.importing.candidate import Candidate, RemoteLogo, WithoutPicture, shown
from store.importing.metadata import one_line, sidecar_of
from store.importing.names import folder_of
from store.importing.pictures import Pictures, endings
from store.importing.trees import Tree
from store.outcome import Refusal
from store.records import checked_address, made_up_address

_FETCHED = ("http://", "https://", "ipfs://")


def is_token_list(value: Any) -> bool:
    """Whether this JSON is a token list rather than a sidecar."""
    return isinstance(value, dict) and isinstance(value.get("tokens"), list) and "token_address" not in value


def coins(
    tree: Tree, pictures: Pictures, *, name: str, tokens: list[Any], used: set[str]
) -> Iterator[Candidate | Refusal]:
    """Each token of the list `name` whose picture is in the tree; the others as refusals.

    Adds the pictures it uses to `used`.
    """
    if not tokens or len(tokens) > tables.MAX_ROWS:
        yield Refusal(tree.item(name), tables.TOO_MANY if tokens else "the token list is empty")
        return
    shared = endings(token.get("logoURI") for token in tokens if isinstance(token, dict))
    for number, token in enumerate(tokens, start=1):
        item = _item(tree, name, number, token)
        try:
            if not isinstance(token, dict):
                raise BadSource("it is not an object")
            if "address" not in token and "token_address" not in token:
                raise BadSource("it has no address")
            sidecar = sidecar_of(token)
            address = sidecar.get("token_address", "")
            try:
                found = pictures.meant(
                    token.get("logoURI"), folder=folder_of(name), address=address, shared=shared
                )
            except BadSource as error:
                yield without_picture(item, str(error), sidecar, token.get("logoURI"))
                continue
            used.add(found)
            yield Candidate(item, sidecar, tree.picture(found))
        except (BadSource, InvalidRecord) as error:
            yield Refusal(item, str(error))


def without_picture(item: str, reason: str, sidecar: dict[str, Any], logo: object) -> Refusal:
    """The refusal for a missing picture, with all that is known of the coin.

    If the picture is on the network, it can be downloaded; a coin without an address gets one from its URL.
    """
    uri = logo.strip() if isinstance(logo, str) else ""
    is_remote = uri.lower().startswith(_FETCHED)
    if is_remote:
        sidecar = {"logoURI": uri, "token_address": made_up_address(uri.encode()), **sidecar}
    if "token_address" not in sidecar:
        return Refusal(item, reason)
    sidecar["token_address"] = checked_address(sidecar["token_address"])
    return RemoteLogo(item, reason, sidecar, uri) if is_remote else WithoutPicture(item, reason, sidecar)


def _item(tree: Tree, name: str, number: int, token: Any) -> str:
    label = f"token {number}"
    if isinstance(token, dict):
        words = (token.get("symbol"), token.get("name"), token.get("address"))
        label += " " + " ".join(one_line(word)[:60] for word in words if isinstance(word, str))
    return shown(f"{tree.item(name)}: {label}")
