"""litellm, kept at home: imported late, fetching nothing by itself, its errors in plain words."""

import os
import re
import warnings
from typing import Any

_BROKEN = {
    "ConnectError",
    "ReadError",
    "WriteError",
    "RemoteProtocolError",
    "ConnectionError",
    "APIConnectionError",
}
_REASONS = (
    # litellm's classes by name, the narrower before the wider; what happened, and what to do about it.
    (
        "ContentPolicyViolationError",
        "refused the content",
        "write the caption by hand, or choose another model",
    ),
    (
        "ContextWindowExceededError",
        "cannot read that much text",
        "shorten the description, or choose another model",
    ),
    ("AuthenticationError", "did not accept the key", "check the provider's key in the environment ({key})"),
    ("PermissionDeniedError", "did not allow it", "check what the key in the environment may use ({key})"),
    ("NotFoundError", "is not known there", "check the model's name and address"),
    ("RateLimitError", "asks to slow down (rate limit)", "wait a minute and try again"),
    ("Timeout", "did not answer in time", "try again, or allow it more time"),
    ("ServiceUnavailableError", "is not available at the moment", "try again later"),
    ("BadGatewayError", "is not available at the moment", "try again later"),
    ("InternalServerError", "failed on its own side", "try again later"),
    ("APIConnectionError", "cannot be reached, or the connection broke", "check the network and the address"),
    ("UnsupportedParamsError", "does not support this request", "choose another model"),
    (
        "BadRequestError",
        "did not accept the request",
        "check the model's name; it must be able to see pictures",
    ),
)


def import_litellm() -> Any:
    """litellm, told not to fetch its price list nor to print; three seconds the first time."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # must be set before the import
    # Pydantic's remark on litellm's own types would be all that a terminal shows.
    warnings.filterwarnings("ignore", message=r"Item '.*' on TypedDict class", category=UserWarning)
    import litellm

    litellm.suppress_debug_info = True
    return litellm


def readable(error: Exception, *, model: str) -> str:
    """One sentence on what went wrong with a language model, and what can be done."""
    classes = {cls.__name__ for cls in type(error).__mro__}
    if "Timeout" not in classes and _BROKEN & _causes(error):  # litellm calls these a server's fault
        classes = {"APIConnectionError"}
    detail = _one_line(str(error))
    key = (
        f"{model.partition('/')[0].upper()}_API_KEY"
        if "/" in model
        else "OPENAI_API_KEY, ANTHROPIC_API_KEY …"
    )
    for name, what, remedy in _REASONS:
        if name in classes:
            return f"{model} {what}; {remedy.format(key=key)} [{detail}]"
    return f"{model} gave no answer; try again [{type(error).__name__}: {detail}]"


def _causes(error: BaseException) -> set[str]:
    """The names of the classes of an error and of what led to it."""
    names: set[str] = set()
    chain: BaseException | None = error
    for _ in range(20):  # a chain may bite its own tail
        if chain is None:
            break
        names |= {cls.__name__ for cls in type(chain).__mro__}
        chain = chain.__cause__ or chain.__context__
    return names


def _one_line(text: str, *, limit: int = 240) -> str:
    line = re.sub(r"\s+", " ", text).strip()
    line = re.sub(
        r"\b(sk|key|Bearer)[-_ ][A-Za-z0-9_\-*.]{8,}", r"\1-…", line
    )  # providers quote the key back
    return line if len(line) <= limit else f"{line[:limit]}…"
