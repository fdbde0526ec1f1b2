"""Streams of `subscriptions/listen`, one for each request."""

from typing import Any

import anyio
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, SubscriptionsListenRequestParams, SubscriptionsListenResult

from app.domain.kernel.errors import DomainError
from app.mcp.selection import Caller
from app.mcp.tools import Tools
from app.mcp.updates import follow, remain


async def listen(
    tools: Tools, caller: Caller, context: ServerRequestContext[Any, Any], params: SubscriptionsListenRequestParams
) -> SubscriptionsListenResult:
    """Send the changes of resources that a client asked for, until it disconnects or its credential ends.

    A stream for no resource is one of the account's live streams too. The stream shows the changes from now on, also
    before its client is told that it has begun.
    """
    newest = await tools.services.feed.start(caller.actor.account_id, None)
    bus, refused = InMemorySubscriptionBus(), list[DomainError]()
    handler = ListenHandler(bus)

    async def publish() -> None:
        try:
            if not params.notifications.resource_subscriptions:
                await remain(tools.services.live, caller)
                return
            async for uri in follow(tools.executor, caller, newest):
                await bus.publish(ResourceUpdated(uri))
        except DomainError as error:
            refused.append(error)
        finally:
            handler.close()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(publish)
        result = await handler(context, params)
        tasks.cancel_scope.cancel()
        if not refused:
            return result
    raise MCPError(INVALID_PARAMS, str(refused[0]), {"error_code": refused[0].code})
