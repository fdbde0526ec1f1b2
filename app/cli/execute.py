"""Runs an operation of an account as the operator."""

from typing import Any

from app.cli import setup
from app.cli.compiled import Command
from app.graphql.execution.execute import Executor
from app.settings import Settings


async def execute(settings: Settings, command: Command, account_id: int, variables: dict[str, Any]) -> Any:
    """Return the value of an operation's root field; raise `NotFound` and `AccountDeleted`."""
    async with setup.operate(settings, account_id):
        pass
    async with setup.connect(settings) as services:
        return (await Executor(services)(command, variables, setup.operator_of(account_id))).value
