"""Runs an operation of an account as the operator."""

from typing import Any

from app.cli import setup
from app.cli.compiled import Command
from app.graphql.execution.execute import Executor
from app.settings import Settings


async def execute(settings: Settings, command: Command, account_id: int, variables: dict[str, Any]) -> Any:
    """Return the value of an operation's root field; raise `NotFound` and `AccountDeleted`."""
    operator = setup.operator_of(account_id)
    async with setup.connect(settings) as services:
        async with setup.open_for(services, operator) as unit:
            await setup.check_account(unit)
        return (await Executor(services)(command, variables, operator)).value
