"""Add, check, rotate, pause and resume connections to carriers.

`owner` is the account of a connection; None stands for the operator, whose connections are the whole installation's.
Removing one is up to the area of messages, which knows the texts that are to leave through it.
"""

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson
from pydantic import BaseModel, SecretStr, ValidationError
from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert

from app.domain.accounts import audit
from app.domain.accounts import queries as accounts
from app.domain.accounts.audit import AuditAction
from app.domain.carriers import queries
from app.domain.carriers.carrier import CarrierAccount
from app.domain.carriers.connections import OpenConnections
from app.domain.carriers.errors import refusals
from app.domain.carriers.kinds import OPERATOR_ONLY, CarrierKind, Configuration
from app.domain.carriers.models import REVISIONS, CarrierConnection, ConnectionStatus
from app.domain.kernel import overlap
from app.domain.kernel.errors import Conflict, InvalidInput
from app.domain.kernel.unit_of_work import UnitOfWork

KEY = re.compile(r"[a-z][a-z0-9-]{0,39}")
MAX_NAME = 100
MAX_OWN = 20
"""The most connections of one account."""

SLOWEST, FASTEST = 0.01, 100_000.0


@dataclass(frozen=True, slots=True)
class Ports:
    """The kinds of connections, and the open connections of this process."""

    kinds: Mapping[str, CarrierKind]
    connections: OpenConnections


@dataclass(frozen=True, slots=True)
class NewConnection:
    """A connection to add. The operator chooses the `key`; one of an account's own is made."""

    kind: str
    name: str
    settings: Mapping[str, Any]
    credentials: Mapping[str, Any] = field(repr=False)
    key: str | None = None
    parts_per_second: float | None = None


@dataclass(frozen=True, slots=True)
class CheckedConnection:
    """A connection, and the account at the carrier that its credentials belong to."""

    connection: CarrierConnection
    account: CarrierAccount


async def add(unit: UnitOfWork, ports: Ports, owner: int | None, new: NewConnection) -> CheckedConnection:
    """Store a connection after the carrier has accepted its credentials.

    Raises `InvalidInput`, `Conflict` for a key in use or too many connections, `CarrierConnectionRefused` and
    `CarrierUnreachable`.
    """
    kind = _find_kind(ports, owner, new.kind)
    key = _check_key(new.key) if owner is None else f"{kind.name}-{secrets.token_hex(8)}"
    settings = _validate(kind.settings, new.settings, "settings", owner)
    credentials = _validate(kind.credentials, new.credentials, "credentials", owner)
    name, pace = _check_name(new.name or kind.title), _check_pace(new.parts_per_second)
    await _check_room(unit, owner, key)
    account = await _ask(unit, ports, Configuration(key, kind.name, settings, credentials, proposed=True))
    values: dict[str, Any] = {
        "key": key,
        "kind": kind.name,
        "account_id": owner,
        "name": name,
        "settings": settings,
        "credentials": _seal(ports, credentials),
        "parts_per_second": pace,
        "role": kind.role,
    }
    await _check_room(unit, owner, key)
    connection = await _insert(unit, values)
    await _record(unit, AuditAction.carrier_connection_added, connection)
    ports.connections.expire()
    return CheckedConnection(connection, account)


async def check(unit: UnitOfWork, ports: Ports, connection: CarrierConnection) -> CarrierAccount:
    """Ask the carrier whether it accepts a connection; raise `CarrierConnectionRefused` or `CarrierUnreachable`."""
    sealed = connection.credentials
    opened: dict[str, Any] = orjson.loads(ports.connections.seal.open(sealed)) if sealed else {}
    return await _ask(unit, ports, Configuration(connection.key, connection.kind, connection.settings, opened))


async def rotate(
    unit: UnitOfWork, ports: Ports, connection: CarrierConnection, credentials: Mapping[str, Any], overlap_hours: int
) -> CheckedConnection:
    """Replace the credentials after the carrier has accepted the new ones.

    Callbacks signed with the former ones are accepted for `overlap_hours`; calls in flight end with them. Raises as
    `add` does.
    """
    until = overlap.end(unit.clock.now(), overlap_hours)
    kind = _find_kind(ports, connection.account_id, connection.kind)
    new = _validate(kind.credentials, credentials, "credentials", connection.account_id)
    proposed = Configuration(connection.key, kind.name, connection.settings, new, proposed=True)
    account = await _ask(unit, ports, proposed)
    connection = await queries.lock(unit, connection.id)
    connection.previous_credentials, connection.credentials = connection.credentials, _seal(ports, new)
    connection.previous_until = until
    await _save(unit, ports, connection, AuditAction.carrier_connection_rotated)
    return CheckedConnection(connection, account)


async def pause(unit: UnitOfWork, ports: Ports, connection: CarrierConnection) -> CarrierConnection:
    """Have the texts of a connection wait. Its callbacks are processed as before. Idempotent."""
    return await _set_status(unit, ports, connection, ConnectionStatus.paused)


async def resume(unit: UnitOfWork, ports: Ports, connection: CarrierConnection) -> CarrierConnection:
    """Let the texts of a paused connection leave. Idempotent."""
    unit.notify("messages")
    return await _set_status(unit, ports, connection, ConnectionStatus.active)


