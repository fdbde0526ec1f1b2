"""Streams of `subscriptions/listen`, one for each request."""

from typing import Any

import anyio
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    SubscriptionFilter,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
)

from app.domain.kernel.errors import DomainError
from app.mcp.selection import Caller
from app.mcp.tools import Tools
from app.mcp.updates import find_followed, follow, remain


async def listen(
    tools: Tools, caller: Caller, context: ServerRequestContext[Any, Any], params: SubscriptionsListenRequestParams
) -> SubscriptionsListenResult:
    """Send the changes of resources that a client asked for, until it disconnects or its credential ends.

    Only resources whose changes are sent are acknowledged. A stream for none is one of the account's live streams too.
    The stream shows the changes from now on, also before its client is told that it has begun.
    """
    newest = await tools.services.feed.start(caller.actor.account_id, None)
    bus, refused = InMemorySubscriptionBus(), list[DomainError]()
    handler = ListenHandler(bus)
    followed = find_followed(tools.resources, caller.actor, params.notifications.resource_subscriptions or ())
    sent = params.model_copy(update={"notifications": SubscriptionFilter(resource_subscriptions=followed)})

    async def publish() -> None:
        try:
            if not followed:
                await remain(tools.services.live, caller)
                return
            async for uri in follow(tools, caller, newest):
                await bus.publish(ResourceUpdated(uri))
        except DomainError as error:
            refused.append(error)
        finally:
            handler.close()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(publish)
        result = await handler(context, sent)
        tasks.cancel_scope.cancel()
        if not refused:
            return result
    raise MCPError(INVALID_PARAMS, str(refused[0]), {"error_code": refused[0].code})
