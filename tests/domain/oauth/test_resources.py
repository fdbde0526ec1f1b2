"""Resources of tokens, and the descriptions of scopes."""

import pytest

from app.domain.accounts.scopes import ALL, AUTOMATION, GENERAL, WORDS
from app.domain.oauth.resources import REQUIRED, WORKING_SET, Resources

RESOURCES = Resources("https://sms.example.com")


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ([], "https://sms.example.com"),
        (["https://sms.example.com"], "https://sms.example.com"),
        (["https://sms.example.com/"], "https://sms.example.com"),
        (["https://sms.example.com/mcp"], "https://sms.example.com/mcp"),
        (["https://sms.example.com/mcp/"], "https://sms.example.com/mcp"),
        (["https://sms.example.com/mcp", "https://sms.example.com/mcp"], "https://sms.example.com/mcp"),
        (["https://sms.example.com/mcp", "https://sms.example.com"], None),
        (["https://sms.example.com/other"], None),
        (["https://elsewhere.example.com/mcp"], None),
        (["http://sms.example.com/mcp"], None),
    ],
)
def test_a_resource_is_found_by_its_address(given: list[str], found: str | None):
    assert RESOURCES.find(given) == found


def test_automations_hold_less_than_tools_and_neither_holds_the_account():
    assert RESOURCES.limit(RESOURCES.api) == AUTOMATION | {"ai:use", "billing:read"}
    assert RESOURCES.limit(RESOURCES.tools) == GENERAL == ALL - {"account:write", "billing:write"}


def test_the_default_scopes_are_within_the_grantable_ones():
    assert RESOURCES.usual(RESOURCES.api) == AUTOMATION
    assert RESOURCES.usual(RESOURCES.tools) == WORKING_SET < GENERAL
    assert WORKING_SET & {"contacts:delete", "campaigns:send", "agents:write", "numbers:write"} == set()
    assert REQUIRED <= WORKING_SET & AUTOMATION


def test_there_are_words_for_every_scope():
    assert set(WORDS) == ALL
    assert len(set(WORDS.values())) == len(ALL)
