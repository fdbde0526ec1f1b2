"""The sources of messages, as their acceptance records them in `actor` and `purpose`."""

import enum

from app.domain.messages.models import Direction, Message, Purpose
from app.domain.messages.requests import AGENT


class Source(enum.StrEnum):
    """The part of the product through which a message came about."""

    user = enum.auto()
    api = enum.auto()
    application = enum.auto()
    campaign = enum.auto()
    sequence = enum.auto()
    automation = enum.auto()
    agent = enum.auto()
    keyword = enum.auto()
    integration = enum.auto()
    service = enum.auto()
    contact = enum.auto()


SOURCES = {
    "user": Source.user,
    "key": Source.api,
    "grant": Source.application,
    "campaign": Source.campaign,
    "sequence": Source.sequence,
    "automation": Source.automation,
    AGENT.removesuffix(":"): Source.agent,
    "keywords": Source.keyword,
    "integration": Source.integration,
}
"""The source by the word that the label of an actor begins with; that of other labels is the service."""


def source_of(message: Message) -> Source:
    """Return the source of a message: the contact for an inbound one, a keyword for a reply to STOP, START or HELP."""
    if message.direction == Direction.inbound:
        return Source.contact
    if message.purpose == Purpose.compliance:
        return Source.keyword
    return SOURCES.get(message.actor.partition(":")[0], Source.service)


def find_id(message: Message, source: Source) -> int | None:
    """Return the id of the campaign, sequence or other record that is the source of a message; None for others."""
    if source_of(message) is not source:
        return None
    name = message.actor.partition(":")[2]
    return int(name) if name else None
