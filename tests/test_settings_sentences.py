"""Every setting refuses a bad value with a sentence: its name, the value unless secret, and the allowed values."""

import os
import re
from pathlib import Path

import pytest

from app import settings
from app.settings import InvalidSetting, Settings
from app.settings.sentences import SECRET, allowed
from app.settings.webhooks import LISTS

LIBRARY = re.compile(r"Input|should|Value error|validation|pydantic|String|type=|https://errors")
BLANK = ("", " ", "\n")
BAD = [*BLANK, "no such value", "-1", "1e400", "nan", "ü", "10.0.0.0/8/8", "a,b", "x\ny", "://", "\ud800"]
GOOD = {
    "base_url": {""},
    "host": {"1e400", "nan"},
    **dict.fromkeys(("data", "tls_cert", "tls_key"), {*BAD} - {*BLANK, "x\ny", "\ud800"}),
    "ai_model": {"1e400", "nan", "10.0.0.0/8/8"},
    "ai_api_key": {"-1", "1e400", "nan", "10.0.0.0/8/8", "a,b", "://"},
    "highlevel_client_id": {"-1", "1e400", "nan"},
    "highlevel_client_secret": {"-1", "1e400", "nan", "10.0.0.0/8/8", "a,b", "://"},
    "highlevel_provider_id": {"1e400", "nan"},
    "webhook_allow_nets": BLANK,
    "webhook_retry_schedule": BLANK,
    "webhook_notice_seconds": BLANK,
    "payment_plans": BLANK,
    "payment_instructions": {*BAD},
    "company_name": {*BAD},
    "owner_first_name": {*BAD},
    "owner_last_name": {*BAD},
}
"""Unusual values that are valid for these settings."""


def wrong_part(field: str, value: str) -> str:
    """Return the part of a value that the sentence repeats: in a list, the first wrong item."""
    return value.partition(",")[0].strip() if field in LISTS else value


@pytest.mark.parametrize("value", BAD)
def test_a_bad_value_is_refused_in_a_sentence_of_ours(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, value: str
) -> None:
    monkeypatch.chdir(tmp_path)
    fields = [field for field in Settings.model_fields if value not in GOOD.get(field, ())]

    told = {field: complaint(monkeypatch, field, value) for field in fields}

    assert told == {field: sentence(field, value) for field in fields}
    assert [text for text in told.values() if LIBRARY.search(text)] == []


def complaint(monkeypatch: pytest.MonkeyPatch, field: str, value: str) -> str:
    """Return the error of a value; "" for a valid one."""
    monkeypatch.setattr(os, "environ", {settings.names()[field]: value})
    try:
        settings.load()
    except InvalidSetting as refused:
        return str(refused)
    return ""


def sentence(field: str, value: str) -> str:
    """Return the expected error of a bad value."""
    problem = "is not valid" if field in SECRET else f"cannot be {wrong_part(field, value)!r}"
    return f"{settings.names()[field]} {problem}: it must be {allowed(Settings.model_fields[field])}."


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ("port", "a whole number from 1 to 65535"),
        ("rate", "a number from 0 to 999999.9999, with at most 4 decimal places"),
        ("key_cache_seconds", "a number from 0 to 3153600000"),
        ("handoff_timeout_seconds", "a number above 0 and at most 3153600000"),
        ("webhook_retry_schedule", "numbers from 0 to 3153600000, separated by commas"),
        ("webhook_breaker_seconds", "numbers from 0 to 3153600000, separated by commas"),
        ("log_format", "one of pretty, json"),
        ("environment", "one of development, production"),
        ("host", "an address of this machine or its name, such as 127.0.0.1"),
        ("smtp_url", "an address such as smtp://user:password@mail.example.com:587"),
    ],
)
def test_the_allowed_values_of_a_setting_are_described_in_words(field: str, words: str) -> None:
    assert allowed(Settings.model_fields[field]) == words


def test_a_sentence_about_a_setting_needs_no_name_of_a_type() -> None:
    fields = Settings.model_fields.items()

    assert [name for name, field in fields if name != "carrier" and "None" in allowed(field)] == []


def test_two_settings_that_do_not_fit_are_told_in_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "environ", {"MESSAGING_HANDOFF_LEASE_SECONDS": "10"})

    text = "^MESSAGING_HANDOFF_LEASE_SECONDS must be more than MESSAGING_HANDOFF_TIMEOUT_SECONDS.$"
    with pytest.raises(InvalidSetting, match=text):
        settings.load()
