"""Units of work of the authorization server."""

from contextlib import AbstractAsyncContextManager

from app.domain.kernel.unit_of_work import Actor, UnitOfWork, open_unit
from app.services import Services


def open_unit_of(services: Services, actor: Actor) -> AbstractAsyncContextManager[UnitOfWork]:
    """Open a unit of work for an actor; an anonymous one until a code or token identifies the actor."""
    return open_unit(services.database.sessions, actor, services.clock, services.notify)
