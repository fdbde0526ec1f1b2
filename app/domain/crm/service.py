"""Connect accounts to CRMs: begin and finish an authorization, synchronize anew, repeat pushes."""

import base64
import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

import orjson
from cryptography.exceptions import InvalidTag
from sqlalchemy import ColumnElement, select
from sqlalchemy.exc import IntegrityError

from app.domain.accounts import scopes
from app.domain.accounts.scopes import Scope
from app.domain.crm import queries
from app.domain.crm.connector import CrmAway, CrmConnector, CrmRefused, CrmUnauthorized, Tokens
from app.domain.crm.errors import CrmAuthorizationRefused
from app.domain.crm.models import CrmConnection, CrmPush, CrmPushStatus, CrmState, CrmSync
from app.domain.integrations import endings
from app.domain.integrations import queries as integrations
from app.domain.integrations import service as integration_service
from app.domain.integrations.models import Integration
from app.domain.integrations.service import Ports as IntegrationPorts
from app.domain.kernel.errors import Conflict, InvalidInput, Unavailable
from app.domain.kernel.sealing import Seal
from app.domain.kernel.unit_of_work import UnitOfWork

TOPIC = "crm"
VALID = timedelta(minutes=10)
"""The time in which an authorization must be finished."""

SYNCHRONIZING = (Scope.contacts_read, Scope.contacts_write, Scope.messages_read, Scope.messages_send)
"""The scopes of the actor that connects a CRM, which gets contacts and texts, changes contacts, and sends texts."""


@dataclass(frozen=True, slots=True)
class Ports:
    """The CRMs by their names, the seal of their tokens, and the address to which they lead people back."""

    connectors: Mapping[str, CrmConnector]
    seal: Seal
    redirect_url: str
    integrations: IntegrationPorts


@dataclass(frozen=True, slots=True)
class State:
    """An authorization that has begun, as it is sealed in the parameter `state`."""

    account_id: int
    kind: str
    verifier: str
    until: float


def begin(unit: UnitOfWork, ports: Ports, kind: str) -> str:
    """Return the address at which a person authorizes the service to use a CRM.

    Raises `InvalidInput` for an unknown kind, and `InsufficientScope` for an actor that may not do the work of the CRM.
    """
    scopes.require(unit.actor, SYNCHRONIZING)
    connector = ports.connectors.get(kind)
    if connector is None:
        known = ", ".join(sorted(ports.connectors)) or "none; the operator has set up no CRM"
        raise InvalidInput(reason=f"kind must be one of: {known}.", field="kind")
    verifier = secrets.token_urlsafe(48)
    until = (unit.clock.now() + VALID).timestamp()
    state = seal_state(ports.seal, State(unit.actor.account_id, kind, verifier, until))
    digest = hashlib.sha256(verifier.encode()).digest()
    challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
    return connector.authorize_url(state, challenge, ports.redirect_url)


async def finish(unit: UnitOfWork, ports: Ports, state: str, code: str) -> Integration:
    """Exchange the code of an authorization for tokens, and connect the CRM; return the integration.

    A connection of the account that exists already gets the new tokens, and its integration the actor as its creator.
    Raises `CrmAuthorizationRefused`, `Conflict` for a CRM that another account has connected, and `Unavailable`.
    """
    scopes.require(unit.actor, SYNCHRONIZING)
    begun = _open(unit, ports, state)
    await unit.pause()
    try:
        tokens = await ports.connectors[begun.kind].exchange(code.strip(), begun.verifier, ports.redirect_url)
    except CrmAway:
        raise Unavailable() from None
    except (CrmRefused, CrmUnauthorized) as refusal:
        raise CrmAuthorizationRefused(reason=str(refusal) or "It refused the code.") from None
    unit.notify(TOPIC)
    return await _store(unit, ports, begun.kind, tokens)


async def synchronize(unit: UnitOfWork, integration_id: int) -> CrmConnection:
    """Fetch all contacts of a CRM again, and offer it those of the account. Raises `NotFound` and `Conflict`."""
    connection = await queries.get(unit, integration_id, lock=True)
    if connection.sync != CrmSync.done:
        raise Conflict(reason="The synchronization is still running.")
    connection.sync, connection.cursor, connection.fetched, connection.offered = CrmSync.fetching, "", 0, 0
    connection.fetched_until, connection.total = None, None
    await unit.save(connection)
    unit.notify(TOPIC)
    return connection


