"""Commands of the operator: accounts in general, keys with an end, shared clients, passwords."""

import io
import json
import re
from importlib.metadata import version
from typing import Any

import pytest

from app.domain.accounts import administration, queries
from app.domain.events import set_aside
from tests.cli.conftest import Ask, Run
from tests.factories.traps import end_session, end_session_of


@pytest.fixture
def account(messaging: Run, ask: Ask) -> int:
    """Give an account."""
    opening = ("account", "create", "Blue Door", "--email", "ann@example.com", "--credits", 100, "--json")
    return json.loads(messaging(*opening).output)["account_id"]


def test_the_version_is_printed(run: Run) -> None:
    done = run("--version")

    assert (done.code, done.output) == (0, f"messaging {version('messaging')}\n")


@pytest.mark.parametrize(
    ("place", "command"),
    [
        ((queries, "get_own"), ("user", "list", 1)),
        ((queries, "get_own"), ("credits", "grant", 1, 5)),
        ((administration, "list_accounts"), ("account", "list")),
    ],
)
def test_a_connection_that_the_server_ends_is_one_sentence(
    messaging: Run, account: int, monkeypatch: pytest.MonkeyPatch, place: tuple[Any, str], command: tuple[Any, ...]
) -> None:
    monkeypatch.setattr(*place, end_session_of)

    done = messaging(*command)

    complaint = r"messaging: The database at \S+ ended the connection: \S.+\. Run the command again\.\n"
    assert (done.code, done.output) == (1, "")
    assert re.fullmatch(complaint, done.complaint)


