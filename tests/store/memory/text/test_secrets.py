"""Secrets are masked by their forms and names; addresses of coins, hashes and placeholders stay."""

from collections import Counter
from typing import Any

import pytest

from store.memory.text.secrets import masked, told

KEY = "0123456789abcdefghij"  # no secret of anybody
ADDRESS = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"

SECRETS: dict[Any, str] = {
    f"use sk-proj-{KEY}": "use [masked API key]",
    f"sk-ant-api03-Ab-_{KEY}": "[masked API key]",
    f"sk-{KEY}": "[masked API key]",
    f"stripe sk_live_{KEY}": "stripe [masked API key]",
    f"ghp_{KEY}{KEY}": "[masked GitHub token]",
    f"github_pat_{KEY}_{KEY}": "[masked GitHub token]",
    f"glpat-{KEY}": "[masked GitLab token]",
    "AKIAIOSFODNN7EXAMPLE": "[masked AWS key]",
    f"aws_secret_access_key = {KEY}{KEY}": "aws_secret_access_key = [masked AWS key]",
    f"xoxb-1234567890-{KEY}": "[masked Slack token]",
    f"hf_{KEY}{KEY}": "[masked token]",
    f"123456789:AA{KEY}abcdefghijklm": "[masked bot token]",
    f"eyJ{KEY}.eyJ{KEY}.{KEY}": "[masked token]",
    f"Authorization: Bearer {KEY}": "Authorization: Bearer [masked bearer token]",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc=\n-----END RSA PRIVATE KEY-----": "[masked private key]",
    "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq": "[masked private key]",
    str([7] * 64): "[masked private key]",
    f"seed phrase: {'abandon ' * 11}about": "seed phrase: [masked recovery phrase]",
    "postgres://ada:hunter22@db.local/x": "postgres://ada:[masked password]@db.local/x",
    f"https://rpc.example.com/?api-key={KEY}": "https://rpc.example.com/?api-key=[masked API key]",
    f"https://eth-mainnet.g.alchemy.com/v2/{KEY}": "https://eth-mainnet.g.alchemy.com/v2/[masked API key]",
    f"OPENAI_API_KEY={KEY}\nDEBUG=1": "OPENAI_API_KEY=[masked secret value]\nDEBUG=1",
    "export DB_PASSWORD='pond pond'\nDB_PASSWORD=pondpond": (
        "export DB_PASSWORD='pond pond'\nDB_PASSWORD=[masked password]"
    ),
    f"PRIVATE_KEY=0x{'4c' * 32}": "PRIVATE_KEY=[masked secret value]",
    f'{{"api_key": "{KEY}"}}': '{"api_key": "[masked secret value]"}',
    f'{{\\"client_secret\\": \\"{KEY}\\"}}': '{\\"client_secret\\": \\"[masked secret value]\\"}',
    "password: hunter22": "password: [masked password]",
}

KEPT: tuple[Any, ...] = (
    ADDRESS, f"TOKEN={ADDRESS}", f"TOKEN_ADDRESS={ADDRESS}", f"PUBLIC_KEY={ADDRESS}",
    "token: 0xdAC17F958D2ee523a2206206994597C13D831ec7", f"tx {ADDRESS}{ADDRESS}", "e3b0c44298fc1c14" * 4,
    "565a7ba7", "0a1b2c3d-1111-2222-3333-444455556666", "OPENAI_API_KEY=your_api_key_1",
    "API_KEY=$OPENAI_KEY", "OPENAI_API_KEY=sk-...", "MAX_TOKENS=100000", "CACHE_KEY_PREFIX=pond:v1:frogs",
    "PRIMARY_KEY=user_id",
    "api_key=os.environ['OPENAI_API_KEY']", 'api_key="OPENAI_API_KEY"', "password=args.password",
    '"password": "Enter your password"', "The secret: be kind", "password: required",
    "sk-toggleable__label-arrow", "bearer of bad news that goes on and on", "[1, 2, 3]",
    "https://example.com:8000/pond@2x.png", "git@github.com:ada/pond.git",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----", {"token": ADDRESS}, {"size": 3}, None, 7,
)  # fmt: skip


@pytest.mark.parametrize(("given", "shown"), SECRETS.items())
def test_a_secret_is_masked_once(given: str, shown: str) -> None:
    found = Counter[str]()
    assert masked(given, found) == shown
    assert found.total() == 1
    assert masked(shown, found) == shown, "a mask is no secret"
    assert found.total() == 1


@pytest.mark.parametrize("given", KEPT)
def test_what_is_no_secret_stays(given: object) -> None:
    found = Counter[str]()
    assert masked(given, found) == given
    assert not found


def test_secrets_are_found_below_the_fields_of_an_object_and_told_by_their_kinds() -> None:
    found = Counter[str]()
    given = [{"type": "tool_use", "input": {"password": "pondpond", "note": [f"ghp_{KEY}"]}}]
    assert masked(given, found) == [
        {"type": "tool_use", "input": {"password": "[masked password]", "note": ["[masked GitHub token]"]}}
    ]
    assert told(found) == "2 secrets are masked (1 GitHub token, 1 password)"
    assert told(Counter()) == ""
