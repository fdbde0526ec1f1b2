"""Sends steps through another acceptor."""

from dataclasses import replace
from datetime import timedelta

from app.domain.messages.acceptor import SendAcceptor
from app.domain.sequences.steps import Drip
from app.services import Services

HOUR = timedelta(hours=1)


def with_acceptor(acceptor: type[SendAcceptor], services: Services, drip: Drip) -> Drip:
    """Return a sender of steps with another type of acceptor."""
    return replace(
        drip, acceptor=acceptor(services.database.pool, services.clock, services.notify, services.connections)
    )
