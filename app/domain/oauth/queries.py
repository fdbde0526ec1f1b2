"""Queries for clients and grants."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Select, and_, select

from app.db.engine import Database
from app.domain.accounts.credentials import lives, when_ended
from app.domain.accounts.models import Account, AccountStatus, User
from app.domain.accounts.roles import scopes_of
from app.domain.accounts.scopes import complete
from app.domain.grants.models import Client, Grant
from app.domain.kernel.errors import NotFound
from app.domain.kernel.unit_of_work import UnitOfWork

MAX_GRANTS = 500
MAX_SHOWN = 500
"""Maximum lengths of lists of grants and of clients; `clients.MAX_CLIENTS` live clients are fewer."""


@dataclass(frozen=True, slots=True)
class LiveGrant:
    """A valid grant, with its scopes limited to the present role of its user."""

    id: int
    account_id: int
    user_id: int
    client_key: int
    client_id: str
    scopes: frozenset[str]
    resource: str
    expires_at: datetime
    is_suspended: bool


@dataclass(frozen=True, slots=True)
class ShownClient:
    """A client for display; `revoked_at` includes the end of its creator."""

    id: int
    client_id: str
    name: str
    redirect_uris: list[str]
    scopes: list[str]
    created_by: str
    created_at: datetime
    last_used_at: datetime | None
    revoked_at: datetime | None
    confidential: bool


@dataclass(frozen=True, slots=True)
class ConnectedApplication:
    """A grant, with the name of the application."""

    id: int
    client_id: str
    client_name: str
    client_uri: str
    user_id: int
    scopes: list[str]
    resource: str
    created_at: datetime
    last_used_at: datetime | None
    expires_at: datetime
    revoked_at: datetime | None


async def find_client(unit: UnitOfWork, client_id: str) -> Client | None:
    """Return the client with an id, unless it or its creator has ended; `consent.check_account` checks its account."""
    known = (Client.client_id == client_id, Client.revoked_at.is_(None), lives(Client.creator_id, unit.clock.now()))
    return await unit.one(select(Client).where(*known))


async def has_live_secret(unit: UnitOfWork, client: Client) -> bool:
    """Return whether the credential that created or rotated a client's secret has not ended."""
    if client.secret_creator_id is None:
        return True
    same = (Client.id == client.id, lives(Client.secret_creator_id, unit.clock.now()))
    return await unit.one(select(Client.id).where(*same)) is not None


async def list_clients(unit: UnitOfWork) -> list[ShownClient]:
    """Return at most `MAX_SHOWN` clients of the account: valid ones first, then the newest first."""
    own = select(Client).where(Client.account_id == unit.actor.account_id)
    is_live = and_(Client.revoked_at.is_(None), lives(Client.creator_id, unit.clock.now()))
    return await _show(unit, await unit.all(own.order_by(is_live.desc(), Client.id.desc()).limit(MAX_SHOWN)))


async def show_client(unit: UnitOfWork, client: Client) -> ShownClient:
    """Return a client for display."""
    return (await _show(unit, [client]))[0]


async def get_client(unit: UnitOfWork, id: int) -> Client:
    """Return one of the account's clients; raise `NotFound`."""
    client = await unit.one(select(Client).where(Client.account_id == unit.actor.account_id, Client.id == id))
    if client is None:
        raise NotFound(kind="OAuth client", id=id)
    return client


async def list_applications(unit: UnitOfWork, user_id: int | None = None) -> list[ConnectedApplication]:
    """Return up to 500 connected applications of the account's users, or of one of them, newest first.

    Grants whose code was never exchanged, and those of removed users, are left out.
    """
    statement = _applications(unit).where(
        Grant.revoked_at.is_(None), Grant.last_used_at.is_not(None), Grant.expires_at > unit.clock.now()
    )
    statement = statement.where(User.removed_at.is_(None), Client.revoked_at.is_(None))
    statement = statement.where(lives(Client.creator_id, unit.clock.now()))
    if user_id is not None:
        statement = statement.where(Grant.user_id == user_id)
    rows = await unit.rows(statement.order_by(Grant.id.desc()).limit(MAX_GRANTS))
    return [_application(*row) for row in rows]


