"""The commands, their options and their texts."""

import asyncio
import secrets
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn, TypeVar

import typer

from app import gc
from app import settings as configuration
from app.cli import administration, carriers, runtime
from app.cli import imports as _imports  # noqa: F401 - adds its commands
from app.cli.administration import find_settings, opened_facts, print_value
from app.cli.documents import JSON, LARGEST_ID
from app.cli.profile import check_email
from app.cli.usage import UsageError, explain
from app.settings import Settings

if TYPE_CHECKING:
    from app.providers.carriers.sandbox.carrier import SandboxCarrier
    from app.providers.carriers.sandbox.reports import Service

T = TypeVar("T")

HELP = {"help_option_names": ["-h", "--help"]}
app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, context_settings=HELP)
sandbox = typer.Typer(no_args_is_help=True)
assert carriers.carrier is administration.TYPERS["carrier"]
for name, purpose in administration.GROUPS.items():
    app.add_typer(administration.TYPERS[name], name=name, help=purpose)
app.add_typer(sandbox, name="sandbox", help="Report as the sandbox carrier to the running service.")


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"messaging {version('messaging')}")
        raise typer.Exit()


def main() -> None:
    """Run a command; an error is one sentence and exit code 1, or 2 for wrong usage."""
    gc.pause()
    if not set(HELP["help_option_names"]).isdisjoint(sys.argv):
        _fold_names()
    try:
        sys.exit(app(standalone_mode=False))
    except UsageError as fault:
        _complain(fault)
    except typer.Abort:
        sys.exit("messaging: Nothing was done.")
    except Exception as problem:
        if not _is_for_user(problem):
            raise
        sys.exit(f"messaging: {problem}")
    finally:
        gc.keep()


def _fold_names() -> None:
    """Let long names of options go on in the next line of a help."""
    from app.cli import narrow  # only a help needs Rich

    narrow.fold()


def _complain(fault: Any) -> NoReturn:
    """Print the usage error of a command, or the help of one without arguments."""
    if type(fault).__name__ == "NoArgsIsHelpError":
        fault.show()
    else:
        typer.echo(f"messaging: {explain(fault)}", err=True)
    sys.exit(fault.exit_code)