async def remove(unit: UnitOfWork, ports: Ports, connection: CarrierConnection) -> None:
    """Delete a connection that nothing needs any more; `messages.connections.remove` finds that out first."""
    await _record(unit, AuditAction.carrier_connection_removed, connection)
    await unit.delete(connection)
    ports.connections.expire()


async def _set_status(
    unit: UnitOfWork, ports: Ports, connection: CarrierConnection, status: ConnectionStatus
) -> CarrierConnection:
    connection = await queries.lock(unit, connection.id)
    if connection.status != status:
        connection.status = status
        paused = status is ConnectionStatus.paused
        action = AuditAction.carrier_connection_paused if paused else AuditAction.carrier_connection_resumed
        await _save(unit, ports, connection, action)
    return connection


async def _save(unit: UnitOfWork, ports: Ports, connection: CarrierConnection, action: AuditAction) -> None:
    """Save a change with a new revision, by which processes find it."""
    [connection.revision] = await unit.all(select(func.nextval(REVISIONS.name)))
    await unit.save(connection)
    await _record(unit, action, connection)
    ports.connections.expire()


async def _record(unit: UnitOfWork, action: AuditAction, connection: CarrierConnection) -> None:
    if connection.account_id is not None:
        await audit.record(unit, action, connection.name, key=connection.key, kind=connection.kind)


async def _ask(unit: UnitOfWork, ports: Ports, configuration: Configuration) -> CarrierAccount:
    """Ask the carrier with no transaction open."""
    await unit.pause()
    carrier = ports.connections.open(configuration)
    try:
        with refusals():
            return await carrier.check()
    finally:
        await carrier.close()


async def _insert(unit: UnitOfWork, values: Mapping[str, Any]) -> CarrierConnection:
    """Insert a connection; raise `Conflict` where another caller has added one with its key meanwhile."""
    insertion = insert(CarrierConnection).values(**values).on_conflict_do_nothing(index_elements=["key"])
    if (await unit.execute(insertion.returning(CarrierConnection.id))).scalar_one_or_none() is None:
        raise _key_in_use(values["key"])
    return await queries.get_any(unit, values["key"])


def _key_in_use(key: str) -> Conflict:
    return Conflict(reason=f"There is a connection with the key {key}. Choose another.", field="key")


async def _check_room(unit: UnitOfWork, owner: int | None, key: str) -> None:
    """Raise `Conflict` for a key in use, or for an account with `MAX_OWN` connections."""
    if await queries.find_by_key(unit, key) is not None:
        raise _key_in_use(key)
    if owner is not None:
        await accounts.get_own(unit)
        if len(await queries.list_own(unit)) >= MAX_OWN:
            raise Conflict(reason=f"An account has at most {MAX_OWN} connections. Remove one first.")


def _find_kind(ports: Ports, owner: int | None, name: str) -> CarrierKind:
    known = {each.name: each for each in ports.kinds.values() if owner is None or each.is_for_accounts}
    if name not in known:
        listed = ", ".join(sorted(known)) or "none is available"
        raise InvalidInput(reason=f"kind must be one of: {listed}.", field="kind")
    return known[name]


def _check_key(key: str | None) -> str:
    if key is None or not KEY.fullmatch(key):
        reason = "key must be 1 to 40 small letters, digits and hyphens, and begin with a letter."
        raise InvalidInput(reason=reason, field="key")
    return key


def _check_name(name: str) -> str:
    name = name.strip()
    if not 1 <= len(name) <= MAX_NAME or not name.isprintable():
        raise InvalidInput(reason=f"name must be 1 to {MAX_NAME} printable characters.", field="name")
    return name


def _check_pace(parts_per_second: float | None) -> float | None:
    if parts_per_second is not None and not SLOWEST <= parts_per_second <= FASTEST:
        reason = f"parts_per_second must be from {SLOWEST:g} to {FASTEST:g}."
        raise InvalidInput(reason=reason, field="parts_per_second")
    return parts_per_second


def _validate(model: type[BaseModel], values: Mapping[str, Any], place: str, owner: int | None) -> dict[str, Any]:
    """Return the values in the form of JSON; raise `InvalidInput`, which repeats no value."""
    for name in values:
        known = model.model_fields.get(name)
        if owner is not None and known and known.json_schema_extra == OPERATOR_ONLY:
            raise InvalidInput(reason=f"{place}: {name} can only be set by the operator.", field=place)
    try:
        valid = model.model_validate(dict(values))
    except ValidationError as refused:
        fault = refused.errors(include_input=False, include_url=False, include_context=False)[0]
        name = ".".join(str(part) for part in fault["loc"]) or place
        reason = fault["msg"].removeprefix("Value error, ")
        raise InvalidInput(reason=f"{place}: {name}: {reason}.", field=place) from None
    return {name: _plain(value) for name, value in valid if name in valid.model_fields_set}


def _plain(value: object) -> Any:
    return value.get_secret_value() if isinstance(value, SecretStr) else orjson.loads(orjson.dumps(value, default=str))


def _seal(ports: Ports, credentials: Mapping[str, Any]) -> bytes | None:
    return ports.connections.seal.close(orjson.dumps(credentials).decode()) if credentials else None
