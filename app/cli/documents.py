"""Commands from operation documents: the operations of an account's owner."""

import asyncio
from collections.abc import Callable, Iterator
from functools import cache
from inspect import Parameter, Signature
from pathlib import Path
from types import GenericAlias
from typing import TYPE_CHECKING, Annotated, Any, Literal

import orjson
import typer
from typer.core import TyperGroup
from typer.main import get_group

from app import settings as configuration
from app.cli import runtime, tables

if TYPE_CHECKING:  # importing the compiler takes longer than the start of `serve`
    from app.cli.compiled import Command
    from app.operations.document import Operation
    from app.operations.variables import Variable

FOLDER = Path(__file__).parent / "operations"
LARGEST_ID = 2**63 - 1
ACCOUNT = Annotated[int, typer.Argument(metavar="ACCOUNT", help="The account's id.", min=1, max=LARGEST_ID)]
JSON = Annotated[bool, typer.Option("--json", help="Print JSON.")]
TYPES: dict[str, Any] = {"boolean": bool, "integer": int, "number": float}


class DocumentGroup(TyperGroup):
    """A group of commands, some of them documents, which are read on first use."""

    def list_commands(self, ctx: object) -> list[str]:
        """Return the names of all commands in alphabetical order."""
        self._read()
        return sorted(self.commands)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command of a name, or None."""
        if cmd_name not in self.commands:
            self._read()
        return super().get_command(ctx, cmd_name)

    def _read(self) -> None:
        for name, command in _commands(self.name or "").items():
            self.commands.setdefault(name, command)


@cache
def operations() -> "list[Operation]":
    """Return the operations that are commands; raise `InvalidDocument` for one that does not fit the contract."""
    from app.graphql.schema import FRAGMENTS, contract
    from app.operations.document import load

    return [each for each in load(FOLDER, contract(), FRAGMENTS) if each.command]


@cache
def _commands(group: str) -> dict[str, Any]:
    """Return the commands of a group by name."""
    from app.cli.compiled import load

    return dict(map(_command, load(group)))


def _command(command: "Command") -> tuple[str, Any]:
    name = command.name.partition(" ")[2]
    builder = typer.Typer(add_completion=False)
    builder.callback()(lambda: None)
    builder.command(name, help=command.description)(_function(command))
    return name, get_group(builder).commands[name]


def _function(command: "Command") -> Callable[..., None]:
    """Return the function of a command, with a parameter for each variable."""

    def run(account: int, json: bool, first: int = 50, offset: int = 0, **given: Any) -> None:
        from app.cli.execute import execute

        settings = runtime.find(configuration.load())
        paging = {"first": first, "offset": offset}
        given |= {name: value for name, value in paging.items() if name in command.variables}
        variables = _variables(command, given)
        value = asyncio.run(execute(settings, command, account, variables))
        if command.is_plain_list:
            value = value[offset : offset + first]
        typer.echo(tables.as_json(value) if json else tables.as_text(value))

    run.__signature__ = Signature(list(_parameters(command)))  # pyrefly: ignore[missing-attribute]
    run.__annotations__ = {}
    return run


def _parameters(command: "Command") -> Iterator[Parameter]:
    yield _parameter("account", ACCOUNT)
    variables = command.variables.values()
    for each in variables:
        if _is_argument(each):
            yield _parameter(each.name, _argument(each), Parameter.empty if each.required else None)
    for each in variables:
        if not _is_argument(each):
            yield _parameter(each.name, _option(each), Parameter.empty if each.required else _default(each))
    if command.is_plain_list:
        yield _parameter("first", Annotated[int, typer.Option(help="Maximum number of items.", min=1, max=1000)], 50)
        yield _parameter("offset", Annotated[int, typer.Option(help="Number of items to skip.", min=0)], 0)
    yield _parameter("json", JSON, False)


def _parameter(name: str, kind: object, default: object = Parameter.empty) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=kind, default=default)


def _is_argument(variable: "Variable") -> bool:
    is_one = not variable.many and variable.single["type"] != "boolean"
    return variable.positional or (variable.required and is_one)


def _argument(variable: "Variable") -> Any:
    kind = _type(variable) if variable.required else _type(variable) | None
    return Annotated[kind, typer.Argument(metavar=variable.name.upper(), help=_help(variable), **_bounds(variable))]


def _option(variable: "Variable") -> Any:
    kind: Any = GenericAlias(list, _plain_type(variable)) if variable.many else _type(variable)
    kind = kind if variable.required or variable.many else kind | None
    return Annotated[kind, typer.Option(help=_help(variable), **_bounds(variable))]


def _type(variable: "Variable") -> Any:
    if names := variable.single.get("enum"):
        return Literal[tuple(names)]  # pyrefly: ignore[invalid-literal]
    return _plain_type(variable)


def _plain_type(variable: "Variable") -> Any:
    return TYPES.get(str(variable.single["type"]), str)


def _bounds(variable: "Variable") -> dict[str, Any]:
    if "maximum" in variable.single:
        return {"min": variable.single["minimum"], "max": variable.single["maximum"]}
    return {"min": 1, "max": LARGEST_ID} if variable.single.get("format") == "int64" else {}


def _default(variable: "Variable") -> Any:
    return variable.schema.get("default")


def _help(variable: "Variable") -> str:
    """Return the description of a value, with the fields of an object."""
    text, fields = str(variable.schema.get("description", "")), variable.single.get("properties")
    return f"{text} Fields: {', '.join(fields)}." if fields else text


def _variables(command: "Command", given: dict[str, Any]) -> dict[str, Any]:
    """Return the given variables; raise `BadParameter` for an invalid one."""
    from app.operations.arguments import Acceptor, Unacceptable

    sent = {name: value for name, value in given.items() if value is not None and value != []}
    for name, value in sent.items():
        if command.variables[name].single["type"] == "object":
            label = _label(command.variables[name])
            sent[name] = [_json(label, each) for each in value] if isinstance(value, list) else _json(label, value)
    try:
        return Acceptor(command.variables.values(), closed=True).values(sent)
    except Unacceptable as fault:
        raise typer.BadParameter(str(fault)) from None


def _label(variable: "Variable") -> str:
    return variable.name.upper() if _is_argument(variable) else f"--{variable.name.replace('_', '-')}"


def _json(label: str, text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as fault:
        raise typer.BadParameter(f"{label} must be JSON: {fault}.") from None
