"""Settings, from the environment and from `.env`, and the page that explains them."""

import os
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from app import settings
from app.domain.billing.service import MAX_GRANT
from app.rest import health
from app.settings import MOST_CREDITS, InvalidSetting, Settings, UnknownSetting
from app.telemetry import metrics

PAGE = (Path(__file__).parents[1] / "docs" / "operating.md").read_text()
ROW = re.compile(r"^\| `(?P<name>[A-Z_]+)` \| (?P<default>[^|]*) \|", re.MULTILINE)
NUMBERS = [
    settings.names()[field]
    for field, described in Settings.model_fields.items()
    if described.annotation in (int, float, Decimal) or field.endswith(("_seconds", "_schedule"))
]
UNWRITTEN = {"MESSAGING_BASE_URL": "http://127.0.0.1:PORT", "MESSAGING_SECRET_KEY": "made in development"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder, with no setting in the environment."""
    for name in [name for name in os.environ if name in settings.names().values() or name.startswith("MESSAGING_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_without_a_word_the_service_is_in_production_on_port_8000_of_loopback() -> None:
    found = settings.load()

    assert (found.database_url, found.redis_url, found.secret_key) == (None, None, None)
    assert (found.host, found.port, found.public_url) == ("127.0.0.1", 8000, "http://127.0.0.1:8000")
    assert (found.carrier, found.rate, found.starter_credits) == ("sandbox", Decimal("0.01"), 1000)
    assert (found.data, found.in_development) == (Path("data"), False)


def test_settings_are_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://db/messaging")
    monkeypatch.setenv("PORT", "8460")
    monkeypatch.setenv("MESSAGING_RATE", "0.0125")
    monkeypatch.setenv("MESSAGING_SECRET_KEY", " a secret of at least 32 characters\n")

    found = settings.load()

    assert (found.database_url, found.port, found.rate) == ("postgresql://db/messaging", 8460, Decimal("0.0125"))
    assert found.secret_key is not None
    assert found.secret_key.get_secret_value() == "a secret of at least 32 characters"
    assert "a secret" not in repr(found)


@pytest.mark.parametrize("name", ["DATABASE_URL", "REDIS_URL"])
@pytest.mark.parametrize("address", ["", "mysql://ann:secret@db/sms", "db:5432"])
def test_an_address_of_another_kind_of_server_is_refused_and_not_repeated(
    monkeypatch: pytest.MonkeyPatch, name: str, address: str
) -> None:
    monkeypatch.setenv(name, address)

    with pytest.raises(InvalidSetting, match=rf"^{name} is not valid: it must be an address such as ") as refused:
        settings.load()

    assert "secret" not in str(refused.value)


def test_settings_are_read_from_a_file_and_the_environment_wins(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / ".env").write_text("PORT=8460\nMESSAGING_HOST=0.0.0.0\nMESSAGING_DATA=/var/lib/messaging\nOTHER=1\n")
    monkeypatch.setenv("PORT", "8461")

    found = settings.load()

    assert (found.port, found.host, found.data) == (8461, "0.0.0.0", Path("/var/lib/messaging"))


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("MESSAGING_SECRET", "MESSAGING_SECRET_KEY"),
        ("messaging_base_ulr", "MESSAGING_BASE_URL"),
        ("MESSAGING_DATABASE_POOL_SIZE", "MESSAGING_DATABASE_POOL"),
        ("MESSAGING_DATABASE_URL", "DATABASE_URL"),
        ("MESSAGING_REDIS_URL", "REDIS_URL"),
        ("MESSAGING_PORT", "PORT"),
    ],
)
@pytest.mark.parametrize("in_file", [True, False])
def test_an_unknown_name_is_refused_with_the_nearest_known_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, nearest: str, in_file: bool
) -> None:
    if in_file:
        (folder / ".env").write_text(f"{name}=1\n")
    else:
        monkeypatch.setenv(name, "1")

    with pytest.raises(UnknownSetting, match=f"^{name} is not a setting. Did you mean {nearest}\\?$"):
        settings.load()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "0"),
        ("PORT", "65536"),
        ("PORT", "web"),
        ("MESSAGING_RATE", "a lot"),
        ("MESSAGING_STARTER_CREDITS", "-1"),
        ("MESSAGING_DATABASE_POOL", "1"),
        ("MESSAGING_HANDOFF_WINDOW", "0"),
        ("MESSAGING_LOG_FORMAT", "xml"),
        ("MESSAGING_LOG_LEVEL", "loud"),
    ],
)
def test_a_value_that_makes_no_sense_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)

    with pytest.raises(InvalidSetting, match=f"^{name} cannot be '{value}': "):
        settings.load()


@pytest.mark.parametrize("value", ["-1", "10000000000000", "nan"])
@pytest.mark.parametrize("name", NUMBERS)
def test_every_number_has_a_least_and_a_most(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)

    with pytest.raises(InvalidSetting, match=f"^{name} cannot be '{value}': "):
        settings.load()


@pytest.mark.parametrize("value", ["0", "0.0001", "999999.9999"])
def test_a_rate_is_kept_to_its_last_decimal(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("MESSAGING_RATE", value)

    assert settings.load().rate == Decimal(value)


def test_the_public_address_has_no_slash_at_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MESSAGING_BASE_URL", "https://sms.example.com/")

    assert settings.load().public_url == "https://sms.example.com"


def test_the_page_on_operating_names_every_setting_and_no_other() -> None:
    assert sorted(row["name"] for row in ROW.finditer(PAGE)) == sorted(settings.names().values())


def test_the_page_on_operating_tells_the_true_defaults() -> None:
    told = {row["name"]: row["default"].strip().strip("`") for row in ROW.finditer(PAGE)}

    defaults = {name: Settings.model_fields[field].default for field, name in settings.names().items()}
    assert told == {name: UNWRITTEN.get(name) or _written(default) for name, default in defaults.items()}


def test_the_page_on_operating_names_every_figure() -> None:
    counted = {family.name for family in metrics.REGISTRY.collect()}

    named = set(re.findall(r"`(messaging_\w+?)(?:_total)?`", PAGE))
    looked_up = set(re.findall(r'"(messaging_\w+)"', Path(health.__file__).read_text()))
    assert named == counted | looked_up


def _written(default: Any) -> str:
    """Return a default in the form of the environment."""
    if isinstance(default, tuple):
        return ",".join(map(_written, default)) or "none"
    if default is None:
        return "none"
    return f"{default:g}" if isinstance(default, float) else str(default)


def test_an_account_begins_with_no_more_credits_than_can_be_granted() -> None:
    assert MOST_CREDITS == MAX_GRANT
