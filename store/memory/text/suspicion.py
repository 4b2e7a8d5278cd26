"""Words in a text that an agent should not remember unseen: instructions, addresses, secrets.

Rules that a person can follow, without a model. They show what to check; a text without any may be hostile.
"""

import re
from dataclasses import dataclass
from typing import Literal

Warned = Literal["instruction", "address", "secret"]

_INSTRUCTIONS = (
    r"\b(?:ignore|disregard|forget|override)\b[^.\n]{0,40}\b(?:previous|prior|above|earlier|all|any|your|the)\b"
    r"[^.\n]{0,30}\b(?:instructions?|prompts?|rules?|messages?|orders|context|guidelines?)\b",
    r"\b(?:system prompt|developer message|jailbreak)\b",
    r"\byou (?:must|have to|should|are to) (?:now |always |never )",
    r"\b(?:from now on|do not (?:tell|inform|mention to)|without (?:telling|asking))\b",
    r"\byou are now\b|\bact as\b|\bpretend (?:to be|that)\b",
    r"^\s*(?:system|assistant|developer)\s*:|<\|?(?:im_start|im_end|system|assistant)\b",
    r"\b(?:always|immediately) (?:send|transfer|buy|sell|approve|run|execute|call|visit|open)\b",
)
_ADDRESSES = (
    r"https?://[^\s<>\"')]+",
    r"\b[\w.+-]+@[\w-]+\.[\w.-]*\w",
    r"\b0x[0-9a-fA-F]{40}\b",
    r"\b[1-9A-HJ-NP-Za-km-z]{32,44}\b",
)
_SECRETS = (
    r"\b(?:sk|pk|rk)[-_](?:[a-z]+[-_])*[A-Za-z0-9_-]{16,}",
    r"\b(?:ghp|gho|ghs|github_pat|xox[abprs]|glpat)[-_][A-Za-z0-9_-]{10,}",
    r"\bAKIA[0-9A-Z]{16}\b",
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----",
    r"\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]+",
    r"(?i:\b(?:password|passwd|passphrase|secret|api[ _-]?key|token|seed phrase|mnemonic)\b)"
    r"\s*(?:is|=|:)\s*\S+",
)
_PATTERNS: dict[Warned, re.Pattern[str]] = {
    "instruction": re.compile("|".join(_INSTRUCTIONS), re.IGNORECASE | re.MULTILINE),
    "secret": re.compile("|".join(_SECRETS)),
    "address": re.compile("|".join(_ADDRESSES)),
}
_LONGEST = 80  # characters shown of what was found


@dataclass(frozen=True, slots=True)
class TextWarning:
    """A finding in a text, and its place."""

    reason: Warned
    found: str
    start: int
    end: int


def suspicions(text: str) -> list[TextWarning]:
    """Everything that reads like an instruction, an address or a secret, in the order of the text."""
    found = [
        TextWarning(reason, match.group().strip()[:_LONGEST], match.start(), match.end())
        for reason, pattern in _PATTERNS.items()
        for match in pattern.finditer(text)
    ]
    return sorted(found, key=lambda one: (one.start, one.reason))