def test_a_connection_that_the_server_ends_in_a_statement_of_its_own_is_one_sentence(
    messaging: Run, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(set_aside, "list_failures", end_session)

    done = messaging("event", "failures")

    assert (done.code, done.output) == (1, "")
    assert "terminating connection due to administrator command. Run the command again." in done.complaint


def test_the_help_of_a_value_in_json_names_its_fields(run: Run) -> None:
    shown = " ".join(run("agent", "update", "-h").output.replace("│", " ").split())

    assert "Fields: name, mode, persona, goals, instructions, number_ids, segment_id," in shown


@pytest.mark.parametrize(
    "command", [(), ("serve",), ("key",), ("key", "create"), ("key", "list"), ("sandbox", "inbound")]
)
def test_h_is_help(run: Run, command: tuple[str, ...]) -> None:
    assert run(*command, "-h") == run(*command, "--help")


def test_accounts_are_listed_in_pages_and_found_by_name_or_address(messaging: Run, account: int) -> None:
    messaging("account", "create", "Green Door", "--email", "bea@example.com")

    everything = json.loads(messaging("account", "list", "--json").output)
    found = [json.loads(messaging("account", "list", "--search", text, "--json").output) for text in ("GREEN", "ann@")]
    page = messaging("account", "list", "--first", 1)

    assert [each["company_name"] for each in everything["nodes"]] == ["Green Door", "Blue Door"]
    assert [[each["company_name"] for each in page["nodes"]] for page in found] == [["Green Door"], ["Blue Door"]]
    assert page.output.splitlines()[-1].startswith("1 of 2. Go on with --after ")


def test_a_key_is_made_with_scopes_and_an_end(messaging: Run, account: int, ask: Ask) -> None:
    options = ("--scope", "messages:send", "--scope", "contacts:read", "--expires", "2030-01-31", "--json")

    made = json.loads(messaging("key", "create", account, *options).output)

    assert made["key"].startswith("svc_")
    assert (made["scopes"], made["expires_at"]) == (["contacts:read", "messages:send"], "2030-01-31T00:00:00.000Z")
    assert ask(f"SELECT created_by FROM api_keys WHERE id = {made['id']}") == [("command line",)]
    assert ask(f"SELECT id FROM creators WHERE key_id = {made['id']}") == []


@pytest.mark.parametrize(
    ("options", "code", "complaint"),
    [
        (("--expires", "soon"), 2, "'soon' is no date or time, such as 2030-01-31."),
        (("--expires", "2020-01-31"), 1, "messaging: expires_at must be in the future."),
        (("--scope", "fly"), 1, "messaging: svc_ keys cannot have the scope fly."),
        (("--automation", "--scope", "account:write"), 1, "messaging: auto_ keys cannot have the scope account:write."),
    ],
)
def test_a_key_that_cannot_be_is_not_made(
    messaging: Run, account: int, ask: Ask, options: tuple[str, ...], code: int, complaint: str
) -> None:
    done = messaging("key", "create", account, *options)

    assert (done.code, done.output) == (code, "")
    assert complaint in " ".join(done.complaint.replace("│", " ").split())
    assert ask("SELECT count(*) FROM api_keys") == [(2,)]


def test_an_account_is_suspended_and_resumed(messaging: Run, account: int, ask: Ask) -> None:
    suspended = json.loads(messaging("account", "suspend", account, "--reason", "Unpaid.", "--json").output)
    messaging("account", "suspend", account)
    resumed = json.loads(messaging("account", "resume", account, "--json").output)

    assert (suspended["status"], resumed["status"]) == ("suspended", "active")
    assert ask("SELECT action, actor, details FROM audit_entries WHERE action <> 'key_created' ORDER BY id") == [
        ("account_suspended", "command line", '{"reason": "Unpaid."}'),
        ("account_resumed", "command line", '{"reason": ""}'),
    ]
    assert ask("SELECT words ->> 'subject' FROM waiting_mails ORDER BY id") == [
        ("Your account is suspended",),
        ("Your account is active",),
    ]


def test_the_weight_of_an_account_is_set(messaging: Run, account: int) -> None:
    weighed = json.loads(messaging("account", "weigh", account, 3, "--json").output)
    refused = messaging("account", "weigh", account, 101)

    assert (weighed["id"], weighed["weight"]) == (account, 3)
    assert (refused.code, refused.complaint) == (1, "messaging: weight must be from 1 to 100.\n")


def test_an_account_is_deleted_after_the_delay_once_its_name_was_written(
    messaging: Run, account: int, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("Blue Door\n"))
    done = messaging("account", "delete", account, "--json", MESSAGING_ACCOUNT_DELETION_DAYS=7)

    assert "Account" in done.complaint
    assert "is deleted after the delay, with everything in it. To confirm, write 'Blue Door'" in done.complaint
    assert json.loads(done.output).items() >= {"account_id": account, "credits": 100}.items()
    assert ask("SELECT status, round(extract(epoch FROM deletion_at - now()) / 86400) FROM accounts") == [("active", 7)]


def test_an_account_is_not_deleted_under_another_name(
    messaging: Run, account: int, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("Red Door\n"))
    done = messaging("account", "delete", account, "--now")

    assert (done.code, done.output.strip()) == (1, "")
    assert "confirm must be the company name" in done.complaint
    assert ask("SELECT deletion_at FROM accounts") == [(None,)]


def test_a_deletion_is_withdrawn_and_nothing_else_asked(messaging: Run, account: int, ask: Ask) -> None:
    messaging("account", "delete", account, "--yes")
    kept = json.loads(messaging("account", "withdraw-deletion", account, "--json").output)
    again = messaging("account", "withdraw-deletion", account)

    assert (kept["status"], kept["deletion_at"]) == ("active", None)
    assert (again.code, again.complaint) == (1, "messaging: No deletion of this account is scheduled.\n")


def test_an_account_is_deleted_at_once_and_its_owners_are_told(messaging: Run, account: int, ask: Ask) -> None:
    messaging("account", "delete", account, "--yes", MESSAGING_ACCOUNT_DELETION_DAYS=7)
    messaging("account", "delete", account, "--now", "--yes")

    assert ask("SELECT deletion_at <= now(), deletion_notice_at FROM accounts") == [(True, None)]
    assert ask("SELECT count(*) FROM waiting_mails") == [(2,)]


@pytest.mark.parametrize(
    "command",
    [
        ("resume",),
        ("suspend",),
        ("rename", "Green Door"),
        ("weigh", "2"),
        ("delete", "--yes"),
        ("withdraw-deletion",),
        ("show",),
    ],
)
def test_a_deleted_account_stays_one(messaging: Run, account: int, ask: Ask, command: tuple[str, ...]) -> None:
    ask("UPDATE accounts SET status = 'deleted', company_name = '', deleted_at = now()")

    done = messaging("account", command[0], account, *command[1:])
    [listed] = json.loads(messaging("account", "list", "--json").output)["nodes"]

    assert (done.code, done.complaint) == (1, "messaging: This account was deleted.\n")
    assert (listed["status"], listed["company_name"], listed["deletion_at"]) == ("deleted", "", None)
    assert listed["deleted_at"] is not None


def test_a_password_link_is_mailed_and_printed(messaging: Run, account: int, ask: Ask) -> None:
    [(user,)] = ask("SELECT id FROM users")

    made = json.loads(messaging("user", "reset-password", account, user, "--json").output)

    assert (made["user_id"], made["email"]) == (user, "ann@example.com")
    assert made["link"].startswith("http://127.0.0.1:8000/password/")
    assert ask("SELECT user_id, kind FROM waiting_mails") == [(user, "reset")]
    assert ask("SELECT action, subject FROM audit_entries ORDER BY id DESC LIMIT 1") == [
        ("password_reset_asked", "ann@example.com")
    ]


def test_a_shared_client_is_listed_and_revoked(messaging: Run, ask: Ask) -> None:
    messaging("client", "create", "Zaps", "--redirect-uri", "https://zaps.example.com/1")
    [listed] = json.loads(messaging("client", "list", "--json").output)

    revoked = json.loads(messaging("client", "revoke", listed["id"], "--json").output)

    assert (listed["name"], listed["revoked_at"]) == ("Zaps", None)
    assert revoked["revoked_at"] is not None
    assert ask("SELECT count(*) FROM oauth_clients WHERE revoked_at IS NOT NULL") == [(1,)]


def test_a_client_of_an_account_is_not_revoked_as_a_shared_one(messaging: Run, account: int, ask: Ask) -> None:
    messaging("application", "create", account, "Ours", "--redirect-uri", "https://example.com/1")
    [(client,)] = ask("SELECT id FROM oauth_clients")

    done = messaging("client", "revoke", client)

    assert (done.code, done.complaint) == (1, f"messaging: No client with id {client}.\n")
    assert ask("SELECT count(*) FROM oauth_clients WHERE revoked_at IS NULL") == [(1,)]


def test_the_help_of_a_narrow_terminal_has_the_whole_names_of_options(run: Run) -> None:
    shown = run("campaign", "create", "-h", COLUMNS=80).output

    assert re.findall(r"--\S*…", shown) == []
    assert "--max-credits" in shown
