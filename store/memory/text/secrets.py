"""Secrets in what people and agents said: found by their forms, and replaced by what they were.

Each program names its keys by a prefix (`ghp_`, `AKIA`), and others stand behind a name (`API_KEY=`). To add
one, add a line to `_FORMS` with texts of which one stands wherever the form may match, because looking for
these is quick. Addresses of coins, hashes and signatures of transactions have the form of keys without a
prefix: they are left alone unless a name says that they are secret.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple

_NAME = (
    r"(?:api[_-]?key|secret[_-]?key|access[_-]?key|access[_-]?token|auth[_-]?token|refresh[_-]?token"
    r"|bot[_-]?token|client[_-]?secret|private[_-]?key|secret|password|passwd|passphrase)"
)


class _Form(NamedTuple):
    """What one kind of secret looks like."""

    kind: str
    has: tuple[str, ...]  # one of these is in every match
    pattern: re.Pattern[str]  # its last group is the secret; without one, all of it
    in_long_word: bool  # that one is in a long word, which are a small part of most texts


def _form(kind: str, has: str, pattern: str, *, in_long_word: bool = True) -> _Form:
    return _Form(kind, tuple(has.split()), re.compile(pattern), in_long_word)


_LONG_WORD = re.compile(r"[A-Za-z0-9_.:/=-]{15,}")  # the shortest key with a prefix has 15 characters


_FORMS = (
    _form("private key", "-----BEGIN", (
        r"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----"
        r"(?:[\s\S]{1,8000}?-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|(?:\\n|[\sA-Za-z0-9+/=]){16,})"
    ), in_long_word=False),
    # A key pair of Solana, as its command line stores it.
    _form("private key", "[", r"\[(?:\s*\d{1,3}\s*,){63}\s*\d{1,3}\s*\]", in_long_word=False),
    _form("recovery phrase", "nemonic phrase MNEMONIC Phrase PHRASE", (
        r"(?i)(?:mnemonic|(?:seed|recovery|secret)[ _]?phrase)\W{1,8}"
        r"(?P<secret>(?:[a-z]{3,8}[ ,]+){11,23}[a-z]{3,8})\b"
    ), in_long_word=False),
    _form("API key", "sk-", (
        r"sk-(?<![\w-]sk-)(?:(?:ant|proj|or|svcacct|admin|lf|None)-[\w-]{16,}"
        r"|(?=[A-Za-z0-9]*\d)[A-Za-z0-9]{20,})"
    )),
    _form("API key", "k_live_ k_test_ whsec_", r"(?<!\w)(?:[srp]k_(?:live|test)|whsec)_[A-Za-z0-9]{16,}"),
    _form("API key", "AIza ya29. GOCSPX-", r"(?<!\w)(?:AIza[\w-]{35}|ya29\.[\w-]{20,}|GOCSPX-[\w-]{20,})"),
    _form("API key", "gsk_ xai- pplx- r8_ tvly- fw_", (
        r"(?<![\w-])(?:gsk_|xai-|pplx-|r8_|tvly-|fw_)[A-Za-z0-9]{20,}"
    )),
    _form("API key", "SG. shpat_ dop_v1_ lin_api_ ntn_", (
        r"(?<!\w)(?:SG\.[\w-]{16,}\.[\w-]{16,}|shpat_[a-f0-9]{32}|dop_v1_[a-f0-9]{64}"
        r"|lin_api_[A-Za-z0-9]{30,}|ntn_[A-Za-z0-9]{30,})"
    )),
    _form("API key", "alchemy.com infura.io", (
        r"(?:alchemy\.com|infura\.io)/(?:ws/)?v\d/(?P<secret>[\w-]{20,})"
    )),
    _form("GitHub token", "ghp_ gho_ ghs_ ghu_ ghr_ github_pat_", (
        r"(?<!\w)(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,})"
    )),
    _form("GitLab token", "glpat-", r"(?<!\w)glpat-[\w-]{20,}"),
    _form("AWS key", "AKIA ASIA", r"(?<![A-Z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Z0-9])"),
    _form("AWS key", "aws_secret_access_key", (
        r"aws_secret_access_key\W{1,6}(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])"
    )),
    _form("Slack token", "xox hooks.slack.com", (
        r"(?<!\w)xox[a-z]-[\w-]{10,}|hooks\.slack\.com/services/(?P<secret>T\w+/B\w+/\w{16,})"
    )),
    _form("token", "hf_ npm_ pypi-", (
        r"(?<!\w)(?:hf_[A-Za-z0-9]{30,}|npm_[A-Za-z0-9]{36}|pypi-[\w-]{50,})"
    )),
    _form("bot token", ":AA", r"(?<!\d)\d{8,10}:AA[\w-]{33}(?![\w-])"),
    _form("token", "eyJ", r"(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{16,}"),
    _form("bearer token", "earer EARER", (
        r"(?i)\bbearer\s+(?P<secret>(?=[^\s\"']*\d)[\w.~+/=-]{16,})"
    ), in_long_word=False),
    _form("password", "asic BASIC", (
        r"(?i)authorization\W{1,6}basic\s+(?P<secret>[A-Za-z0-9+/]{8,}={0,2})"
    ), in_long_word=False),
    _form("password", "://", (
        r"://(?<=[a-z0-9+.-]{2}://)[^\s:/@\"'<>]*:(?P<secret>[^\s:/@\"'<>]{3,})@[\w.\[-]"
    ), in_long_word=False),
    _form("API key", "key= access_token=", (
        r"[?&](?:api[-_]?key|access_token)=(?P<secret>(?=[^&\s\"']*\d)[^&\s\"'<>\\)]{12,})"
    ), in_long_word=False),
)  # fmt: skip
_OTHER_FORMS = tuple(form for form in _FORMS if not form.in_long_word)
_KEYS = [one for form in _FORMS if form.in_long_word for one in form.has]
_SHORTEST = 10  # characters of a text with a secret
_VARIABLES = ("KEY", "TOKEN", "SECRET", "PASS", "PWD")
_NAMES = (  # in lower case
    "api_key", "api-key", "apikey", "secret", "access_key", "access-key", "accesskey", "_token", "-token",
    "accesstoken", "authtoken", "bottoken", "refreshtoken", "private_key", "private-key", "privatekey",
    "passw", "passphrase",
)  # fmt: skip
_IN_NAMES = ("key", "token", "secret", "passw", "passphrase")  # one of which each of them has
_VARIABLE = re.compile(  # of a shell, an .env file or a Dockerfile
    r"(?<![\w.])(?P<name>[A-Z][A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PASS|PWD)(?:_[A-Z0-9]+)?)"
    r"\s?=\s?(?:\\?\"(?P<a>[^\"\s\\]{6,})\\?\"|'(?P<b>[^'\s]{6,})'|(?P<c>[^\s\"'`#;,&|()<>\\]{6,}))"
)
_FIELD = re.compile(  # of JSON, YAML or source text
    rf"(?i)(?P<name>{_NAME})\\?[\"']?\s*(?::|=>?)\s*"
    r"(?:\\?\"(?P<a>[^\"\s\\]{6,})\\?\"|'(?P<b>[^'\s]{6,})')"
)
_LINE = re.compile(rf"(?im)^[ \t-]*(?P<name>{_NAME}):[ \t]+(?P<c>(?=\S*\d)[^\s\"'(){{}}<>]{{6,}})[ \t]*$")
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
    if len(text) < _SHORTEST:
        return []
    words = "\n".join(_LONG_WORD.findall(text))
    has_key = any([one in words for one in _KEYS])  # noqa: C419  in half the time of a generator
    found = [
        place
        for form in (_FORMS if has_key else _OTHER_FORMS)
        if any(one in text for one in form.has)
        for match in form.pattern.finditer(text)
        for place in _places(match, form.kind)
    ]
    if "=" in text and any(one in text for one in _VARIABLES):
        found += (place for match in _VARIABLE.finditer(text) for place in _places(match))
    if _has_name(text):
        for line in _WHOLE_LINE.finditer(text):
            if _has_name(line[0]):
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


def _has_name(text: str) -> bool:
    """Whether a field's name may be in it: looking for one whatever its case is slow."""
    if ":" not in text and "=" not in text:
        return False
    lower = text.lower()
    return any(one in lower and any(name in lower for name in _NAMES) for one in _IN_NAMES)


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
