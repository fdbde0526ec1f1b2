"""Sending steps at a desk of the test's own."""

from dataclasses import replace
from datetime import timedelta

from app.domain.messages.desk import Desk
from app.domain.sequences.steps import Drip
from app.services import Services

HOUR = timedelta(hours=1)


def at(desk: type[Desk], services: Services, drip: Drip) -> Drip:
    return replace(drip, desk=desk(services.database.pool, services.clock, services.ring, 10))
