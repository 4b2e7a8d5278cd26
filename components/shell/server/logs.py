"""The server's log: lines for people, or JSON lines for programs (MEMEDEX_LOG=json); request numbers."""

import json
import logging
import secrets
from contextvars import ContextVar
from datetime import UTC, datetime

from store.settings import settings

log = logging.getLogger(__name__)

_OTHERS = ("streamlit", "uvicorn", "uvicorn.error")  # loggers with handlers of their own


class JsonLines(logging.Formatter):
    """A JSON object for each message: time (UTC), level, logger, message, request, traceback."""

    def format(self, record: logging.LogRecord) -> str:
        """The line; fields without a value are left out."""
        fields = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            "request": request_number(),
            **getattr(record, "fields", {}),
            "error": self.formatException(record.exc_info) if record.exc_info else "",
        }
        return json.dumps({name: value for name, value in fields.items() if value != ""}, ensure_ascii=False)


def begin() -> None:
    """Write JSON lines from now on, if that is the setting; safe to repeat."""
    if settings().log != "json":
        return
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    logging.basicConfig(handlers=[handler], force=True)
    log.setLevel(logging.INFO)
    for name in _OTHERS:
        for other in logging.getLogger(name).handlers:
            other.setFormatter(JsonLines())


def request(method: str, path: str, status: int, seconds: float) -> None:
    """Log an answered request as a JSON line; what was asked after the path's "?" is not logged."""
    if log.isEnabledFor(logging.INFO):
        fields = {"method": method, "path": path, "status": status, "ms": round(seconds * 1000, 1)}
        log.info("request", extra={"fields": fields})


_request_number: ContextVar[str] = ContextVar("memedex_request_id", default="")


def begin_request() -> str:
    """Give the request of this task a new number; a client cannot choose it."""
    number = secrets.token_hex(6)
    _request_number.set(number)
    return number


def request_number() -> str:
    """The number of the current request; "" outside of one, as in the run of a page."""
    return _request_number.get()
