"""Commands for connections to carriers and their numbers."""

import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.administration import TYPERS, find_settings, print_value
from app.cli.documents import ACCOUNT, JSON, LARGEST_ID

if TYPE_CHECKING:
    from app.cli.connections import KnownKind

carrier, number = TYPERS["carrier"], TYPERS["number"]

Key = Annotated[str, typer.Argument(metavar="KEY", help="The key of the connection.")]
Unlisted = Annotated[
    bool, typer.Option("--unlisted", help="Take a number that the carrier does not list for the connection.")
]
Files = Annotated[
    list[str] | None,
    typer.Option(
        "--file", metavar="NAME=PATH", help="Read a credential from a file; repeatable. Others are asked for."
    ),
]
Variables = Annotated[
    list[str] | None,
    typer.Option("--env", metavar="NAME=VARIABLE", help="Read a credential from an environment variable; repeatable."),
]


@carrier.command("kinds")
def list_kinds(json: JSON = False) -> None:
    """List the carriers that can be connected, with their settings and credentials."""
    from app.cli import connections

    print_value(connections.list_kinds(), as_json=json)


@carrier.command("add")
def add_connection(  # noqa: PLR0913 - each parameter is an option of the command
    *,
    kind: Annotated[str, typer.Argument(metavar="KIND", help="The carrier, as `carrier kinds` lists it.")],
    key: Annotated[str, typer.Argument(metavar="KEY", help="A key for it: small letters, digits and hyphens.")],
    name: Annotated[str, typer.Option(help="A name; that of the carrier if none is given.")] = "",
    chosen: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A setting; repeatable.")
    ] = None,
    file: Files = None,
    env: Variables = None,
    pace: Annotated[float | None, typer.Option(help="The most SMS parts a second through the connection.")] = None,
    account: Annotated[
        int | None, typer.Option(help="The account that it is for; all accounts if none.", min=1, max=LARGEST_ID)
    ] = None,
    json: JSON = False,
) -> None:
    """Add a connection to a carrier, after the carrier has accepted its credentials.

    Credentials are read from files or environment variables, or asked for. The key of an account's own is made.
    """
    from app.cli import connections
    from app.domain.carriers.service import NewConnection

    known = connections.get_kind(kind)
    settings = _pairs(chosen, "--set")
    for each in known.missing_settings(settings):
        settings[each] = typer.prompt(known.describe(each), err=True)
    credentials = _read_credentials(known, file, env)
    new = NewConnection(kind, name, settings, credentials, key, pace)
    print_value(asyncio.run(connections.add(find_settings(), account, new)), as_json=json)


@carrier.command("list")
def list_connections(json: JSON = False) -> None:
    """List the connections to carriers, those of accounts too."""
    from app.cli import connections

    print_value(asyncio.run(connections.list_all(find_settings())), as_json=json)


@carrier.command("show")
def show_connection(key: Key, json: JSON = False) -> None:
    """Show a connection, without its credentials."""
    from app.cli import connections

    print_value(asyncio.run(connections.show(find_settings(), key)), as_json=json)


@carrier.command("test")
def check_connection(
    key: Key,
    to: Annotated[str, typer.Option(help="Send a text to this phone, at the carrier's price.")] = "",
    sender: Annotated[str, typer.Option("--from", help="The number to send it from; one of the connection's.")] = "",
    json: JSON = False,
) -> None:
    """Ask the carrier whether it accepts the credentials of a connection; with --to, also send a text."""
    from app.cli import connections

    print_value(asyncio.run(connections.check(find_settings(), key, to, sender)), as_json=json)


@carrier.command("pause")
def pause_connection(key: Key, json: JSON = False) -> None:
    """Have the texts of a connection wait. Reports and inbound texts are processed as before."""
    from app.cli import connections
    from app.domain.carriers import service

    print_value(asyncio.run(connections.change(find_settings(), key, service.pause)), as_json=json)


@carrier.command("resume")
def resume_connection(key: Key, json: JSON = False) -> None:
    """Let the texts of a paused connection leave."""
    from app.cli import connections
    from app.domain.carriers import service

    print_value(asyncio.run(connections.change(find_settings(), key, service.resume)), as_json=json)


