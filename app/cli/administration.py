"""Commands of the operator, for all accounts and for one."""

import asyncio
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app import settings as configuration
from app.cli import runtime, tables
from app.cli.documents import ACCOUNT, JSON, LARGEST_ID, DocumentGroup
from app.settings import MOST_CREDITS, Settings

if TYPE_CHECKING:
    from app.domain.onboarding.service import Opened

GROUPS = {
    "ai": "Write texts with the AI.",
    "agent": "AI agents, their knowledge and their runs.",
    "account": "Accounts: open, list, change, suspend.",
    "user": "Users of an account: invite, change, remove.",
    "session": "Browser sessions of users.",
    "key": "API keys.",
    "client": "OAuth clients for the users of every account.",
    "application": "OAuth clients of one account, and connected applications.",
    "webhook": "Webhooks and their deliveries.",
    "carrier": "Connections to carriers, of the installation and of accounts.",
    "contact": "Contacts and their consent records.",
    "conversation": "Conversations.",
    "note": "Internal notes in conversations.",
    "job": "Long jobs, such as changes of many contacts.",
    "message": "Messages.",
    "placeholder": "Placeholders of texts.",
    "booking": "Bookings in scheduling tools, and the texts about them.",
    "inbound-webhook": "Addresses that turn JSON into changes of contacts.",
    "crm": "Connections to CRMs, and the work towards them.",
    "integration": "Connections to scheduling tools, and the events that arrive.",
    "segment": "Saved filters of contacts.",
    "template": "Saved texts with placeholders.",
    "campaign": "Campaigns and their recipients.",
    "sequence": "Drip sequences and enrollments.",
    "keyword": "Watched keywords.",
    "automation": "Automations and their runs.",
    "number": "Sending numbers.",
    "quiet-hours": "Quiet hours and frequency caps.",
    "event": "Events for which a part of the service failed, of all accounts.",
    "credits": "The balance and its history.",
}
TYPERS = {name: typer.Typer(cls=DocumentGroup, no_args_is_help=True) for name in GROUPS}
account, user, key, client, event, credits = (
    TYPERS[name] for name in ("account", "user", "key", "client", "event", "credits")
)

First = Annotated[int, typer.Option(help="Number of items to show.", min=1, max=200)]
After = Annotated[str | None, typer.Option(help="Show the items that follow this cursor.")]
UserId = Annotated[int, typer.Argument(metavar="USER", help="The user's id.", min=1, max=LARGEST_ID)]
ClientId = Annotated[int, typer.Argument(metavar="CLIENT", help="The client's id.", min=1, max=LARGEST_ID)]
ACCOUNT_COLUMNS = ("id", "company_name", "status", "balance", "region", "created_at", "deletion_at", "deleted_at")
CLIENT_COLUMNS = ("id", "client_id", "name", "redirect_uris", "created_at", "last_used_at", "revoked_at")


def find_settings() -> Settings:
    """Return the settings with the addresses of the running service; raise `NotRunning`."""
    return runtime.find(configuration.load())


def print_value(value: object, *, as_json: bool) -> None:
    """Print a value, for people or as JSON."""
    typer.echo(tables.as_json(value) if as_json else tables.as_text(value))


@account.command("create")
def create_account(
    company_name: Annotated[str, typer.Argument(metavar="COMPANY_NAME", help="The company name, shown to recipients.")],
    email: Annotated[str, typer.Option(help="The owner's e-mail address.")],
    credits: Annotated[int, typer.Option(help="The initial credits.", min=0, max=MOST_CREDITS)] = 0,
    region: Annotated[str, typer.Option(help="The country of phone numbers in national format.")] = "US",
    support_contact: Annotated[str, typer.Option(help="The support contact in HELP replies.")] = "",
    json: JSON = False,
) -> None:
    """Create an account with an owner, keys and a sandbox number."""
    from app.cli import setup

    settings = find_settings()
    opening = setup.create_account(settings, company_name, email, credits, region, support_contact)
    print_value(opened_facts(settings, asyncio.run(opening)), as_json=json)


