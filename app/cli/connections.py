"""Database work of the commands for connections to carriers and their numbers."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from typing import Any

from app.cli import setup
from app.cli.setup import NOBODY, NotYours, check_account, connect, operator_of
from app.cli.tables import Named
from app.domain.carriers import health_reports, queries, service
from app.domain.carriers.alerts import TEXTS
from app.domain.carriers.carrier import Accepted, Ambiguous, OutboundMessage
from app.domain.carriers.errors import CarrierConnectionRefused
from app.domain.carriers.health_reports import ConnectionHealth
from app.domain.carriers.kinds import CarrierKind
from app.domain.carriers.models import WORKER, AlertKind, CarrierConnection
from app.domain.carriers.service import CheckedConnection, NewConnection, Ports
from app.domain.kernel import phone, sms_parts
from app.domain.kernel.events import timestamp
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages import connections
from app.domain.messages.sql import NEXT_ID
from app.domain.numbers import queries as numbers
from app.domain.numbers import senders
from app.domain.numbers.senders import NewNumber
from app.providers.registry import KINDS
from app.services import Services
from app.settings import Settings

COLUMNS = ("key", "kind", "name", "account_id", "status", "parts_per_second", "created_at")
NUMBER_COLUMNS = ("id", "phone_number", "label", "carrier", "is_primary", "parts_per_second")
ELSEWHERE = (
    "Only the process that binds the connection sends through it, so --to cannot. Send a text from one of its numbers "
    "with POST /sms/send."
)
TEXT = "This is a test of the connection {key}."


class TextRefused(Exception):
    """The carrier refuses the text that tests a connection."""


@dataclass(frozen=True, slots=True)
class KnownKind:
    """A kind of connections, for the questions of a command."""

    kind: CarrierKind

    def missing_settings(self, given: Mapping[str, str]) -> list[str]:
        """Return the required settings that were not given."""
        fields = self.kind.settings.model_fields.items()
        return [name for name, field in fields if field.is_required() and name not in given]

    def missing_credentials(self, given: Mapping[str, str]) -> list[str]:
        """Return the required credentials that were not given."""
        fields = self.kind.credentials.model_fields.items()
        return [name for name, field in fields if field.is_required() and name not in given]

    def describe(self, name: str) -> str:
        """Return the text that asks for a value."""
        fields = {**self.kind.settings.model_fields, **self.kind.credentials.model_fields}
        return f"{name} ({fields[name].description or name})"


def get_kind(name: str) -> KnownKind:
    """Return a kind; raise `NotYours` for an unknown one."""
    if name not in KINDS:
        raise NotYours(f"There is no carrier {name!r}. Known carriers: {', '.join(sorted(KINDS))}.")
    return KnownKind(KINDS[name])


def list_kinds() -> list[dict[str, Any]]:
    """Return the kinds with their settings and credentials."""
    return [
        {
            "kind": kind.name,
            "carrier": kind.title,
            "settings": ", ".join(kind.settings.model_fields),
            "credentials": ", ".join(kind.credentials.model_fields),
            "for_accounts": kind.is_for_accounts,
        }
        for kind in KINDS.values()
    ]


async def add(settings: Settings, account_id: int | None, new: NewConnection) -> dict[str, Any]:
    """Add a connection of the installation, or of an account."""
    async with _open(settings, account_id) as (services, unit):
        return _checked(services, await service.add(unit, services.carriers, account_id, new))


async def list_all(settings: Settings) -> list[dict[str, Any]]:
    """Return all connections, with the kinds of their alerts."""
    async with _open(settings) as (_, unit):
        connections = await queries.list_all(unit)
        alerts = await health_reports.find_alerts(unit, [each.id for each in connections])
        kinds = {each.id: ", ".join(at.kind for at in alerts if at.connection_id == each.id) for each in connections}
        return [_shown(each) | {"alerts": kinds[each.id]} for each in connections]


async def show(settings: Settings, key: str) -> dict[str, Any]:
    """Return a connection with its settings, the addresses of its callbacks, and its health."""
    async with _open(settings) as (services, unit):
        connection = await queries.get_any(unit, key)
        health = (await health_reports.read(unit, [connection.id]))[connection.id]
        known = await services.connections.get(key)
        limit = {"parts_per_second_limit": known and known.parts_per_second}
        shown = {**_shown(connection), "settings": Named(connection.settings), **_addresses(services, connection)}
        return {**shown, **limit, **_health(health)}


async def change(
    settings: Settings, key: str, change: Callable[[UnitOfWork, Ports, CarrierConnection], Awaitable[CarrierConnection]]
) -> dict[str, Any]:
    """Pause or resume a connection."""
    async with _open_for(settings, key) as (services, unit, connection):
        return _shown(await change(unit, services.carriers, connection))


async def rotate(settings: Settings, key: str, credentials: Mapping[str, str], overlap_hours: int) -> dict[str, Any]:
    """Replace the credentials of a connection."""
    async with _open_for(settings, key) as (services, unit, connection):
        rotated = await service.rotate(unit, services.carriers, connection, credentials, overlap_hours)
        return _checked(services, rotated)


async def remove(settings: Settings, key: str) -> dict[str, Any]:
    """Remove a connection."""
    async with _open_for(settings, key) as (services, unit, connection):
        await connections.remove(unit, services.carriers, connection)
        return {"key": key, "removed": True}


async def check(settings: Settings, key: str, to: str, sender: str) -> dict[str, Any]:
    """Check a connection, and send a text through it if `to` is a phone."""
    async with _open_for(settings, key) as (services, unit, connection):
        if to and connection.role != WORKER:
            raise NotYours(ELSEWHERE)
        account = await service.check(unit, services.carriers, connection)
        facts: dict[str, Any] = {"key": key, "carrier_account": account.name, **account.facts}
        if to:
            facts["text"] = await _send_test(services, unit, connection, phone.require_recipient(to), sender)
        return facts


async def list_numbers(settings: Settings, key: str) -> list[dict[str, Any]]:
    """Return the numbers that the carrier lists for a connection, and the accounts that have them."""
    async with _open_for(settings, key) as (services, unit, connection):
        listed = await senders.list_at_carrier(unit, services.carriers, connection)
        found = [(each, await numbers.find_active(unit, each.number)) for each in listed]
        return [
            {"phone_number": each.number, "label": each.label, "account_id": known.account_id if known else None}
            for each, known in found
        ]


async def assign(settings: Settings, account_id: int, key: str, new: NewNumber) -> dict[str, Any]:
    """Give an account a number of a connection of the installation, or of its own."""
    async with _open(settings, account_id) as (services, unit):
        connection = await _get_usable(unit, account_id, key)
        added = await senders.add(unit, services.carriers, connection, new)
        return setup.show(added, NUMBER_COLUMNS)


async def move(settings: Settings, account_id: int, number_id: int, key: str, *, is_vouched: bool) -> dict[str, Any]:
    """Move a number of an account to another connection."""
    async with _open(settings, account_id) as (services, unit):
        connection, ports = await _get_usable(unit, account_id, key), services.carriers
        moved = await connections.move_number(unit, ports, number_id, connection, is_vouched=is_vouched)
        return setup.show(moved, NUMBER_COLUMNS)


async def _send_test(services: Services, unit: UnitOfWork, connection: CarrierConnection, to: str, sender: str) -> str:
    """Hand a text to the carrier, and return its answer in words."""
    sender = sender or await numbers.find_sender(unit, connection.key) or ""
    if not sender:
        raise NotYours("The connection has no number to send from. Name one with --from.")
    reference = await services.database.pool.fetchval(NEXT_ID)
    await unit.pause()
    body = TEXT.format(key=connection.key)
    opened = await services.connections.get(connection.key)
    if opened is None:
        raise CarrierConnectionRefused(reason="it was removed.")
    async with opened:
        message = OutboundMessage(reference, sender, to, body, sms_parts.count(body).segments)
        answer = await opened.carrier.send(message)
    services.health.note_answer(connection.key, answer, message.segments)
    match answer:
        case Accepted():
            return f"accepted as {answer.provider_message_id}"
        case Ambiguous():
            return f"unknown: {answer.reason}"
        case _:
            said = f"{answer.code} {answer.carrier_error}".strip()
            raise TextRefused(f"The carrier accepts the credentials, and refused the text: {said}.")


async def _get_usable(unit: UnitOfWork, account_id: int, key: str) -> CarrierConnection:
    connection = await queries.get_any(unit, key)
    if connection.account_id not in (None, account_id):
        raise NotYours(f"The connection {key} is another account's own.")
    return connection


@asynccontextmanager
async def _open(settings: Settings, account_id: int | None = None) -> AsyncGenerator[tuple[Services, UnitOfWork]]:
    """Open the services and a unit for the installation, or for an account."""
    actor = NOBODY if account_id is None else operator_of(account_id)
    async with connect(settings) as services, setup.open_for(services, actor) as unit:
        if account_id is not None:
            await check_account(unit)
        yield services, unit


@asynccontextmanager
async def _open_for(settings: Settings, key: str) -> AsyncGenerator[tuple[Services, UnitOfWork, CarrierConnection]]:
    """Open a unit for the owner of a connection."""
    async with connect(settings) as services, setup.open_for(services, NOBODY) as unit:
        connection = await queries.get_any(unit, key)
        if connection.account_id is not None:
            unit.actor = operator_of(connection.account_id)
        yield services, unit, connection


def _health(health: ConnectionHealth) -> dict[str, Any]:
    failure, last_hour = health.last_failure, health.last_hour
    return {
        "alerts": [
            {"alert": each.kind, "since": timestamp(each.since), "text": TEXTS[AlertKind(each.kind)]}
            for each in health.alerts
        ],
        "last_success_at": health.last_success_at and timestamp(health.last_success_at),
        "last_failure": failure and {**asdict(failure), "at": timestamp(failure.at)},
        "parts_per_second_now": round(health.parts_per_second, 3),
        "parts_per_second_peak": round(health.peak_parts_per_second, 3),
        "skew_seconds": health.skew_seconds,
        "last_hour": [asdict(each) for each in last_hour],
    }


def _shown(connection: CarrierConnection) -> dict[str, Any]:
    return setup.show(connection, COLUMNS)


def _addresses(services: Services, connection: CarrierConnection) -> dict[str, str]:
    """Return the addresses of callbacks; none of a connection that has a session instead."""
    if connection.role != WORKER:
        return {}
    url = f"{services.settings.public_url}/carriers/{connection.key}"
    return {"status_url": f"{url}/status", "inbound_url": f"{url}/inbound"}


def _checked(services: Services, checked: CheckedConnection) -> dict[str, Any]:
    account, addresses = checked.account, _addresses(services, checked.connection)
    return {**_shown(checked.connection), "carrier_account": account.name, **account.facts, **addresses}
