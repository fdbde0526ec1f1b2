"""Changes of resources, for the streams of `subscriptions/listen`: the live updates of the account."""

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from dataclasses import replace

from graphql import ExecutionResult

from app.domain.kernel.errors import DomainError, Unauthenticated
from app.graphql.execution.errors import refusal
from app.graphql.execution.execute import Executor, Run
from app.graphql.execution.parameters import Parameters
from app.jobs.live import Listener, Stopping
from app.mcp.selection import Caller

CHANGED = "conversation { id contact_id }"
UPDATES = f"""
subscription ($after: BigInt) {{
  updates(after: $after) {{
    ... on NewMessageUpdate {{ {CHANGED} }}
    ... on MessageStatusUpdate {{ {CHANGED} }}
    ... on ConversationUpdate {{ {CHANGED} }}
  }}
}}
"""


async def follow(executor: Executor, caller: Caller, after: int) -> AsyncGenerator[str, None]:
    """Yield the URIs of resources that changed after an update, until the process stops or the credential ends.

    It reads as the subscription `updates` of the contract does, with its scopes and limits. Raises `DomainError` if it
    does not begin.
    """
    variables = {"after": after}
    prepared = await executor.read(Parameters(UPDATES, None, variables), caller.actor, "")
    run = Run(prepared, variables, caller.actor)
    values = await executor.subscribe(run)
    if isinstance(values, ExecutionResult):
        raise refusal((values.errors or [])[0])
    async with aclosing(values):
        try:
            async for together in values:
                run = replace(run, actor=await caller.find_present_actor())
                for result in await executor.show(run, together) if together else ():
                    for uri in _changed(result):
                        yield uri
        except (Stopping, DomainError):
            return


async def remain(live: Listener, caller: Caller) -> None:
    """Wait until the process stops or the credential ends. Raises `TooManyStreams` at the limit of an account."""
    with live.watch(caller.actor.account_id) as watch:
        try:
            while True:
                await watch.wait()
                await caller.find_present_actor()
        except (Stopping, Unauthenticated):
            return


def _changed(result: ExecutionResult) -> Iterator[str]:
    conversation = ((result.data or {}).get("updates") or {}).get("conversation")
    if conversation:
        yield f"sms://conversations/{conversation['id']}"
        yield f"sms://contacts/{conversation['contact_id']}"
