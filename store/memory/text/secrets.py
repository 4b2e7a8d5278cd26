"""Secrets in what people and agents said: found by their forms, and replaced by what they were.

Each program names its keys by a prefix (`ghp_`, `AKIA`), and others stand behind a name (`API_KEY=`). To add
one, add a line to `_FORMS` with a `sign` that is in every match. Addresses of coins, hashes and signatures of
transactions have the form of keys without a prefix: they are left alone unless a name says that they are
secret.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from operator import itemgetter
from typing import Annotated, Any, NamedTuple

from pydantic import StringConstraints, TypeAdapter

_NAME = (
    r"(?:api[_-]?key|secret[_-]?key|access[_-]?key|access[_-]?token|auth[_-]?token|refresh[_-]?token"
    r"|bot[_-]?token|client[_-]?secret|private[_-]?key|secret|password|passwd|passphrase)"
)


def _finder(sign: str) -> Callable[[str], bool]:
    """Whether a text has this sign, asked of pydantic's regex engine: `re` would take thirty times as long.

    It knows no look-around, and finds nothing in a text with a lone surrogate.
    """
    return TypeAdapter(Annotated[str, StringConstraints(pattern=sign)]).validator.isinstance_python


class _Form(NamedTuple):
    """What one kind of secret looks like."""

    kind: str  # "": what the group `name` says
    sign: str  # a regular expression that is found in every match
    may_be_in: Callable[[str], bool]
    pattern: re.Pattern[str]  # its last group is the secret; without one, all of it


def _form(kind: str, sign: str, pattern: str) -> _Form:
    return _Form(kind, sign, _finder(sign), re.compile(pattern))


_FORMS = (
    _form("private key", "-----BEGIN [A-Z ]*PRIVATE KEY", (
        r"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----"
        r"(?:[\s\S]{1,8000}?-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|(?:\\n|[\sA-Za-z0-9+/=]){16,})"
    )),
    # A key pair of Solana, as its command line stores it.
    _form("private key", r"\[[^,\]]*\d[^,\]]*,[^,\]]*\d[^,\]]*,", r"\[(?:\s*\d{1,3}\s*,){63}\s*\d{1,3}\s*\]"),
    _form("recovery phrase", "(?i:mnemonic|(?:seed|recovery|secret)[ _]?phrase)", (
        r"(?i)(?:mnemonic|(?:seed|recovery|secret)[ _]?phrase)\W{1,8}"
        r"(?P<secret>(?:[a-z]{3,8}[ ,]+){11,23}[a-z]{3,8})\b"
    )),
    _form("API key", "sk-", (
        r"sk-(?<![\w-]sk-)(?:(?:ant|proj|or|svcacct|admin|lf|None)-[\w-]{16,}"
        r"|(?=[A-Za-z0-9]*\d)[A-Za-z0-9]{20,})"
    )),
    _form("API key", "k_live_|k_test_|whsec_", r"(?<!\w)(?:[srp]k_(?:live|test)|whsec)_[A-Za-z0-9]{16,}"),
    _form("API key", r"AIza|ya29\.|GOCSPX-", r"(?<!\w)(?:AIza[\w-]{35}|ya29\.[\w-]{20,}|GOCSPX-[\w-]{20,})"),
    _form("API key", "gsk_|xai-|pplx-|r8_|tvly-|fw_", (
        r"(?<![\w-])(?:gsk_|xai-|pplx-|r8_|tvly-|fw_)[A-Za-z0-9]{20,}"
    )),
    _form("API key", r"SG\.|shpat_|dop_v1_|lin_api_|ntn_", (
        r"(?<!\w)(?:SG\.[\w-]{16,}\.[\w-]{16,}|shpat_[a-f0-9]{32}|dop_v1_[a-f0-9]{64}"
        r"|lin_api_[A-Za-z0-9]{30,}|ntn_[A-Za-z0-9]{30,})"
    )),
    _form("API key", r"alchemy\.com|infura\.io", (
        r"(?:alchemy\.com|infura\.io)/(?:ws/)?v\d/(?P<secret>[\w-]{20,})"
    )),
    _form("GitHub token", "gh[pousr]_|github_pat_", (
        r"(?<!\w)(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,})"
    )),
    _form("GitLab token", "glpat-", r"(?<!\w)glpat-[\w-]{20,}"),
    _form("AWS key", "AKIA|ASIA", r"(?<![A-Z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Z0-9])"),
    _form("AWS key", "aws_secret_access_key", (
        r"aws_secret_access_key\W{1,6}(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])"
    )),
    _form("Slack token", r"xox[a-z]-|hooks\.slack\.com", (
        r"(?<!\w)xox[a-z]-[\w-]{10,}|hooks\.slack\.com/services/(?P<secret>T\w+/B\w+/\w{16,})"
    )),
    _form("token", "hf_|npm_|pypi-", (
        r"(?<!\w)(?:hf_[A-Za-z0-9]{30,}|npm_[A-Za-z0-9]{36}|pypi-[\w-]{50,})"
    )),
    _form("bot token", ":AA", r"(?<!\d)\d{8,10}:AA[\w-]{33}(?![\w-])"),
    _form("token", "eyJ", r"(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{16,}"),
    _form("bearer token", "(?i:bearer)", (
        r"(?i)\bbearer\s+(?P<secret>(?=[^\s\"']*\d)[\w.~+/=-]{16,})"
    )),
    _form("password", "(?i:authorization)", (
        r"(?i)authorization\W{1,6}basic\s+(?P<secret>[A-Za-z0-9+/]{8,}={0,2})"
    )),
    _form("password", r"""://[^\s:/@"'<>]*:[^\s:/@"'<>]{3,}@""", (
        r"://(?<=[a-z0-9+.-]{2}://)[^\s:/@\"'<>]*:(?P<secret>[^\s:/@\"'<>]{3,})@[\w.\[-]"
    )),
    _form("API key", "[?&](?:api[-_]?key|access_token)=", (
        r"[?&](?:api[-_]?key|access_token)=(?P<secret>(?=[^&\s\"']*\d)[^&\s\"'<>\\)]{12,})"
    )),
    # Of a shell, an .env file or a Dockerfile.
    _form("", r"(?:KEY|TOKEN|SECRET|PASS|PWD)[A-Z0-9_]*\W?=", (
        r"(?<![\w.])(?P<name>[A-Z][A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PASS|PWD)(?:_[A-Z0-9]+)?)"
        r"\s?=\s?(?:\\?\"(?P<a>[^\"\s\\]{6,})\\?\"|'(?P<b>[^'\s]{6,})'|(?P<c>[^\s\"'`#;,&|()<>\\]{6,}))"
    )),
)  # fmt: skip
_FIELD = re.compile(  # of JSON, YAML or source text
    rf"(?i)(?P<name>{_NAME})\\?[\"']?\s*(?::|=>?)\s*"
    r"(?:\\?\"(?P<a>[^\"\s\\]{6,})\\?\"|'(?P<b>[^'\s]{6,})')"
)
_LINE = re.compile(rf"(?im)^[ \t-]*(?P<name>{_NAME}):[ \t]+(?P<c>(?=\S*\d)[^\s\"'(){{}}<>]{{6,}})[ \t]*$")
_NAMED = rf"(?i:{_NAME})\W*[:=]"
_is_named = _finder(_NAMED)
_may_be_in = _finder("|".join([*(form.sign for form in _FORMS), _NAMED]))
_WHOLE_LINE = re.compile(r"[^\n]+")
_SAID = re.compile(
    r"(?i)\b(?:password|passwd|passphrase|secret|api[ _-]?key|token|seed phrase|mnemonic)\b"
    r"\s*(?:is|=|:)\s*\S+"
)
_NAME_ALONE = re.compile(rf"(?i)(?:\w+[_-])?{_NAME}")
_NO_SECRET = re.compile(
    r"PUBLIC|PUB_?KEY|ADDRESS|MINT|TOKENS|TOKENIZER|_(?:ID|URL|URI|PATH|FILE|NAME|TYPE|LIMIT|TTL|PREFIX)$"
)
_PLACEHOLDER = re.compile(
    r"(?i)[<$%{\[*]|.*(?:\.\.\.|…|\*\*\*|xxxx|\bmasked\b|redacted|environ|process\.env|getenv)|your|example"
    r"|change.?me|placeholder|required|optional|string$|undefined|password$|passwd$|secret$|[a-z]+[_-]api[_-]key$"
)
_ADDRESS = re.compile(
    r"(?:0x)?[0-9a-fA-F]{40}|(?:0x)?[0-9a-fA-F]{64}|[1-9A-HJ-NP-Za-km-z]{32,44}|[1-9A-HJ-NP-Za-km-z]{87,88}"
)
_SURE = re.compile(r"(?i)api|secret|private|passw|passphrase|auth|access|pwd")


