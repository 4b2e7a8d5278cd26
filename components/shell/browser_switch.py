"""Switches that a browser keeps: a cookie, which the address of a page sets, or else the setting."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import parse_qs

from starlette.types import Scope

from components.shell.base_path import base_path

_YEAR = 31_536_000  # seconds


@dataclass(frozen=True, slots=True)
class BrowserSwitch:
    """`?parameter=1` and `?parameter=0` in the address of any page switch it on and off for the browser."""

    parameter: str
    cookie: str
    is_on_by_default: Callable[[], bool]

    def is_on(self, cookies: Mapping[str, str]) -> bool:
        """Whether it is on for the browser with these cookies."""
        chosen = cookies.get(self.cookie)
        return chosen == "1" if chosen in ("0", "1") else self.is_on_by_default()

    def set_cookie(self, scope: Scope) -> str | None:
        """The cookie to set for a request whose address switches it; None for any other."""
        query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
        value = query.get(self.parameter, [""])[-1]
        if scope.get("method") != "GET" or value not in ("0", "1"):
            return None
        return f"{self.cookie}={value}; Path={base_path() or '/'}; Max-Age={_YEAR}; SameSite=Lax; HttpOnly"
