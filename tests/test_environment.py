"""The environment is set explicitly, and neither environment starts with insecure settings."""

import os
from pathlib import Path
from typing import Any

import pytest

from app import settings
from app.bootstrap import derive
from app.settings import InvalidSetting, Settings, environment
from app.settings.errors import InvalidKeyFile, MissingSecretKey, UnsafeStart
from app.settings.secret_key import KEY_FILE, read_or_make

KEY = "k" * 32
PRODUCTION = {"base_url": "https://sms.example.com", "secret_key": KEY}


def make(**given: Any) -> Settings:
    return Settings(_env_file=None, **given)


@pytest.fixture(autouse=True)
def no_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in an empty folder, with no setting in the environment."""
    for name in [name for name in os.environ if name in settings.names().values() or name.startswith("MESSAGING_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("given", [{}, {"base_url": "http://127.0.0.1:8000"}, {"base_url": "http://localhost:9000"}])
def test_no_address_makes_a_process_one_of_development(given: dict[str, str]) -> None:
    found = make(**given)

    assert not found.in_development
    with pytest.raises(UnsafeStart, match=r"In production it is the https address that clients use"):
        environment.check(found)


@pytest.mark.parametrize(
    ("given", "in_development"),
    [
        ({}, True),
        ({"host": "localhost"}, True),
        ({"host": "::1", "base_url": "http://[::1]:8000/"}, True),
        ({"base_url": "http://127.0.0.1"}, True),
        ({"base_url": "https://localhost:8443"}, True),
        ({"environment": "production"}, False),
        ({"host": "0.0.0.0"}, False),
        ({"host": "::"}, False),
        ({"host": "machine.example.com"}, False),
        ({"base_url": "https://sms.example.com"}, False),
        ({"base_url": "https://localhost.example.com"}, False),
        ({"base_url": "http://192.168.1.7:8000"}, False),
        ({"host": "0.0.0.0", "environment": "development"}, True),
    ],
)
def test_serve_says_development_on_loopback_addresses_unless_told_otherwise(
    given: dict[str, str], in_development: bool
) -> None:
    assert environment.for_serve(make(**given)).in_development is in_development


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"base_url": ""}, "MESSAGING_BASE_URL is not set. In production"),
        ({"base_url": "http://sms.example.com"}, "MESSAGING_BASE_URL is http://sms.example.com. In production"),
        ({"secret_key": None}, "MESSAGING_SECRET_KEY is not set. In production"),
        ({"host": "0.0.0.0", "base_url": ""}, "MESSAGING_BASE_URL is not set. In production"),
        ({"environment": "development", "base_url": "", "host": "0.0.0.0"}, "MESSAGING_HOST is 0.0.0.0, which others"),
        ({"environment": "development"}, "MESSAGING_BASE_URL is https://sms.example.com, which others"),
    ],
)
def test_unsafe_settings_are_refused_at_the_start(given: dict[str, Any], complaint: str) -> None:
    with pytest.raises(UnsafeStart) as refused:
        environment.check(make(**PRODUCTION | given))

    assert str(refused.value).startswith(complaint)


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_production_starts_with_https_and_a_key(host: str) -> None:
    environment.check(make(**PRODUCTION, host=host))


@pytest.mark.parametrize("given", [{}, {"host": "::1"}, {"base_url": "http://localhost:9000"}, {"secret_key": KEY}])
def test_development_starts_on_loopback_addresses(given: dict[str, Any]) -> None:
    environment.check(make(environment="development", **given))


def test_production_makes_no_secret_key_and_reads_none_from_the_data_folder(tmp_path: Path) -> None:
    (tmp_path / KEY_FILE).write_text(KEY)

    with pytest.raises(MissingSecretKey):
        derive(make(base_url="https://sms.example.com", data=tmp_path), "api keys")

    (tmp_path / KEY_FILE).unlink()
    with pytest.raises(MissingSecretKey):
        derive(make(base_url="https://sms.example.com", data=tmp_path), "api keys")
    assert not (tmp_path / KEY_FILE).exists()


def test_the_key_of_development_is_made_once_and_kept_for_its_owner_alone(tmp_path: Path) -> None:
    data = tmp_path / "data"

    made = read_or_make(data)

    assert (len(made), made) == (64, read_or_make(data))
    assert [(path.name, path.stat().st_mode & 0o777) for path in data.iterdir()] == [(KEY_FILE, 0o600)]


@pytest.mark.parametrize("text", ["", "\n", "x", " " * 40, "k" * 31, f"{'k' * 31}\n"])
def test_a_key_file_that_is_empty_or_short_is_refused_and_left_as_it_is(tmp_path: Path, text: str) -> None:
    path = tmp_path / KEY_FILE
    path.write_text(text)

    with pytest.raises(InvalidKeyFile, match=rf"^The secret key in {path} has {len(text.strip())} bytes, and needs 32"):
        derive(make(environment="development", data=tmp_path), "api keys")

    assert path.read_text() == text


def test_a_newline_that_an_editor_adds_to_the_key_file_changes_no_key(tmp_path: Path) -> None:
    (tmp_path / KEY_FILE).write_text(f"{KEY}\n")

    assert read_or_make(tmp_path) == KEY.encode()


def test_a_key_file_that_cannot_be_read_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / KEY_FILE).mkdir()

    with pytest.raises(InvalidKeyFile, match=rf"^The secret key in {tmp_path / KEY_FILE} cannot be read: "):
        read_or_make(tmp_path)


@pytest.mark.parametrize("key", ["", " ", "x", "k" * 31, f"\n{'k' * 31} ", f"{KEY}\x00{KEY}", f"{KEY}\n{KEY}"])
def test_a_secret_key_that_is_short_or_holds_control_characters_is_refused_and_not_repeated(
    monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setattr(os, "environ", {"MESSAGING_SECRET_KEY": key})

    with pytest.raises(InvalidSetting) as refused:
        settings.load()

    text = "MESSAGING_SECRET_KEY is not valid: it must be a random text of at least 32 bytes."
    assert str(refused.value) == text


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("https://sms.example.com", "https://sms.example.com"),
        ("HTTPS://SMS.Example.com:443/", "https://sms.example.com"),
        ("http://127.0.0.1:80", "http://127.0.0.1"),
        ("https://sms.example.com:8443", "https://sms.example.com:8443"),
        ("http://[::1]:8000", "http://[::1]:8000"),
        ("", ""),
    ],
)
def test_the_base_url_is_kept_as_browsers_write_an_origin(given: str, kept: str) -> None:
    assert make(base_url=given).base_url == kept


@pytest.mark.parametrize(
    "url",
    [
        "sms.example.com",
        "ftp://sms.example.com",
        "https://",
        "https://:443",
        "https:sms.example.com",
        "//sms.example.com",
        "https://sms.example.com/messaging",
        "https://sms.example.com//",
        "https://sms.example.com?",
        "https://sms.example.com/?a=1",
        "https://sms.example.com#",
        "https://ann:secret@sms.example.com",
        "https://@sms.example.com",
        "https://sms.example.com:0",
        "https://sms.example.com:65536",
        "https://sms.example.com:x",
        "https://sms_example.com",
        "https://sms..example.com",
        "https://-sms.example.com",
        "https://münchen.example.com",
        "https://sms.example.com\r\nX: y",
        "https://sms.example.com\t",
        "https://sms.example.com\x00",
        "https://sms.exa mple.com",
        "https://sms.example.com\\@evil.example",
        "https://[::1",
        "https://[fe80::1%25eth0]",
    ],
)
def test_a_base_url_that_is_more_or_less_than_an_origin_is_refused(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setattr(os, "environ", {"MESSAGING_BASE_URL": url})

    with pytest.raises(InvalidSetting) as refused:
        settings.load()

    problem = "is not valid" if "@" in url else f"cannot be {url!r}"
    assert str(refused.value) == (
        f"MESSAGING_BASE_URL {problem}: it must be https:// or http://, a host and perhaps a port, and nothing "
        "behind it, such as https://sms.example.com."
    )
