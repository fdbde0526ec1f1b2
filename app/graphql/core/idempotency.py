"""Idempotency keys of the contract: what is asked for again is answered again."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import strawberry

from app.domain.kernel import idempotency
from app.graphql.core.context import Info

IdempotencyKey = Annotated[
    str | None,
    strawberry.argument(description="Repeat a request with the same key within 24 hours to have it done once."),
]


async def once(info: Info, key: str | None, digest: str, change: Callable[[], Awaitable[Any]]) -> int:
    """Make a change, unless its idempotency key was answered before; return the id of the row that it gave.

    `digest` is the `idempotency.fingerprint` of what is asked for.
    """

    async def act() -> dict[str, Any]:
        return {"id": (await change()).id}

    done = await idempotency.once(info.context.unit, key, digest, act)
    info.context.replayed = done.replayed
    return done.answer["id"]
