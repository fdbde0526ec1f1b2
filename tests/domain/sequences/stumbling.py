"""Sending steps at a desk of the test's own."""

from dataclasses import replace
from datetime import timedelta

from app.domain.messages.acceptor import SendAcceptor
from app.domain.sequences.steps import Drip
from app.services import Services

HOUR = timedelta(hours=1)


def at(acceptor: type[SendAcceptor], services: Services, drip: Drip) -> Drip:
    return replace(drip, acceptor=acceptor(services.database.pool, services.clock, services.notify, 10))
