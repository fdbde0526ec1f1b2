"""Commands that need no service."""

import re
from pathlib import Path

import pytest

from app.cli import documents, runtime
from app.graphql.schema import sdl
from app.settings import Settings
from tests.cli.conftest import Run

COMMANDS = [
    "account",
    "check",
    "credits",
    "demo",
    "generate",
    "key",
    "migrate",
    "sandbox",
    "schema",
    "serve",
    "web",
    "worker",
]


def test_without_a_command_the_commands_are_listed(run: Run) -> None:
    done = run()

    assert [command for command in COMMANDS if command not in done.output + done.complaint] == []


def test_schema_prints_the_contract(run: Run) -> None:
    done = run("schema")

    assert (done.code, done.output) == (0, sdl())


def test_check_counts_the_valid_definitions(run: Run) -> None:
    done = run("check")

    assert done.code == 0
    assert re.fullmatch(
        r"\d+ operations, [1-9]\d* tools, [1-9]\d* commands, \d+ events and \d+ errors are valid\.\n", done.output
    )


def test_check_refuses_a_command_whose_document_does_not_fit_the_contract(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "wrong.graphql").write_text('"List." query list_wrong @command(name: "key wrong") { wrong { id } }')
    monkeypatch.setattr(documents, "FOLDER", tmp_path)
    documents.operations.cache_clear()

    done = run("check")

    documents.operations.cache_clear()
    assert (done.code, done.output) == (1, "")
    assert "Cannot query field 'wrong' on type 'Query'" in done.complaint


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ann:pa#ss@127.0.0.1/sms",
        "postgresql://ann:12#ss@127.0.0.1/sms",
        "postgresql://ann:pa/ss@127.0.0.1/sms",
        "postgresql://ann:12/ss@127.0.0.1/sms",
        "postgresql://ann:12?ss@127.0.0.1/sms",
        "postgresql://ann:pa@ss@127.0.0.1/sms",
        "postgresql://ann:pass@127.0.0.1:99999/sms",
        "postgresql://ann:pass@127.0.0.1:0/sms",
        "postgresql://ann:pass@127.0.0.1:port/sms",
        "postgresql://ann:pass@[::1/sms",
        "postgresql:///sms?password=pass&port=pa",
    ],
)
def test_an_address_of_a_database_that_would_be_misread_is_refused_without_its_password(run: Run, address: str) -> None:
    done = run("migrate", DATABASE_URL=address)

    assert (done.code, done.output) == (1, "")
    assert done.complaint == (
        "messaging: DATABASE_URL is not valid: it must be an address such as "
        "postgresql://user:password@host/name, with %23 for # and the like in a user or password.\n"
    )


@pytest.mark.parametrize("command", ["serve", "web", "worker", "demo"])
@pytest.mark.parametrize("address", ["redis://:pa#ss@127.0.0.1", "redis://127.0.0.1:99999", "redis://127.0.0.1:1:2"])
def test_an_address_of_redis_that_would_be_misread_is_refused_without_its_password(
    run: Run, command: str, address: str
) -> None:
    done = run(command, REDIS_URL=address)

    assert (done.code, done.output) == (1, "")
    assert done.complaint == (
        "messaging: REDIS_URL is not valid: it must be an address such as redis://host:6379/0, "
        "with %23 for # and the like in a user or password.\n"
    )


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("MESSAGING_PORT", "PORT"),
        ("MESSAGING_SECRET", "MESSAGING_SECRET_KEY"),
        ("MESSAGING_DATABASE_URL", "DATABASE_URL"),
    ],
)
def test_a_setting_that_is_none_is_refused_with_the_nearest_one(run: Run, name: str, near: str) -> None:
    done = run("serve", **{name: "1"})

    assert (done.code, done.complaint) == (1, f"messaging: {name} is not a setting. Did you mean {near}?\n")


