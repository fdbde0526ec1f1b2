"""Commands for connections to carriers and their numbers."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from app.cli import setup
from app.cli.setup import NotYours
from app.settings import Settings
from tests.cli.conftest import Ask, Run
from tests.factories.carriers import add_smpp_connection

SECRET = "a very secret text"


@pytest.fixture(autouse=True)
def emptied(ask: Ask) -> None:
    """Empty the tables at the end of each test."""


@pytest.fixture
def account(messaging: Run) -> int:
    """Give the id of an account."""
    opening = ("account", "create", "Blue Door", "--email", "ann@example.com", "--json")
    return json.loads(messaging(*opening).output)["account_id"]


def add(messaging: Run, folder: Path, *more: object) -> Any:
    """Add a connection to the sandbox whose secret stands in a file."""
    secret = folder / "secret"
    secret.write_text(f"{SECRET}\n")
    return messaging("carrier", "add", "sandbox", "second", "--file", f"secret={secret}", *more, "--json")


def test_a_connection_is_added_shown_paused_resumed_and_removed(messaging: Run, tmp_path: Path) -> None:
    added = json.loads(add(messaging, tmp_path, "--set", "max_segments=3", "--pace", "2.5").output)

    shown = json.loads(messaging("carrier", "show", "second", "--json").output)
    paused = json.loads(messaging("carrier", "pause", "second", "--json").output)
    resumed = json.loads(messaging("carrier", "resume", "second", "--json").output)
    listed = json.loads(messaging("carrier", "list", "--json").output)
    removed = json.loads(messaging("carrier", "remove", "second", "--json").output)

    assert (added["carrier_account"], added["status"], added["parts_per_second"]) == ("Sandbox", "active", 2.5)
    assert shown["settings"] == {"max_segments": 3}
    assert shown["status_url"] == "http://127.0.0.1:8000/carriers/second/status"
    assert (paused["status"], resumed["status"]) == ("paused", "active")
    assert [each["key"] for each in listed] == ["sandbox", "second"]
    assert removed == {"key": "second", "removed": True}


def test_no_command_prints_the_credentials(messaging: Run, tmp_path: Path) -> None:
    done = add(messaging, tmp_path)
    others = [messaging("carrier", *command) for command in (("show", "second"), ("list",), ("test", "second"))]

    assert [each.code for each in (done, *others)] == [0] * 4
    assert [each for each in (done, *others) if SECRET in each.output + each.complaint] == []


def test_credentials_are_rotated_from_the_environment(messaging: Run, tmp_path: Path) -> None:
    add(messaging, tmp_path)

    done = messaging("carrier", "rotate", "second", "--env", "secret=NEW_SECRET", NEW_SECRET="another secret text")

    assert (done.code, done.complaint) == (0, "")


def test_a_missing_credential_is_named(messaging: Run, tmp_path: Path) -> None:
    new = ("telnyx", "second", "--env", "api_key=KEY")
    added = messaging("carrier", "add", *new, KEY="KEY1")
    add(messaging, tmp_path)
    rotated = messaging("carrier", "rotate", "second", "--env", "secret=NOT_SET")

    assert (added.code, rotated.code) == (2, 2)
    assert "The environment has no NOT_SET." in rotated.complaint
    assert "The credential public_key is missing. Give it as --env public_key=VARIABLE or as --file" in added.complaint


def test_a_number_of_a_connection_is_assigned_and_moved_and_keeps_its_connection_from_removal(
    messaging: Run, tmp_path: Path, account: int
) -> None:
    add(messaging, tmp_path)

    assigned = json.loads(messaging("number", "assign", account, "second", "+14155550100", "--json").output)
    refused = messaging("carrier", "remove", "second")
    to_sandbox = ("number", "move", account, assigned["id"], "sandbox", "--unlisted", "--json")
    moved = json.loads(messaging(*to_sandbox).output)
    removed = messaging("carrier", "remove", "second")
    released = json.loads(messaging("number", "release", account, assigned["id"], "--json").output)

    assert (assigned["phone_number"], assigned["carrier"], moved["carrier"]) == ("+14155550100", "second", "sandbox")
    assert (released["phone_number"], removed.code, refused.code) == ("+14155550100", 0, 1)
    assert refused.complaint == (
        "messaging: The connection second has 1 active numbers and 0 texts that have not left. "
        "Release the numbers or move them first.\n"
    )


def test_the_network_of_a_sandbox_number_is_that_of_its_connection(
    messaging: Run, settings: Settings, tmp_path: Path, account: int
) -> None:
    add(messaging, tmp_path)
    messaging("number", "assign", account, "second", "+14155550100")

    numbers = [each["phone_number"] for each in json.loads(messaging("number", "list", account, "--json").output)]
    networks = [asyncio.run(setup.find_network_of_number(settings, number)) for number in numbers]

    assert [each.key for each in networks] == ["sandbox", "second"]
    assert networks[1].secret == SECRET.encode()
    with pytest.raises(NotYours, match="No account has the sandbox number"):
        asyncio.run(setup.find_network_of_number(settings, "+14155550199"))
    with pytest.raises(NotYours, match="The sandbox has no message 1"):
        asyncio.run(setup.find_network_of_message(settings, 1))


def test_a_text_is_sent_to_test_a_connection(messaging: Run) -> None:
    done = messaging("carrier", "test", "sandbox", "--to", "+12025550143", "--from", "+15002000001", "--json")

    assert json.loads(done.output)["text"].startswith("accepted as sbx_")


def test_a_text_that_the_carrier_refuses_ends_the_test_of_a_connection_with_code_1(messaging: Run) -> None:
    done = messaging("carrier", "test", "sandbox", "--to", "+15005550001", "--from", "+15002000001")

    assert (done.code, done.output) == (1, "")
    assert done.complaint.startswith(
        "messaging: The carrier accepts the credentials, and refused the text: invalid_number"
    )


def test_a_text_to_test_a_connection_that_another_process_binds_is_refused(messaging: Run, settings: Settings) -> None:
    async def add_smsc() -> None:
        async with setup.connect(settings) as services:
            await add_smpp_connection(services, "smsc")

    asyncio.run(add_smsc())

    done = messaging("carrier", "test", "smsc", "--to", "+12025550143")

    assert (done.code, done.output) == (1, "")
    assert "Only the process that binds the connection sends through it, so --to cannot." in done.complaint


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        (("add", "pigeon", "second"), "There is no carrier 'pigeon'."),
        (("add", "sandbox", "Second!"), "key must be 1 to 40 small letters, digits and hyphens"),
        (("add", "sandbox", "sandbox"), "There is a connection with the key sandbox."),
        (("show", "missing"), "No carrier connection with id missing."),
        (("pause", "missing"), "No carrier connection with id missing."),
    ],
)
def test_a_refused_command_prints_one_sentence(messaging: Run, command: tuple[str, ...], complaint: str) -> None:
    done = messaging("carrier", *command)

    assert done.code == 1
    assert done.complaint.startswith(f"messaging: {complaint}")
    assert done.complaint.count("\n") == 1
