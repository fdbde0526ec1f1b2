"""Changes of resources, for the streams of `subscriptions/listen`: the live updates of the account."""

import re
from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import aclosing
from dataclasses import replace

from graphql import ExecutionResult

from app.domain.kernel.errors import DomainError, Unauthenticated
from app.domain.kernel.events import UpdateKind
from app.domain.kernel.unit_of_work import Actor
from app.graphql.execution.errors import refusal
from app.graphql.execution.execute import Run
from app.graphql.execution.parameters import Parameters
from app.jobs.live import Listener, Stopping
from app.mcp.resources import CompiledResource, Resources
from app.mcp.selection import Caller
from app.mcp.tools import Tools

UPDATES = """
subscription ($after: BigInt, $kinds: [UpdateKind!]) {
  updates(after: $after, kinds: $kinds) {
    contact_id
    conversation_id
    ... on JobProgressUpdate { job_id }
    ... on CampaignUpdate { campaign_id }
  }
}
"""
KINDS = (
    UpdateKind.new_message,
    UpdateKind.message_status,
    UpdateKind.conversation_changed,
    UpdateKind.contact_changed,
    UpdateKind.job_progress,
    UpdateKind.campaign_progress,
)
FOLLOWED = ("contact_id", "conversation_id", "job_id", "campaign_id")
"""The ids of an update, which are the variables in the URIs of the resources that it changes."""

ID = re.compile(r"[1-9][0-9]*")


def find_followed(resources: Resources, actor: Actor, uris: Iterable[str]) -> list[str]:
    """Return those URIs whose changes are sent to an actor: it may read the resource, and updates name its id."""
    return [uri for uri in uris if _is_followed(resources.find(uri), actor, uri)]


async def follow(tools: Tools, caller: Caller, after: int) -> AsyncGenerator[str, None]:
    """Yield the URIs of resources that changed after an update, until the process stops or the credential ends.

    It reads as the subscription `updates` of the contract does, with its scopes and limits. Raises `DomainError` if it
    does not begin.
    """
    executor, variables = tools.executor, {"after": after, "kinds": KINDS}
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
                    for uri in _changed(tools.resources, result):
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


def _is_followed(resource: CompiledResource | None, actor: Actor, uri: str) -> bool:
    if resource is None or not resource.operation.scopes <= actor.scopes:
        return False
    found = resource.pattern.fullmatch(uri)
    given = found.groupdict() if found else {}
    return bool(given) and all(name in FOLLOWED and ID.fullmatch(text) for name, text in given.items())


def _changed(resources: Resources, result: ExecutionResult) -> Iterator[str]:
    update = (result.data or {}).get("updates") or {}
    ids = {name: id for name, id in update.items() if id is not None}
    for resource in resources.found:
        yield from resource.uris_of(ids)
