"""The export of an account: everything but its secrets, in one archive, and nothing of another account."""

import json
import stat
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import LargeBinary

from app.bootstrap import METADATA
from app.cli import export
from app.domain.erasure.tables import EXPORTED
from tests.cli.conftest import Ask, Done, Run
from tests.waiting import block_until

NOT_EXPORTED = {
    "ai_passages": "parts of ai_knowledge, for searches",
    "campaign_counts": "counts of recipients",
    "capped_texts": "which texts count for frequency caps, kept for a week",
    "contact_tags": "the tags of contacts, which have them too",
    "contact_totals": "a count of contacts",
    "idempotency_keys": "answers, kept for a day",
    "erased_calls": "credits of erased texts, gone within minutes",
    "failed_reactions": "what the service is yet to do for an event",
    "ledger_days": "sums of the ledger",
    "number_hours": "sums of messages",
    "uploads": "files that wait for their import, kept for a week",
    "live_updates": "which events were shown live, kept for a day",
    "creators": "which credential made which key or webhook; none of them works elsewhere",
    "outbox": "the ids of events that wait to be dispatched",
    "outgoing": "which texts wait for their carrier, gone once it has answered",
    "password_links": "secrets, and gone once used",
    "payment_customers": "the id of the account at the payment provider",
    "scheduled_texts": "which texts wait for their time, gone once they have left",
    "waiting_mails": "mails with secrets, gone once sent",
}
"""Tables with an account's rows that its export leaves out."""

READABLE = {("webhook_deliveries", "body")}
"""Columns of bytes that are no secrets."""


@pytest.fixture
def accounts(messaging: Run, ask: Ask) -> list[dict[str, Any]]:
    """Give two accounts with one contact each."""
    opened = []
    for name in ("ann", "bea"):
        opening = ("account", "create", f"Door of {name}", "--email", f"{name}@example.com", "--credits", 5, "--json")
        opened.append(json.loads(_done(messaging(*opening)).output))
        id = opened[-1]["account_id"]
        _done(messaging("contact", "create", id, "+12025550143", "--first-name", f"Friend of {name}"))
        _done(messaging("webhook", "create", id, "https://example.com/hooks", "--event", "message.sent"))
    return opened


def _done(command: Done) -> Done:
    """Return what a command left; fail with its complaint where it was refused."""
    assert command.code == 0, command.complaint
    return command


def test_every_table_of_an_account_is_exported_or_named() -> None:
    owned = {table.name for table in METADATA.sorted_tables if "account_id" in table.c}

    exported = {table.name for table in EXPORTED}
    assert sorted(owned - exported) == sorted(NOT_EXPORTED)


def test_no_secret_is_exported() -> None:
    bytes_of = {
        (table.name, column.name)
        for table in EXPORTED
        for column in METADATA.tables[table.name].c
        if isinstance(column.type, LargeBinary) and column.name not in table.withheld
    }
    secret = {
        (table.name, column)
        for table in EXPORTED
        for column in set(METADATA.tables[table.name].c.keys()) - table.withheld
        if "hash" in column or "secret" in column or "seed" in column
    }

    assert (bytes_of, secret) == (READABLE, set())


def test_an_export_holds_everything_of_one_account(
    messaging: Run, accounts: list[dict[str, Any]], tmp_path: Path, ask: Ask
) -> None:
    ann, _ = accounts
    path = tmp_path / "ann.zip"

    done = _done(messaging("account", "export", ann["account_id"], "--to", path, "--json"))

    told = json.loads(done.output)
    with zipfile.ZipFile(path) as archive:
        texts = {name: archive.read(name).decode() for name in archive.namelist()}
    manifest = json.loads(texts["manifest.json"])
    records = {name: [json.loads(line) for line in text.splitlines()] for name, text in texts.items() if ".nd" in name}
    assert {f"{name}.ndjson": count for name, count in manifest["records"].items() if count} == {
        name: len(lines) for name, lines in records.items()
    }
    assert (manifest["account_id"], told["records"]) == (ann["account_id"], sum(manifest["records"].values()))
    assert [contact["first_name"] for contact in records["contacts.ndjson"]] == ["Friend of ann"]
    assert [entry["amount"] for entry in records["ledger_entries.ndjson"]] == [5]
    whole = "".join(texts.values())
    assert [
        secret for secret in ("bea@", "Friend of bea", ann["password"], ann["svc_key"], "$argon2") if secret in whole
    ] == []
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert ask("SELECT account_id, actor FROM audit_entries WHERE action = 'account_exported'") == [
        (ann["account_id"], "command line")
    ]


def test_a_suspended_account_is_exported(messaging: Run, accounts: list[dict[str, Any]], tmp_path: Path) -> None:
    messaging("account", "suspend", accounts[0]["account_id"])

    assert messaging("account", "export", accounts[0]["account_id"], "--to", tmp_path / "a.zip").code == 0


def test_an_import_that_is_canceled_ends_with_code_1(
    messaging: Run, ask: Ask, accounts: list[dict[str, Any]], tmp_path: Path
) -> None:
    (file := tmp_path / "people.csv").write_text("phone\n+12025550143\n")

    def cancel() -> None:
        block_until(lambda: ask("SELECT FROM account_jobs"))
        ask("UPDATE account_jobs SET status = 'canceled', finished_at = now()")

    with ThreadPoolExecutor(1) as threads:
        canceled = threads.submit(cancel)
        done = messaging("contact", "import", accounts[0]["account_id"], file, "--json")
        canceled.result()

    assert (done.code, json.loads(done.output)["status"]) == (1, "canceled")


def test_an_export_overwrites_no_file(messaging: Run, accounts: list[dict[str, Any]], tmp_path: Path) -> None:
    path = tmp_path / "ann.zip"
    path.write_text("kept")

    done = messaging("account", "export", accounts[0]["account_id"], "--to", path)

    assert (done.code, done.complaint) == (
        1,
        f"messaging: {path} exists. Choose another file, or remove it first.\n",
    )
    assert path.read_text() == "kept"


def test_an_export_to_a_folder_that_does_not_exist_is_refused_before_it_begins(
    messaging: Run, ask: Ask, accounts: list[dict[str, Any]], tmp_path: Path
) -> None:
    folder = tmp_path / "backups"

    done = messaging("account", "export", accounts[0]["account_id"], "--to", folder / "ann.zip")

    assert (done.code, done.complaint) == (
        1,
        f"messaging: {folder} is not a folder that can be written to. Choose another file.\n",
    )
    assert ask("SELECT count(*) FROM audit_entries WHERE action = 'account_exported'") == [(0,)]


def test_an_account_that_does_not_exist_leaves_no_file(messaging: Run, ask: Ask, tmp_path: Path) -> None:
    done = messaging("account", "export", 4711, "--to", tmp_path / "none.zip")

    assert (done.code, done.complaint) == (1, "messaging: No account with id 4711.\n")
    assert list(tmp_path.glob("none*")) == []


def test_an_export_that_takes_too_long_is_given_up(
    messaging: Run, accounts: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "MAX_SECONDS", 0.0)
    path = tmp_path / "ann.zip"

    done = messaging("account", "export", accounts[0]["account_id"], "--to", path)

    assert (done.code, done.complaint) == (1, "messaging: The export took longer than 0 seconds, and was given up.\n")
    assert not path.exists()