@account.command("list")
def list_accounts(
    search: Annotated[str, typer.Option(help="Part of a company name or of a user's e-mail address.")] = "",
    first: First = 50,
    after: After = None,
    json: JSON = False,
) -> None:
    """List the accounts of the service, newest first."""
    from app.cli import setup

    print_value(asyncio.run(setup.list_accounts(find_settings(), search, first, after, ACCOUNT_COLUMNS)), as_json=json)


@account.command("suspend")
def suspend_account(
    account: ACCOUNT,
    reason: Annotated[str, typer.Option(help="The reason, for the owners and the audit log.")] = "",
    json: JSON = False,
) -> None:
    """Suspend an account: it sends nothing, and its keys, applications and sign-ins are refused."""
    from app.cli import setup
    from app.domain.accounts import administration

    changed = setup.change_account(
        find_settings(), account, lambda unit: administration.suspend(unit, reason), ACCOUNT_COLUMNS
    )
    print_value(asyncio.run(changed), as_json=json)


@account.command("resume")
def resume_account(account: ACCOUNT, json: JSON = False) -> None:
    """Reactivate a suspended account."""
    from app.cli import setup
    from app.domain.accounts import administration

    changed = setup.change_account(find_settings(), account, administration.resume, ACCOUNT_COLUMNS)
    print_value(asyncio.run(changed), as_json=json)


@account.command("weigh")
def weigh_account(
    account: ACCOUNT,
    weight: Annotated[int, typer.Argument(help="1, as for a new account, to 100.")],
    json: JSON = False,
) -> None:
    """Set the share of an account, relative to other accounts with waiting texts, in the calls to carriers."""
    from app.cli import setup
    from app.domain.accounts import administration

    changed = setup.change_account(
        find_settings(), account, lambda unit: administration.set_weight(unit, weight), (*ACCOUNT_COLUMNS, "weight")
    )
    print_value(asyncio.run(changed), as_json=json)


