"""Idempotency keys of the contract: a repeated request gets the same answer."""

import base64
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import strawberry

from app.domain.kernel import idempotency
from app.graphql.core.context import Info
from app.graphql.core.directives import Constraint

IdempotencyKey = Annotated[
    str | None,
    strawberry.argument(
        description="Repeat a request with the same key within 24 hours to have it done once.",
        directives=[Constraint(min_length=1, max_length=idempotency.MAX_LENGTH)],
    ),
]


async def once(info: Info, key: str | None, digest: str, change: Callable[[], Awaitable[Any]]) -> int:
    """Make a change, unless its idempotency key was answered before; return the id of the row that it gave.

    `digest` is the `idempotency.fingerprint` of the request.
    """

    async def act() -> dict[str, Any]:
        return {"id": (await change()).id}

    done = await idempotency.once(info.context.unit, key, digest, act)
    info.context.replayed = done.replayed
    return done.answer["id"]


async def once_with_secret(
    info: Info, key: str | None, digest: str, make: Callable[[], Awaitable[tuple[Any, str | None]]]
) -> tuple[int, str]:
    """Make a record that has a secret, as `once` does; return the id of its row, and the secret, empty without one.

    The stored answer has the secret encrypted. Only its caller gets it again: for others, the key was used before.
    """
    unit, seal = info.context.unit, info.context.services.answers

    async def act() -> dict[str, Any]:
        row, secret = await make()
        return {"id": row.id, "secret": base64.b64encode(seal.close(secret or "")).decode()}

    actor = unit.actor
    own = idempotency.fingerprint(digest, user=actor.user_id, key=actor.key_id, grant=actor.grant_id)
    done = await idempotency.once(unit, key, own, act)
    info.context.replayed = done.replayed
    return done.answer["id"], seal.open(base64.b64decode(done.answer["secret"]))