def masked(value: Any, found: Counter[str]) -> Any:
    """A JSON value in which "[masked AWS key]" and the like stand for secrets, which are counted by kind."""
    if isinstance(value, str):
        return _masked_text(value, found)
    if isinstance(value, list):
        return [masked(one, found) for one in value]
    if isinstance(value, Mapping):
        return {name: _masked_field(name, one, found) for name, one in value.items()}
    return value


def told(found: Counter[str]) -> str:
    """What was masked, as a sentence; "" if nothing was."""
    if not (count := found.total()):
        return ""
    kinds = ", ".join(
        f"{number:,} {kind}{'' if number == 1 else 's'}" for kind, number in sorted(found.items())
    )
    return f"{count:,} secret{' is' if count == 1 else 's are'} masked ({kinds})"


def _masked_field(name: Any, value: Any, found: Counter[str]) -> Any:
    if isinstance(value, str) and _NAME_ALONE.fullmatch(str(name)) and _is_secret(str(name), value):
        kind = _kind_of(str(name))
        found[kind] += 1
        return f"[masked {kind}]"
    return masked(value, found)


def _masked_text(text: str, found: Counter[str]) -> str:
    for start, end, kind in reversed(places(text)):
        found[kind] += 1
        text = f"{text[:start]}[masked {kind}]{text[end:]}"
    return text


