"""Commands of those who run the service: accounts, keys, credits."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from app.domain.accounts import keys
from app.settings import Settings
from tests.cli.conftest import Run
from tests.conftest import SECRET


@pytest.fixture
def account(messaging: Run, ask: Any) -> dict[str, Any]:
    """Give an account with 100 credits, as the command prints it."""
    opening = ("account", "create", "Blue Door", "--email", "Ann@Example.com", "--credits", 100, "--json")
    return json.loads(messaging(*opening).output)


def test_migrate_says_that_the_schema_is_the_newest(messaging: Run) -> None:
    done = messaging("migrate")

    assert (done.code, done.output) == (0, "The database has the newest schema.\n")


def test_a_command_makes_no_secret_key_for_a_database_that_has_accounts(
    run: Run, settings: Settings, account: dict[str, Any], ask: Any, tmp_path: Path
) -> None:
    addresses = {"DATABASE_URL": settings.database_url, "REDIS_URL": settings.redis_url}
    folder = tmp_path / "elsewhere"

    done = run(
        "key", "create", account["account_id"], **addresses, MESSAGING_ENVIRONMENT="development", MESSAGING_DATA=folder
    )

    assert (done.code, done.output, folder.exists()) == (1, "", False)
    assert done.complaint == (
        f"messaging: {folder} has no secret.key, with which the accounts of the database were created. "
        "Name the data folder of the service with MESSAGING_DATA, or set MESSAGING_SECRET_KEY.\n"
    )
    assert ask("SELECT count(*) FROM api_keys") == [(2,)]


def test_an_account_is_opened_with_owner_keys_number_and_credits(account: dict[str, Any], ask: Any) -> None:
    assert account == {
        "base_url": "http://127.0.0.1:8000",
        "sign_in_url": "http://127.0.0.1:8000/login",
        "account_id": account["account_id"],
        "company_name": "Blue Door",
        "email": "ann@example.com",
        "password": account["password"],
        "svc_key": account["svc_key"],
        "auto_key": account["auto_key"],
        "phone_number_id": account["phone_number_id"],
        "phone_number": account["phone_number"],
        "credits": 100,
    }
    assert keys.has_form(account["svc_key"])
    assert keys.has_form(account["auto_key"])
    assert ask("SELECT id, company_name, balance, region FROM accounts") == [
        (account["account_id"], "Blue Door", 100, "US")
    ]


def test_an_account_is_opened_in_its_country_with_a_support_contact(messaging: Run, ask: Any) -> None:
    options = ("--region", "gb", "--support-contact", " help@bluedoor.example ")

    done = messaging("account", "create", "Blue Door", "--email", "ann@example.com", *options)

    assert done.code == 0
    assert ask("SELECT region, support_contact FROM accounts") == [("GB", "help@bluedoor.example")]


def test_an_account_has_no_support_contact_unless_one_is_given(account: dict[str, Any], ask: Any) -> None:
    assert ask("SELECT region, support_contact FROM accounts") == [("US", "")]


@pytest.mark.parametrize(
    ("option", "complaint"),
    [
        (("--region", "UK"), "region must be the two letters of a country (ISO 3166), such as US or GB."),
        (("--region", ""), "region must be the two letters of a country (ISO 3166), such as US or GB."),
        (("--support-contact", "x" * 101), "support_contact must be one line of at most 100 characters."),
        (("--support-contact", "one\ntwo"), "support_contact must be one line of at most 100 characters."),
    ],
)
def test_an_account_that_cannot_be_as_it_is_wanted_is_not_opened(
    messaging: Run, ask: Any, option: tuple[str, str], complaint: str
) -> None:
    done = messaging("account", "create", "Blue Door", "--email", "ann@example.com", *option)

    assert (done.code, done.output, done.complaint) == (1, "", f"messaging: {complaint}\n")
    assert ask("SELECT count(*) FROM accounts") == [(0,)]


def test_an_account_is_printed_for_people_unless_json_is_asked_for(messaging: Run, ask: Any) -> None:
    done = messaging("account", "create", "Blue Door", "--email", "ann@example.com")

    assert re.search(r"^company_name +Blue Door$", done.output, re.M)
    assert re.search(r"^svc_key +svc_\w{38}$", done.output, re.M)


def test_an_address_that_is_taken_opens_no_second_account(messaging: Run, account: dict[str, Any], ask: Any) -> None:
    done = messaging("account", "create", "Red Door", "--email", "ann@example.com")

    assert done.code == 1
    assert done.complaint.startswith("messaging: ")
    assert "ann@example.com" in done.complaint
    assert ask("SELECT count(*) FROM accounts") == [(1,)]


def test_a_demo_is_another_account_with_a_million_credits_each_time(messaging: Run, ask: Any) -> None:
    demos = [json.loads(messaging("demo", "--json").output) for _ in range(2)]

    assert [demo["credits"] for demo in demos] == [1_000_000, 1_000_000]
    assert demos[0].keys() == demos[1].keys()
    same = [name for name in demos[0] if demos[0][name] == demos[1][name]]
    assert same == ["base_url", "sign_in_url", "credits", "sequence_name", "keyword", "redirect_uri"]
    assert ask("SELECT account_id, client_id, redirect_uris FROM oauth_clients ORDER BY id") == [
        (demo["account_id"], demo["client_id"], ["http://127.0.0.1/callback"]) for demo in demos
    ]
    assert ask("SELECT id, name, status FROM sequences ORDER BY id") == [
        (demo["sequence_id"], "Welcome", "active") for demo in demos
    ]
    assert ask("SELECT account_id, keyword FROM watched_keywords ORDER BY id") == [
        (demo["account_id"], demo["keyword"]) for demo in demos
    ]
    assert ask("SELECT count(*), sum(balance) FROM accounts") == [(2, 2_000_000)]


def test_a_demo_has_a_client_that_is_sent_back_where_its_tester_says(messaging: Run, ask: Any) -> None:
    made = json.loads(messaging("demo", "--redirect-uri", "https://app.example.com/back", "--json").output)

    assert (made["redirect_uri"], len(made["client_secret"])) == ("https://app.example.com/back", 43)
    assert ask("SELECT redirect_uris FROM oauth_clients") == [(["https://app.example.com/back"],)]


def test_a_client_is_made_for_the_users_of_every_account(messaging: Run, ask: Any) -> None:
    uris = ["https://zaps.example.com/1", "https://zaps.example.com/2"]
    options = [word for uri in uris for word in ("--redirect-uri", uri)]

    made = json.loads(messaging("client", "create", "Zaps", *options, "--json").output)

    assert made["redirect_uris"] == uris
    assert ask("SELECT account_id, client_id, kind, name, created_by FROM oauth_clients") == [
        (None, made["client_id"], "managed", "Zaps", "command line")
    ]


def test_a_client_cannot_be_sent_back_just_anywhere(messaging: Run, ask: Any) -> None:
    done = messaging("client", "create", "Zaps", "--redirect-uri", "http://zaps.example.com/1")

    assert done.code == 1
    assert done.complaint.startswith("messaging: A redirect URI ")
    assert ask("SELECT count(*) FROM oauth_clients") == [(0,)]


@pytest.mark.parametrize(("option", "prefix"), [((), "svc_"), (("--automation",), "auto_")])
def test_a_key_is_made_for_an_account(
    messaging: Run, account: dict[str, Any], ask: Any, option: tuple[str, ...], prefix: str
) -> None:
    done = messaging("key", "create", account["account_id"], "--name", "Shop", *option)

    text = done.output.strip()
    assert (done.code, text.startswith(prefix), keys.has_form(text)) == (0, True, True)
    assert ask(f"SELECT name, account_id FROM api_keys WHERE last_four = '{text[-4:]}'") == [
        ("Shop", account["account_id"])
    ]


@pytest.mark.parametrize(("amount", "left"), [(5, 105), (-100, 0)])
def test_credits_are_granted_and_taken_back(
    messaging: Run, account: dict[str, Any], ask: Any, amount: int, left: int
) -> None:
    done = messaging("credits", "grant", account["account_id"], amount, "--note", "Goodwill")

    assert (done.code, done.output) == (0, f"Account {account['account_id']} holds {left} credits.\n")
    assert ask("SELECT type, amount, balance_after, description FROM ledger_entries ORDER BY id DESC LIMIT 1") == [
        ("adjustment", amount, left, "Goodwill")
    ]


@pytest.mark.parametrize(
    ("credits", "reason"),
    [
        (-5, "it must be 0 or more"),
        (10**12 + 1, "it must be at most 1000000000000"),
    ],
)
def test_an_account_begins_with_no_credits_that_it_cannot_have(
    messaging: Run, ask: Any, credits: int, reason: str
) -> None:
    done = messaging("account", "create", "Blue Door", "--email", "ann@example.com", "--credits", credits)

    assert done.code == 2
    assert done.complaint.startswith(f"messaging: --credits cannot be '{credits}': {reason}. ")
    assert ask("SELECT count(*) FROM accounts") == [(0,)]


@pytest.mark.parametrize("amount", [0, -101])
def test_credits_that_cannot_be_granted_change_nothing(
    messaging: Run, account: dict[str, Any], ask: Any, amount: int
) -> None:
    done = messaging("credits", "grant", account["account_id"], amount)

    assert (done.code, done.output) == (1, "")
    assert done.complaint.startswith("messaging: ")
    assert ask("SELECT balance FROM accounts") == [(100,)]


@pytest.mark.parametrize("command", [("key", "create"), ("credits", "grant")])
def test_an_account_that_does_not_exist_is_named(messaging: Run, ask: Any, command: tuple[str, ...]) -> None:
    amount = (5,) if command[0] == "credits" else ()

    done = messaging(*command, 4711, *amount)

    assert (done.code, done.complaint) == (1, "messaging: No account with id 4711.\n")


def test_a_service_that_others_can_reach_needs_a_secret_key(run: Run, settings: Settings, ask: Any) -> None:
    addresses = {"DATABASE_URL": settings.database_url, "REDIS_URL": settings.redis_url}

    done = run("demo", **addresses, MESSAGING_BASE_URL="https://sms.example.com")

    assert done.code == 1
    assert done.complaint == (
        "messaging: MESSAGING_SECRET_KEY is not set. In production it is a random text of at least 32 bytes, such as "
        "`openssl rand -hex 32` prints. Keep it: API keys stop working when it changes.\n"
    )
    assert ask("SELECT count(*) FROM accounts") == [(0,)]


@pytest.mark.parametrize(
    ("what", "complaint"),
    [
        (("inbound", "+12025550143", "+15002000099", "Hi"), "No account has the sandbox number +15002000099. "),
        (("inbound", "foo", "+15002000099", "Hi"), "'foo' is not a phone number "),
        (("inbound", "+12025550143", "bar", "Hi"), "'bar' is not a phone number "),
        (("status", 99999, "delivered"), "The sandbox has no message 99999. "),
    ],
)
def test_the_sandbox_names_unknown_numbers_and_messages(
    messaging: Run, what: tuple[object, ...], complaint: str
) -> None:
    done = messaging("sandbox", *what)

    assert (done.code, done.output) == (1, "")
    assert done.complaint.startswith(f"messaging: {complaint}")


def test_the_sandbox_says_when_the_service_does_not_answer(messaging: Run, account: dict[str, Any]) -> None:
    what = ("inbound", "+12025550143", account["phone_number"], "Hi")

    done = messaging("sandbox", *what, MESSAGING_BASE_URL="http://127.0.0.1:1")

    assert done.code == 1
    assert done.complaint.startswith("messaging: No answer from http://127.0.0.1:1 (")
    assert done.complaint.endswith(" Is the service running there?\n")


@pytest.mark.parametrize(
    ("options", "choices"),
    [(("arrived",), "'delivered', 'failed'"), (("failed", "--code", "bored"), "landline"), (("sent",), "'failed'")],
)
def test_the_sandbox_reports_only_statuses_and_codes_of_carriers(
    messaging: Run, options: tuple[str, ...], choices: str
) -> None:
    done = messaging("sandbox", "status", 1, *options)

    assert done.code == 2
    assert f"'{options[-1]}'" in done.complaint
    assert "one of" in done.complaint
    assert choices in done.complaint


@pytest.mark.parametrize("command", [("migrate",), ("demo",), ("credits", "grant", 1, 5)])
def test_a_database_that_does_not_answer_is_told_in_a_sentence(run: Run, command: tuple[object, ...]) -> None:
    addresses = {"DATABASE_URL": "postgresql://ann:secret@127.0.0.1:1/sms", "REDIS_URL": "redis://127.0.0.1:1"}

    done = run(*command, **addresses)

    assert done.code == 1
    assert done.complaint.startswith("messaging: The database at postgresql://127.0.0.1:1/sms cannot be reached: ")
    assert done.complaint.count("\n") == 1
    assert "secret" not in done.complaint


@pytest.mark.parametrize("command", [("migrate",), ("demo",)])
def test_a_database_that_is_not_there_is_told_in_a_sentence(
    run: Run, settings: Settings, command: tuple[object, ...]
) -> None:
    url = re.sub(r"/\w+(?=\?)", "/no_such_database", str(settings.database_url), count=1)

    done = run(*command, DATABASE_URL=url, REDIS_URL=settings.redis_url, MESSAGING_SECRET_KEY=SECRET)

    assert done.code == 1
    text = 'cannot be used: database "no_such_database" does not exist\n'
    assert done.complaint == f"messaging: The database at postgresql:/no_such_database {text}"


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (("credits", "grant", 2**63, 1), "it must be at most 9223372036854775807"),
        (("key", "create", 0), "it must be 1 or more"),
        (("sandbox", "status", 2**63, "delivered"), "it must be at most 9223372036854775807"),
    ],
)
def test_an_id_that_nothing_can_have_is_refused(messaging: Run, command: tuple[object, ...], reason: str) -> None:
    done = messaging(*command)

    assert done.code == 2
    assert reason in done.complaint


@pytest.mark.parametrize(
    "command", [("demo",), ("account", "list"), ("contact", "list", 1), ("account", "export", 1, "--to", "x.zip")]
)
def test_a_database_without_the_schema_is_told_in_a_sentence(
    run: Run, settings: Settings, command: tuple[object, ...]
) -> None:
    url = re.sub(r"/\w+(?=\?)", "/postgres", str(settings.database_url), count=1)

    done = run(*command, DATABASE_URL=url, REDIS_URL=settings.redis_url, MESSAGING_SECRET_KEY=SECRET)

    assert (done.code, done.output) == (1, "")
    assert done.complaint == (
        "messaging: The database has not the newest schema. Run `messaging migrate`, then this command again.\n"
    )


def test_migrate_needs_no_redis(run: Run, settings: Settings) -> None:
    done = run("migrate", DATABASE_URL=settings.database_url)

    assert (done.code, done.output) == (0, "The database has the newest schema.\n")
