"""The commands, their options and their texts."""

import asyncio
import secrets
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import orjson
import typer

from app import memory
from app import settings as configuration
from app.cli import runtime
from app.cli.profile import check_email
from app.settings import MOST_CREDITS, Settings

T = TypeVar("T")

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
account, key, client, credits, sandbox = (typer.Typer(no_args_is_help=True) for _ in range(5))
app.add_typer(account, name="account", help="Open accounts.")
app.add_typer(key, name="key", help="Make API keys.")
app.add_typer(client, name="client", help="Make OAuth clients.")
app.add_typer(credits, name="credits", help="Grant credits.")
app.add_typer(sandbox, name="sandbox", help="Speak as the sandbox carrier to the running service.")

LARGEST_ID = 2**63 - 1
AccountId = Annotated[int, typer.Argument(help="The account's id.", min=1, max=LARGEST_ID)]


def main() -> None:
    """Run a command; what goes wrong is one sentence and exit code 1."""
    memory.pause()
    try:
        app()
    except Exception as problem:
        if not _is_told(problem):
            raise
        sys.exit(f"messaging: {problem}")


@app.command()
def serve(
    port: Annotated[
        int | None, typer.Option(help="The port to listen on; 8000 if none is given.", min=1, max=65535)
    ] = None,
    data: Annotated[Path | None, typer.Option(help="The folder that keeps everything.")] = None,
    company_name: Annotated[str | None, typer.Option(help="First start: the name that recipients are told.")] = None,
    owner_email: Annotated[
        str | None, typer.Option(help="First start: the owner's e-mail address.", callback=check_email)
    ] = None,
    owner_first_name: Annotated[str | None, typer.Option(help="First start: the owner's first name.")] = None,
    owner_last_name: Annotated[str | None, typer.Option(help="First start: the owner's last name.")] = None,
) -> None:
    """Run the whole service on this machine: PostgreSQL, Valkey, web and worker.

    The first start opens an account. In a terminal it asks for what these options do not say.
    """
    from app.cli.serve import serve as run

    profile = {"company_name": company_name, "owner_email": owner_email}
    names = {"owner_first_name": owner_first_name, "owner_last_name": owner_last_name}
    given = {"port": port, "data": data, **profile, **names}
    settings = configuration.load()
    raise SystemExit(
        run(settings.model_copy(update={name: value for name, value in given.items() if value is not None}))
    )


@app.command()
def web() -> None:
    """Run the web process alone, against DATABASE_URL and REDIS_URL."""
    from app.main import run

    run(_settings())


@app.command()
def worker() -> None:
    """Run a worker alone, against DATABASE_URL and REDIS_URL."""
    from app.bootstrap import open_jobs
    from app.settings import environment
    from app.telemetry import logs
    from app.worker import run

    settings = _settings()
    environment.check(settings)
    logs.configure(settings.log_format, settings.log_level)
    run(settings.redis_url or "", lambda: open_jobs(settings))


@app.command()
def migrate() -> None:
    """Bring the database of DATABASE_URL to the newest schema."""
    from app.cli import setup

    settings = configuration.load()
    asyncio.run(setup.migrate(settings if settings.database_url else runtime.find(settings)))
    typer.echo("The database has the newest schema.")


@app.command()
def schema() -> None:
    """Print the GraphQL contract."""
    from app.graphql.schema import CONTRACT

    typer.echo(CONTRACT, nl=False)


@app.command()
def check() -> None:
    """Compile all operation documents, registers and catalogues."""
    from app.cli.generated import check_documents

    typer.echo(check_documents())


@app.command()
def generate(
    check: Annotated[bool, typer.Option("--check", help="Write nothing; fail if a file is out of date.")] = False,
) -> None:
    """Write the files that are made from the code: the contract, OpenAPI, the pages on errors and the sandbox."""
    from app.cli.generated import write_all

    stale = write_all(check=check)
    typer.echo("\n".join(f"out of date: {path}" for path in stale) or "Everything is up to date.")
    raise SystemExit(1 if check and stale else 0)