def places(text: str) -> list[tuple[int, int, str]]:
    """Where each secret of a text begins and ends, with its kind, in the order of the text."""
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode()  # a lone surrogate becomes a question mark
    if not _may_be_in(text):
        return []
    found = [
        place
        for form in _FORMS
        if form.may_be_in(text)
        for match in form.pattern.finditer(text)
        for place in _places(match, form.kind)
    ]
    if _is_named(text):
        for line in _WHOLE_LINE.finditer(text):
            if _is_named(line[0]):
                matches = chain(*(pattern.finditer(text, *line.span()) for pattern in (_FIELD, _LINE)))
                found += (place for match in matches for place in _places(match))
    apart: list[tuple[int, int, str]] = []
    for place in sorted(found, key=itemgetter(0)):
        if not apart or place[0] >= apart[-1][1]:
            apart.append(place)
    return apart


def spoken_of(text: str) -> list[tuple[int, int]]:
    """Where a text holds a secret, or speaks of one in words, which is too often none to be masked."""
    said = [match.span() for match in _SAID.finditer(text)]
    held = [(start, end) for start, end, _ in places(text)]
    return said + [one for one in held if not any(start <= one[0] < end for start, end in said)]


def _places(match: re.Match[str], kind: str = "") -> Iterator[tuple[int, int, str]]:
    """The place of a match's secret, if it is one; without a kind, its name says so."""
    group = match.lastgroup or 0
    is_none = bool(group) and bool(_PLACEHOLDER.match(match[group]))
    if not is_none and (kind or _is_secret(match["name"], match[group])):
        yield (*match.span(group), kind or _kind_of(match["name"]))


def _is_secret(name: str, value: str) -> bool:
    """Whether what stands behind this name is a secret, and not a placeholder, a word or an address."""
    if " " in value or len(value) < 6 or _PLACEHOLDER.match(value) or _NO_SECRET.search(name.upper()):
        return False
    if _kind_of(name) == "password":
        return not re.fullmatch(r"[A-Z_]+|[\w.]+\(.*", value)
    is_random = any(one.isdigit() for one in value) and any(one.isalpha() for one in value)
    return is_random and (bool(_SURE.search(name)) or (len(value) >= 12 and not _ADDRESS.fullmatch(value)))


def _kind_of(name: str) -> str:
    return "password" if re.search(r"(?i)passw|passphrase|pwd|_pass$", name) else "secret value"