async def replay(unit: UnitOfWork, id: int) -> CrmPush:
    """Try a failed push once more; raise `NotFound`, and `Conflict` for one that has not failed."""
    push = await queries.lock_push(unit, id)
    if push.status != CrmPushStatus.failed:
        raise Conflict(reason=f"The push is {push.status}. Only failed ones can be tried again.")
    push.status, push.reason, push.attempts = CrmPushStatus.waiting, "", 0
    push.due_at, push.done_at = unit.clock.now(), None
    try:
        await unit.save(push)
    except IntegrityError:
        raise Conflict(reason="A newer push of this contact waits already.") from None
    unit.notify(TOPIC)
    return push


def pack(seal: Seal, tokens: Tokens) -> bytes:
    """Return sealed tokens."""
    return seal.close(orjson.dumps(tokens).decode())


def unpack(seal: Seal, sealed: bytes) -> Tokens:
    """Return tokens that were sealed."""
    return Tokens(**orjson.loads(seal.open(sealed)))


def expiry(now: datetime, tokens: Tokens) -> datetime:
    """Return the time at which an access token ends."""
    return now + timedelta(seconds=tokens.seconds)


def address_of(location: str) -> str:
    """Return the address of the integration with a CRM's account."""
    return f"location:{location}"


def seal_state(seal: Seal, state: State) -> str:
    """Return the parameter `state` of an authorization."""
    return base64.urlsafe_b64encode(seal.close(orjson.dumps(state).decode())).decode()


def _open(unit: UnitOfWork, ports: Ports, state: str) -> State:
    try:
        begun = State(**orjson.loads(ports.seal.open(base64.urlsafe_b64decode(state))))
    except (InvalidTag, ValueError, TypeError):
        raise CrmAuthorizationRefused(reason="The parameter state was not issued by this service.") from None
    if begun.account_id != unit.actor.account_id or begun.kind not in ports.connectors:
        raise CrmAuthorizationRefused(reason="Another account began the authorization.")
    if unit.clock.now().timestamp() > begun.until:
        raise CrmAuthorizationRefused(reason="The authorization was begun more than 10 minutes ago.")
    return begun


async def _store(unit: UnitOfWork, ports: Ports, kind: str, tokens: Tokens) -> Integration:
    """Store the tokens. The integration is locked before its connection, as removals and the workers do."""
    integration = await integrations.lock_at(unit, kind, address_of(tokens.location))
    await _keep_authorized(unit, CrmConnection.kind == kind, CrmConnection.location == tokens.location)
    if integration is None:
        return await _add(unit, ports, kind, tokens)
    connection, now = await queries.get(unit, integration.id, lock=True), unit.clock.now()
    connection.tokens, connection.expires_at = pack(ports.seal, tokens), expiry(now, tokens)
    connection.state, connection.error = CrmState.authorized, ""
    connection.leased_until = connection.resting_until = None
    connection.lease += 1  # a turn with the former tokens is over
    await endings.bind(unit, integration)
    await unit.save(connection, integration)
    return integration


async def _keep_authorized(unit: UnitOfWork, *same: ColumnElement[bool]) -> None:
    """Leave the revocation of a removed connection, of any account: it would end the new authorization as well.

    Raises `Conflict` while a worker revokes it.
    """
    removed = CrmConnection.integration_id.is_(None), *same
    for former in await unit.all(select(CrmConnection).where(*removed).with_for_update()):
        if former.leased_until and former.leased_until > unit.clock.now():
            raise Conflict(reason="The former connection is just being ended. Connect again in a minute.")
        await unit.delete(former)


async def _add(unit: UnitOfWork, ports: Ports, kind: str, tokens: Tokens) -> Integration:
    values = {"name": ports.connectors[kind].title}
    address, now = address_of(tokens.location), unit.clock.now()
    try:
        integration = await integration_service.insert(
            unit, ports.integrations, kind, secrets.token_urlsafe(16), values, address
        )
    except IntegrityError:
        raise Conflict(reason="Another account has connected this account of the CRM.") from None
    connection = CrmConnection(
        account_id=unit.actor.account_id,
        integration_id=integration.id,
        kind=kind,
        location=tokens.location,
        tokens=pack(ports.seal, tokens),
        expires_at=expiry(now, tokens),
        fetch_at=now,
    )
    await unit.save(connection)
    return integration