@app.callback()
def start(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Run and administer the messaging service."""


TlsCert = Annotated[
    Path | None, typer.Option(help="Serve HTTPS with this certificate, and those that sign it, in PEM format.")
]
TlsKey = Annotated[Path | None, typer.Option(help="The private key of the certificate, in PEM format.")]


@app.command()
def serve(  # noqa: PLR0913 - each parameter is an option of the command
    *,
    port: Annotated[
        int | None, typer.Option(help="The port to listen on; 8000 if none is given.", min=1, max=65535)
    ] = None,
    data: Annotated[Path | None, typer.Option(help="The data folder.")] = None,
    company_name: Annotated[
        str | None, typer.Option(help="First start: the company name, shown to recipients.")
    ] = None,
    owner_email: Annotated[
        str | None, typer.Option(help="First start: the owner's e-mail address.", callback=check_email)
    ] = None,
    owner_first_name: Annotated[str | None, typer.Option(help="First start: the owner's first name.")] = None,
    owner_last_name: Annotated[str | None, typer.Option(help="First start: the owner's last name.")] = None,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
) -> None:
    """Run the whole service on this machine: PostgreSQL, Valkey, web and worker.

    The first start creates an account. In a terminal it asks for options that are not given.
    """
    from app.cli.serve import serve as run

    profile = {"company_name": company_name, "owner_email": owner_email}
    names = {"owner_first_name": owner_first_name, "owner_last_name": owner_last_name}
    given = {"port": port, "data": data, "tls_cert": tls_cert, "tls_key": tls_key, **profile, **names}
    raise SystemExit(run(_override(configuration.load(), given)))


def _override(settings: Settings, given: Mapping[str, object]) -> Settings:
    """Return the settings with the options that were given."""
    return settings.model_copy(update={name: value for name, value in given.items() if value is not None})


@app.command()
def web(tls_cert: TlsCert = None, tls_key: TlsKey = None) -> None:
    """Run only the web process, with DATABASE_URL and REDIS_URL."""
    from app.main import run
    from app.telemetry.metrics import fold

    fold()
    run(_override(find_settings(), {"tls_cert": tls_cert, "tls_key": tls_key}))


@app.command()
def worker() -> None:
    """Run only a worker, with DATABASE_URL and REDIS_URL."""
    from app.bootstrap import open_jobs
    from app.server.sockets import allow_files
    from app.settings import environment
    from app.telemetry import logs
    from app.telemetry.metrics import fold
    from app.worker import run

    fold()
    settings = find_settings()
    environment.check(settings)
    allow_files(2 * settings.handoff_window)  # the calls, and about as many queries, webhooks and callbacks
    logs.configure(settings.log_format, settings.log_level)
    run(settings.redis_url or "", partial(open_jobs, settings))


@app.command()
def smpp() -> None:
    """Run only the process of SMPP connections, with DATABASE_URL and REDIS_URL."""
    from app.settings import environment
    from app.smpp import run
    from app.telemetry import logs
    from app.telemetry.metrics import fold

    fold()
    settings = find_settings()
    environment.check(settings)
    logs.configure(settings.log_format, settings.log_level)
    run(settings)


@app.command()
def migrate() -> None:
    """Migrate the database of DATABASE_URL to the newest schema."""
    from app.cli import setup

    settings = configuration.load()
    asyncio.run(setup.migrate(settings if settings.database_url else runtime.find(settings)))
    typer.echo("The database has the newest schema.")


@app.command()
def schema() -> None:
    """Print the GraphQL contract."""
    from app.graphql.schema import sdl

    typer.echo(sdl(), nl=False)


@app.command()
def check() -> None:
    """Compile all operation documents, registers and catalogues."""
    from app.cli.generated import check_documents

    typer.echo(check_documents())


@app.command()
def generate(
    check: Annotated[bool, typer.Option("--check", help="Write nothing; fail if a file is out of date.")] = False,
) -> None:
    """Write the files that are made from the code: the contract, OpenAPI, the pages on errors and the sandbox.

    First compiles the documents, registers and catalogues, as `messaging check` does.
    """
    from app.cli.generated import check_documents, write_all

    typer.echo(check_documents())
    stale = write_all(check=check)
    typer.echo("\n".join(f"out of date: {path}" for path in stale) or "Everything is up to date.")
    raise SystemExit(1 if check and stale else 0)


@app.command()
def demo(
    redirect_uri: Annotated[
        str, typer.Option(help="The redirect URI of the OAuth client.")
    ] = "http://127.0.0.1/callback",
    json: JSON = False,
) -> None:
    """Create an account with everything for a test and 1,000,000 credits. Each call creates another one."""
    from app.cli import setup

    settings, name = find_settings(), secrets.token_hex(4)
    email = f"{name}@demo.example"
    opened = asyncio.run(setup.create_demo(settings, f"Demo {name}", email, 1_000_000, redirect_uri))
    print_value(opened_facts(settings, opened), as_json=json)


@sandbox.command("inbound")
def report_inbound(
    from_number: Annotated[str, typer.Argument(metavar="FROM", help="The sender, such as +12025550143.")],
    to_number: Annotated[str, typer.Argument(metavar="TO", help="Your sandbox number.")],
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The message.")],
) -> None:
    """Send a message to one of your numbers."""
    from app.cli import setup
    from app.domain.kernel import phone
    from app.providers.carriers.sandbox import reports

    settings = find_settings()
    sender, receiver = phone.normalize(from_number), phone.normalize(to_number)
    network = asyncio.run(setup.find_network_of_number(settings, receiver))
    asyncio.run(reports.report_inbound(_running(settings, network), sender, receiver, text))
    typer.echo(f"{receiver} received the text.")


@sandbox.command("status")
def report_status(
    message_id: Annotated[int, typer.Argument(metavar="MESSAGE", help="The message's id.", min=1, max=LARGEST_ID)],
    status: Annotated[
        Literal["delivered", "failed"],
        typer.Argument(metavar="STATUS", help="The status to report: delivered or failed."),
    ],
    code: Annotated[str | None, typer.Option(help="The failure code, such as landline.")] = None,
) -> None:
    """Report the status of a message."""
    from app.cli import setup
    from app.domain.carriers.carrier import FailureCode, ReceiptStatus
    from app.providers.carriers.sandbox import reports

    if code is not None and code not in list(FailureCode):
        raise typer.BadParameter(f"{code!r} is not one of {', '.join(FailureCode)}.", param_hint="--code")
    known = ReceiptStatus(status), FailureCode(code) if code else None
    settings = find_settings()
    network = asyncio.run(setup.find_network_of_message(settings, message_id))
    asyncio.run(reports.report_status(_running(settings, network), message_id, *known))
    typer.echo(f"Message {message_id} was reported {status}.")


def _running(settings: Settings, network: "SandboxCarrier") -> "Service":
    """Return the running service, as a connection to the sandbox reports to it."""
    from app.providers.carriers.sandbox.reports import Service

    return Service(settings.public_url, network.key, network.secret, settings.tls_cert)


def _is_for_user(problem: Exception) -> bool:
    """Return whether an exception's text is for the user; any other is shown with its traceback."""
    return type(problem).__module__.startswith("app.")