def test_a_setting_in_a_file_is_refused_as_one_in_the_environment_is(run: Run, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("MESSAGING_BASEURL=http://127.0.0.1\n")

    done = run("demo")

    text = "messaging: MESSAGING_BASEURL is not a setting. Did you mean MESSAGING_BASE_URL?\n"
    assert (done.code, done.complaint) == (1, text)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "http"),
        ("PORT", "0"),
        ("MESSAGING_RATE", "cheap"),
        ("MESSAGING_RATE", "-1"),
        ("MESSAGING_RATE", "0.00001"),
        ("MESSAGING_RATE", "1e10"),
        ("MESSAGING_RATE", "nan"),
        ("MESSAGING_SANDBOX_DELAY_SECONDS", "-1"),
        ("MESSAGING_WEBHOOK_TIMEOUT_SECONDS", "0"),
        ("MESSAGING_WEBHOOK_LEASE_SECONDS", "inf"),
        ("MESSAGING_WEBHOOK_RETRY_SCHEDULE", "5,-1"),
        ("MESSAGING_WEBHOOK_PAYLOAD_DAYS", "1e9"),
        ("MESSAGING_STARTER_CREDITS", "9223372036854775807"),
        ("MESSAGING_DATABASE_POOL", "1"),
    ],
)
def test_a_setting_of_the_wrong_kind_is_named(run: Run, name: str, value: str) -> None:
    done = run("serve", **{name: value})

    assert done.code == 1
    assert name in done.complaint
    assert "Traceback" not in done.complaint


@pytest.mark.parametrize("command", [("web",), ("worker",), ("migrate",), ("demo",), ("credits", "grant", "1", "5")])
def test_where_no_service_runs_a_command_says_how_to_start_one(
    run: Run, tmp_path: Path, command: tuple[str, ...]
) -> None:
    done = run(*command)

    assert done.code == 1
    assert done.complaint == (
        f"messaging: No service runs on {tmp_path / 'data'}. Start one with `messaging serve`, "
        "name its data folder with MESSAGING_DATA, or set DATABASE_URL and REDIS_URL.\n"
    )
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("MESSAGING_CARRIER", "pigeon", "MESSAGING_CARRIER"),
        ("MESSAGING_BASE_URL", "https://x.example", "MESSAGING_SECRET_KEY is not set. In production"),
    ],
)
def test_invalid_settings_stop_the_web_process_with_one_sentence(
    run: Run, name: str, value: str, complaint: str
) -> None:
    gone = {"DATABASE_URL": "postgresql://127.0.0.1:1/gone", "REDIS_URL": "redis://127.0.0.1:1"}
    where = {"MESSAGING_ENVIRONMENT": "development"} if name == "MESSAGING_CARRIER" else {}

    done = run("web", **gone, **where, **{name: value})

    assert done.code == 1
    assert done.complaint.startswith(f"messaging: {complaint}")
    assert done.complaint.count("\n") == 1


def test_a_service_that_was_killed_runs_no_more(run: Run, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    gone = {"DATABASE_URL": "postgresql://127.0.0.1:1/gone", "REDIS_URL": "redis://127.0.0.1:1"}
    runtime.remember(Settings(_env_file=None, data=data, **gone))
    (data / "lock").write_text("4711")

    done = run("demo")

    assert done.code == 1
    assert done.complaint.startswith(f"messaging: No service runs on {data}. Start one with")


def test_a_service_that_others_can_reach_is_not_started_without_a_secret_key(run: Run, tmp_path: Path) -> None:
    done = run("serve", MESSAGING_BASE_URL="https://sms.example.com")

    assert (done.code, done.output) == (1, "")
    assert done.complaint == (
        "messaging: MESSAGING_SECRET_KEY is not set. In production it is a random text of at least 32 bytes, such as "
        "`openssl rand -hex 32` prints. Keep it: API keys stop working when it changes.\n"
    )
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("port", "reason"), [("0", "1 or more"), ("65536", "at most 65535"), ("http", "a whole number")]
)
def test_a_port_that_there_is_not_is_refused(run: Run, tmp_path: Path, port: str, reason: str) -> None:
    done = run("serve", "--port", port)

    assert done.code == 2
    assert done.complaint == (
        f"messaging: --port cannot be '{port}': it must be {reason}. `messaging serve -h` shows how it is written.\n"
    )
    assert not (tmp_path / "data").exists()


def test_a_host_that_is_not_this_machine_is_told_in_a_sentence(run: Run, tmp_path: Path) -> None:
    production = {"MESSAGING_BASE_URL": "https://sms.example.com", "MESSAGING_SECRET_KEY": "x" * 32}

    done = run("serve", MESSAGING_HOST="192.0.2.1", PORT="8460", **production)

    assert done.code == 1
    assert done.complaint.startswith("messaging: The service cannot listen on port 8460 of 192.0.2.1: [Errno ")
    assert done.complaint.endswith(" Choose others with PORT and MESSAGING_HOST.\n")
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("command", ["web", "worker"])
def test_a_process_that_starts_folds_the_figures_of_those_that_ended(run: Run, tmp_path: Path, command: str) -> None:
    (tmp_path / "counter_4194304.db").touch()

    run(command, PROMETHEUS_MULTIPROC_DIR=tmp_path)

    assert list(tmp_path.glob("counter_*.db")) == []