async def find_applications(unit: UnitOfWork, grant_ids: Sequence[int]) -> dict[int, ConnectedApplication]:
    """Return connected applications by the ids of their grants, disconnected ones too."""
    rows = await unit.rows(_applications(unit).where(Grant.id.in_(grant_ids)))
    return {application.id: application for application in (_application(*row) for row in rows)}


async def get_application(unit: UnitOfWork, grant: Grant) -> ConnectedApplication:
    """Return a grant with the name of its application."""
    rows = await unit.rows(_applications(unit).where(Grant.id == grant.id))
    return _application(*rows[0])


async def get_grant(unit: UnitOfWork, id: int, user_id: int | None = None) -> Grant:
    """Return a grant of the account, or of one of its users, revoked or not; raise `NotFound`."""
    own = [Grant.account_id == unit.actor.account_id, Grant.id == id]
    if user_id is not None:
        own.append(Grant.user_id == user_id)
    grant = await unit.one(select(Grant).where(*own))
    if grant is None:
        raise NotFound(kind="connected application", id=id)
    return grant


async def find_live_grants(database: Database, ids: Sequence[int], now: datetime) -> dict[int, LiveGrant]:
    """Return the valid ones of some grants by their ids, for authentication."""
    async with database.sessions() as session:
        return read_live((await session.execute(live_grants(ids, now))).all())


async def find_live(unit: UnitOfWork, id: int) -> LiveGrant | None:
    """Return a valid grant of any account; its code or token authorizes the caller."""
    return read_live(await unit.rows(live_grants([id], unit.clock.now()))).get(id)


def live_grants(ids: Sequence[int], now: datetime) -> Select[Grant, str, str, str]:
    """Select grants, without those that, or whose client, its creator, user or account, have ended."""
    return (
        select(Grant, User.role, Client.client_id, Account.status)
        .join(User, User.id == Grant.user_id)
        .join(Client, Client.id == Grant.client_id)
        .join(Account, Account.id == Grant.account_id)
        .where(Grant.id.in_(ids), Grant.revoked_at.is_(None), Grant.expires_at > now)
        .where(User.removed_at.is_(None), Client.revoked_at.is_(None), lives(Client.creator_id, now))
        .where(Account.status != AccountStatus.deleted)
    )


def read_live(rows: Sequence[tuple[Grant, str, str, str]]) -> dict[int, LiveGrant]:
    """Return the grants from the rows of `live_grants` by their ids."""
    return {
        grant.id: LiveGrant(
            grant.id,
            grant.account_id,
            grant.user_id,
            grant.client_id,
            client_id,
            complete(grant.scopes) & scopes_of(role),
            grant.resource,
            grant.expires_at,
            status == AccountStatus.suspended,
        )
        for grant, role, client_id, status in rows
    }


async def _show(unit: UnitOfWork, clients: Sequence[Client]) -> list[ShownClient]:
    ended = await when_ended(unit, [client.creator_id for client in clients if client.creator_id])
    return [_shown(client, ended.get(client.creator_id or 0)) for client in clients]


def _shown(client: Client, ended_at: datetime | None) -> ShownClient:
    return ShownClient(
        id=client.id,
        client_id=client.client_id,
        name=client.name,
        redirect_uris=client.redirect_uris,
        scopes=client.scopes,
        created_by=client.created_by,
        created_at=client.created_at,
        last_used_at=client.last_used_at,
        revoked_at=min((at for at in (client.revoked_at, ended_at) if at), default=None),
        confidential=client.secret_hash is not None,
    )


def _applications(unit: UnitOfWork) -> Select[Grant, Client]:
    return (
        select(Grant, Client)
        .join(Client, Client.id == Grant.client_id)
        .join(User, User.id == Grant.user_id)
        .where(Grant.account_id == unit.actor.account_id)
    )


def _application(grant: Grant, client: Client) -> ConnectedApplication:
    return ConnectedApplication(
        id=grant.id,
        client_id=client.client_id,
        client_name=client.name,
        client_uri=client.client_uri,
        user_id=grant.user_id,
        scopes=sorted(complete(grant.scopes)),
        resource=grant.resource,
        created_at=grant.created_at,
        last_used_at=grant.last_used_at,
        expires_at=grant.expires_at,
        revoked_at=grant.revoked_at,
    )