@app.command()
def demo(
    redirect_uri: Annotated[
        str, typer.Option(help="Where the OAuth client is sent back to.")
    ] = "http://127.0.0.1/callback",
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Open an account with all that a tester needs, and 1,000,000 credits. Each call opens another one."""
    from app.cli import setup

    settings, name = _settings(), secrets.token_hex(4)
    email = f"{name}@demo.example"
    opened = asyncio.run(setup.create_demo(settings, f"Demo {name}", email, 1_000_000, redirect_uri))
    _tell(_told(settings, opened), as_json=json)


@account.command("create")
def create_account(
    company_name: Annotated[str, typer.Argument(help="The name that recipients are told.")],
    email: Annotated[str, typer.Option(help="The owner's e-mail address.")],
    credits: Annotated[int, typer.Option(help="How many credits to begin with.", min=0, max=MOST_CREDITS)] = 0,
    region: Annotated[str, typer.Option(help="The country whose national phone numbers are understood.")] = "US",
    support_contact: Annotated[str, typer.Option(help="What a HELP reply tells people to turn to.")] = "",
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Open an account with an owner, keys and a sandbox number."""
    from app.cli import setup

    settings = _settings()
    opening = setup.create_account(settings, company_name, email, credits, region, support_contact)
    opened = asyncio.run(opening)
    _tell(_told(settings, opened), as_json=json)


@key.command("create")
def create_key(
    account_id: AccountId,
    name: Annotated[str, typer.Option(help="What the key is for.")] = "Made on the command line",
    automation: Annotated[bool, typer.Option(help="Make an auto_ key, for automation platforms.")] = False,
) -> None:
    """Make an API key. It is shown this once."""
    from app.cli import setup
    from app.domain.accounts.keys import KeyKind

    kind = KeyKind.auto if automation else KeyKind.svc
    typer.echo(asyncio.run(setup.create_key(_settings(), account_id, name, kind)))


@client.command("create")
def create_client(
    name: Annotated[str, typer.Argument(help="The name that people are shown when they connect it.")],
    redirect_uri: Annotated[list[str], typer.Option(help="Where it is sent back to; may be given several times.")],
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Make an OAuth client for the users of every account, such as an automation platform. Its secret is shown once."""
    from app.cli import setup

    _tell(asyncio.run(setup.create_client(_settings(), name, redirect_uri)), as_json=json)


@credits.command("grant", context_settings={"ignore_unknown_options": True})
def grant_credits(
    account_id: AccountId,
    amount: Annotated[int, typer.Argument(help="How many; negative to take some back.")],
    note: Annotated[str, typer.Option(help="Why, for the ledger.")] = "Granted on the command line",
) -> None:
    """Grant an account credits."""
    from app.cli import setup

    balance = asyncio.run(setup.grant_credits(_settings(), account_id, amount, note))
    typer.echo(f"Account {account_id} holds {balance} credits.")


@sandbox.command("inbound")
def report_inbound(
    from_number: Annotated[str, typer.Argument(help="Who texts, such as +12025550143.")],
    to_number: Annotated[str, typer.Argument(help="Your sandbox number.")],
    text: Annotated[str, typer.Argument(help="What they text.")],
) -> None:
    """Text one of your numbers, as a person would."""
    from app.cli import setup
    from app.providers.carriers.sandbox import reports

    settings = _settings()
    sender, receiver = asyncio.run(setup.find_line(settings, from_number, to_number))
    _report(settings, lambda url, secret: reports.report_inbound(url, secret, sender, receiver, text))
    typer.echo(f"{receiver} received the text.")


@sandbox.command("status")
def report_status(
    message_id: Annotated[int, typer.Argument(help="The message's id.", min=1, max=LARGEST_ID)],
    status: Annotated[Literal["delivered", "failed"], typer.Argument(help="What became of it.")],
    code: Annotated[str | None, typer.Option(help="Why it failed, such as landline.")] = None,
) -> None:
    """Report on a message, as a carrier would."""
    from app.cli import setup
    from app.domain.messages.carrier import FailureCode, ReceiptStatus
    from app.providers.carriers.sandbox import reports

    if code is not None and code not in list(FailureCode):
        raise typer.BadParameter(f"{code!r} is not one of {', '.join(FailureCode)}.", param_hint="--code")
    known = ReceiptStatus(status), FailureCode(code) if code else None
    settings = _settings()
    asyncio.run(setup.check_message(settings, message_id))
    _report(settings, lambda url, secret: reports.report_status(url, secret, message_id, *known))
    typer.echo(f"Message {message_id} was reported {status}.")


def _report(settings: Settings, report: Callable[[str, bytes], Coroutine[Any, Any, None]]) -> None:
    from app.bootstrap import derive

    asyncio.run(report(settings.public_url, derive(settings, "sandbox")))


def _settings() -> Settings:
    return runtime.find(configuration.load())


def _told(settings: Settings, opened: Any) -> dict[str, Any]:
    from dataclasses import asdict

    return {"base_url": settings.public_url, "sign_in_url": f"{settings.public_url}/login", **asdict(opened)}


def _tell(facts: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        typer.echo(orjson.dumps(facts, option=orjson.OPT_INDENT_2).decode())
        return
    for name, value in facts.items():
        typer.echo(f"{name:16} {value}")


def _is_told(problem: Exception) -> bool:
    """Tell whether an exception is a sentence for people; anything else is a defect, shown whole."""
    return type(problem).__module__.startswith("app.")