@account.command("delete")
def delete_account(
    account: ACCOUNT,
    now: Annotated[bool, typer.Option("--now", help="Delete it at once, without the delay.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    json: JSON = False,
) -> None:
    """Schedule the deletion of an account and its data after MESSAGING_ACCOUNT_DELETION_DAYS."""
    from app.cli import setup

    settings = find_settings()
    name = asyncio.run(setup.find_name(settings, account))
    confirm = name if yes else typer.prompt(_question(account, name, now=now), err=True)
    print_value(asyncio.run(setup.delete_account(settings, account, confirm, now=now)), as_json=json)


@account.command("export")
def export_account(
    account: ACCOUNT,
    to: Annotated[Path, typer.Option(help="The zip archive to write; it must not exist.")],
    json: JSON = False,
) -> None:
    """Write all data of an account except its secrets to a zip archive of NDJSON files."""
    from app.cli.export import export_account as export

    print_value(export(find_settings(), account, to), as_json=json)


@user.command("reset-password")
def reset_password(account: ACCOUNT, user: UserId, json: JSON = False) -> None:
    """Mail a user a link that sets a new password, and print the link."""
    from app.cli import setup

    print_value(asyncio.run(setup.reset_password(find_settings(), account, user)), as_json=json)


@key.command("create")
def create_key(
    account: ACCOUNT,
    name: Annotated[str, typer.Option(help="The name of the key.")] = "Made on the command line",
    automation: Annotated[bool, typer.Option(help="Create an auto_ key, for automation platforms.")] = False,
    scope: Annotated[
        list[str] | None, typer.Option(help="A scope of the key; repeatable. By default the scopes of its kind.")
    ] = None,
    expires: Annotated[str | None, typer.Option(help="The expiry, such as 2030-01-31 or 2030-01-31T09:30:00Z.")] = None,
    json: JSON = False,
) -> None:
    """Create an API key. It is shown only once."""
    from app.cli import setup
    from app.domain.accounts.api_keys import NewKey
    from app.domain.accounts.keys import KeyKind

    new = NewKey(name, KeyKind.auto if automation else KeyKind.svc, scope or None, _instant(expires))
    made = asyncio.run(setup.create_key(find_settings(), account, new))
    typer.echo(tables.as_json(made) if json else made["key"])


@client.command("create")
def create_client(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name shown on the consent page.")],
    redirect_uri: Annotated[list[str], typer.Option(help="A redirect URI; repeatable.")],
    json: JSON = False,
) -> None:
    """Create an OAuth client for the users of every account. Its secret is shown only once."""
    from app.cli import setup

    print_value(asyncio.run(setup.create_client(find_settings(), name, redirect_uri)), as_json=json)


@client.command("list")
def list_clients(first: First = 50, json: JSON = False) -> None:
    """List the OAuth clients that were made here, the newest first; revoked ones too."""
    from app.cli import setup

    print_value(asyncio.run(setup.list_clients(find_settings(), CLIENT_COLUMNS))[:first], as_json=json)


@client.command("revoke")
def revoke_client(client: ClientId, json: JSON = False) -> None:
    """Revoke an OAuth client and its connections in all accounts."""
    from app.cli import setup

    print_value(asyncio.run(setup.revoke_client(find_settings(), client, CLIENT_COLUMNS)), as_json=json)


@event.command("failures")
def list_failures(first: First = 50, json: JSON = False) -> None:
    """List the reactions to events that failed, the latest first; those without a next attempt were set aside."""
    from app.cli import setup

    print_value(asyncio.run(setup.list_failures(find_settings(), first)), as_json=json)


@event.command("retry")
def retry_failures(
    event: Annotated[
        int | None, typer.Argument(metavar="EVENT", help="The event's id; all if none.", min=1, max=LARGEST_ID)
    ] = None,
) -> None:
    """Have the reactions tried again that were set aside."""
    from app.cli import setup

    retried = asyncio.run(setup.retry_failures(find_settings(), event))
    typer.echo(f"Tried again: {retried}.")


@credits.command("grant", context_settings={"ignore_unknown_options": True})
def grant_credits(
    account: ACCOUNT,
    amount: Annotated[int, typer.Argument(metavar="AMOUNT", help="The number of credits; negative to remove some.")],
    note: Annotated[str, typer.Option(help="The description in the ledger.")] = "Granted on the command line",
) -> None:
    """Grant an account credits."""
    from app.cli import setup

    balance = asyncio.run(setup.grant_credits(find_settings(), account, amount, note))
    typer.echo(f"Account {account} holds {balance} credits.")


@credits.command("confirm")
def confirm_payment(
    account: ACCOUNT,
    payment: Annotated[int, typer.Argument(metavar="PAYMENT", help="The id of a requested payment.", min=1)],
) -> None:
    """Add the credits of a requested payment, once its money has arrived."""
    from app.cli import setup

    balance = asyncio.run(setup.confirm_payment(find_settings(), account, payment))
    typer.echo(f"Account {account} holds {balance} credits.")


def opened_facts(settings: Settings, opened: "Opened") -> dict[str, Any]:
    """Return the data of a new account for its owner."""
    from dataclasses import asdict

    return {"base_url": settings.public_url, "sign_in_url": f"{settings.public_url}/login", **asdict(opened)}


def _question(account: int, name: str, *, now: bool) -> str:
    when = "now" if now else "after the delay"
    return f"Account {account} is deleted {when}, with everything in it. To confirm, write {name!r}"


def _instant(text: str | None) -> datetime | None:
    from app.domain.kernel import instants

    try:
        return None if text is None else instants.read(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no date or time, such as 2030-01-31.", param_hint="--expires") from None
