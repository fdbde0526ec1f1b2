"""Find records of all areas by a part of a name or of a phone, each kind only for an actor with its scope."""

import enum
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from app.domain.accounts.scopes import Scope
from app.domain.agents import queries as agents
from app.domain.automations import queries as automations
from app.domain.campaigns import queries as campaigns
from app.domain.contacts import queries as contacts
from app.domain.contacts.models import Contact
from app.domain.conversations import queries as conversations
from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.numbers import queries as numbers
from app.domain.segments import queries as segments
from app.domain.sequences import queries as sequences
from app.domain.templates import queries as templates

MOST, MAX_TEXT = 5, 200
"""The number of records of each kind, and the characters of a search."""


class FoundKind(enum.StrEnum):
    """A kind of record, in the order of the results."""

    contact = enum.auto()
    conversation = enum.auto()
    campaign = enum.auto()
    sequence = enum.auto()
    segment = enum.auto()
    template = enum.auto()
    automation = enum.auto()
    agent = enum.auto()
    number = enum.auto()


@dataclass(frozen=True, slots=True)
class Found:
    """A record with its name and a distinctive detail, such as its status."""

    kind: FoundKind
    id: int
    name: str
    detail: str


async def find(unit: UnitOfWork, text: str) -> Sequence[Found]:
    """Return up to `MOST` records of each kind that the actor may read; raise `InvalidInput`.

    Contacts and conversations are searched only where an index serves the text.
    """
    wanted = text.strip()
    if not 1 <= len(wanted) <= MAX_TEXT:
        raise InvalidInput(reason=f"text must have 1 to {MAX_TEXT} characters.", field="text")
    results = list[Found]()
    for scope, search in SEARCHES:
        if scope in unit.actor.scopes:
            results += await search(unit, wanted)
    return sorted(results, key=lambda found: list(FoundKind).index(found.kind))


async def _people(unit: UnitOfWork, text: str) -> Sequence[Found]:
    if not contacts.is_indexed(text):
        return []
    found = await contacts.find_first(unit, text, MOST)
    results = [Found(FoundKind.contact, each.id, _name(each), each.phone) for each in found]
    if found and Scope.conversations_read in unit.actor.scopes:
        threads = await conversations.FindByContacts()(unit, [each.id for each in found])
        results += [
            Found(FoundKind.conversation, threads[each.id].id, _name(each), threads[each.id].status)
            for each in found
            if each.id in threads
        ]
    return results


def _name(contact: Contact) -> str:
    return f"{contact.first_name} {contact.last_name}".strip() or contact.phone


async def _campaigns(unit: UnitOfWork, text: str) -> Sequence[Found]:
    results = [
        Found(FoundKind.campaign, each.id, each.name, each.status)
        for each in await campaigns.find_named(unit, text, MOST)
    ]
    results += [
        Found(FoundKind.sequence, each.id, each.name, each.status)
        for each in await sequences.find_named(unit, text, MOST)
    ]
    results += [
        Found(FoundKind.segment, each.id, each.name, "") for each in await segments.find_named(unit, text, MOST)
    ]
    return results + [
        Found(FoundKind.template, each.id, each.name, "") for each in await templates.find_named(unit, text, MOST)
    ]


async def _automations(unit: UnitOfWork, text: str) -> Sequence[Found]:
    found = await automations.find_named(unit, text, MOST)
    return [Found(FoundKind.automation, each.id, each.name, each.status) for each in found]


async def _agents(unit: UnitOfWork, text: str) -> Sequence[Found]:
    found = await agents.find_named(unit, text, MOST)
    return [Found(FoundKind.agent, each.id, each.name, each.status) for each in found]


async def _numbers(unit: UnitOfWork, text: str) -> Sequence[Found]:
    wanted = contacts.digits_of(text)
    found = [
        each
        for each in await numbers.list_active(unit)
        if text.lower() in each.label.lower() or (wanted and wanted in each.phone_number)
    ]
    return [
        Found(FoundKind.number, each.id, each.label or each.phone_number, each.phone_number) for each in found[:MOST]
    ]


SEARCHES: tuple[tuple[Scope, Callable[[UnitOfWork, str], Awaitable[Sequence[Found]]]], ...] = (
    (Scope.contacts_read, _people),
    (Scope.campaigns_read, _campaigns),
    (Scope.account_read, _automations),
    (Scope.agents_read, _agents),
    (Scope.numbers_read, _numbers),
)
"""The searches, each with the scope that its lists need."""
