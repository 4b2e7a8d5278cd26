"""Why a Chroma server did not do what it was asked, as people are told."""

from typing import TYPE_CHECKING

from store.fetching.retry_after import seconds_to_wait

if TYPE_CHECKING:
    from httpx import Response

BUSY = 429  # HTTP: too many requests
_KEYS = (401, 403)  # HTTP: who asks is not known, or not permitted
_LONGEST_WAIT = 20.0  # seconds
_CUT = 500  # characters of what a server said


def refusal(error: BaseException | None) -> "Response | None":
    """The answer behind an error; chromadb's own errors seldom say its status."""
    import httpx

    while error is not None:
        if isinstance(error, httpx.HTTPStatusError):
            return error.response
        error = error.__cause__ or error.__context__
    return None


def wait(answer: "Response") -> float:
    """How many seconds a busy server asks to wait."""
    asked = seconds_to_wait(answer.headers.get("Retry-After"), most=_LONGEST_WAIT)
    return 1.0 if asked is None else asked


def describe(error: Exception, *, server: str, has_key: bool) -> str:
    """One sentence about a server that refuses or cannot be reached."""
    answer = refusal(error)
    said = _of_connection(error) or str(error)
    reason = said or type(error).__name__
    if answer is not None and answer.status_code in _KEYS:
        reason = f"it asks for {'another' if has_key else 'a'} key (MEMEDEX_CHROMA_API_KEY)"
        reason += f": {said}" if said else ""
    status = f"status {answer.status_code}: " if answer is not None else ""
    return f"{server} refuses or does not answer: {status}{reason}"[:_CUT]


def _of_connection(error: BaseException | None) -> str:
    """What the connection failed of, such as a certificate: chromadb only asks whether a server runs."""
    import httpx

    while error is not None:
        if isinstance(error, httpx.ConnectError):
            return str(error)
        error = error.__cause__ or error.__context__
    return ""
