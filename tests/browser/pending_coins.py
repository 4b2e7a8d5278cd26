"""Coins that wait for review, one with a name that would be markup."""

from store.library import Library
from tests.browser.dashboard import Server
from tests.store.conftest import CREATED_AT, coin

COINS = 90
STRANGE = '<img src=x onerror="window.obeyed = true"> **bold** [link](http://example.com)'


def add_pending(library: Library) -> None:
    library.add(coin(number) for number in range(COINS))
    library.add([coin(COINS, token_name=STRANGE, description=STRANGE, created_at=CREATED_AT + 50)])


def tier(app: Server, address: str) -> str:
    with app.stored() as library:
        return library.get(address).tier