@carrier.command("rotate")
def rotate_connection(
    key: Key,
    file: Files = None,
    env: Variables = None,
    overlap_hours: Annotated[
        int, typer.Option(help="Hours for which callbacks with the former ones are accepted.")
    ] = 24,
    json: JSON = False,
) -> None:
    """Replace the credentials of a connection, after the carrier has accepted the new ones."""
    from app.cli import connections

    settings = find_settings()
    known = connections.get_kind(asyncio.run(connections.show(settings, key))["kind"])
    credentials = _read_credentials(known, file, env)
    print_value(asyncio.run(connections.rotate(settings, key, credentials, overlap_hours)), as_json=json)


@carrier.command("remove")
def remove_connection(key: Key, json: JSON = False) -> None:
    """Remove a connection that has no numbers and no waiting texts."""
    from app.cli import connections

    print_value(asyncio.run(connections.remove(find_settings(), key)), as_json=json)


@carrier.command("numbers")
def list_numbers(key: Key, json: JSON = False) -> None:
    """List the numbers that the carrier has for a connection."""
    from app.cli import connections

    print_value(asyncio.run(connections.list_numbers(find_settings(), key)), as_json=json)


@number.command("assign")
def assign_number(
    account: ACCOUNT,
    key: Key,
    phone_number: Annotated[str, typer.Argument(metavar="NUMBER", help="The number in E.164 form.")],
    label: Annotated[str, typer.Option(help="A label; the number if none is given.")] = "",
    unlisted: Unlisted = False,
    json: JSON = False,
) -> None:
    """Give an account a number of a connection: it sends from it and receives on it."""
    from app.cli import connections
    from app.domain.numbers.senders import NewNumber

    new = NewNumber(phone_number, label, is_vouched=unlisted)
    print_value(asyncio.run(connections.assign(find_settings(), account, key, new)), as_json=json)


@number.command("move")
def move_number(
    account: ACCOUNT,
    number: Annotated[int, typer.Argument(metavar="NUMBER", help="The number's id.", min=1, max=LARGEST_ID)],
    key: Key,
    unlisted: Unlisted = False,
    json: JSON = False,
) -> None:
    """Move a number of an account to another connection; texts that wait leave through that one."""
    from app.cli import connections

    moved = connections.move(find_settings(), account, number, key, is_vouched=unlisted)
    print_value(asyncio.run(moved), as_json=json)


def _read_credentials(known: "KnownKind", files: list[str] | None, variables: list[str] | None) -> dict[str, str]:
    """Return the credentials; required ones that were not given are asked for, without an echo."""
    credentials: dict[str, str] = {}
    for name, path in _pairs(files, "--file").items():
        try:
            credentials[name] = Path(path).read_text().strip()
        except (OSError, UnicodeDecodeError) as problem:
            raise typer.BadParameter(f"{path} cannot be read: {problem}.", param_hint="--file") from None
    for name, variable in _pairs(variables, "--env").items():
        if variable not in os.environ:  # noqa: TID251
            raise typer.BadParameter(f"The environment has no {variable}.", param_hint="--env")
        credentials[name] = os.environ[variable].strip()  # noqa: TID251
    for each in known.missing_credentials(credentials):
        credentials[each] = _ask(each, known.describe(each))
    return credentials


def _ask(name: str, text: str) -> str:
    """Ask for a credential; raise `BadParameter` without a terminal, as in a script."""
    if sys.stdin is None or not sys.stdin.isatty():
        reason = f"The credential {name} is missing. Give it as --env {name}=VARIABLE or as --file {name}=PATH."
        raise typer.BadParameter(reason)
    return typer.prompt(text, hide_input=True, err=True).strip()


def _pairs(given: list[str] | None, option: str) -> dict[str, str]:
    pairs = dict[str, str]()
    for each in given or []:
        name, separator, value = each.partition("=")
        if not separator:
            raise typer.BadParameter("write it as NAME=VALUE.", param_hint=option)
        pairs[name] = value
    return pairs
