"""Create, register and revoke OAuth clients."""

import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import or_, select, update
from sqlalchemy.dialects.postgresql import insert

from app.domain.accounts import audit
from app.domain.accounts import queries as accounts
from app.domain.accounts.audit import AuditAction
from app.domain.accounts.credentials import record_creator, replace_creator
from app.domain.accounts.scopes import ALL, GENERAL
from app.domain.accounts.tokens import Tokens
from app.domain.grants.models import Client, ClientKind
from app.domain.kernel import plain_names
from app.domain.kernel.errors import Conflict, InvalidInput, NotFound, shorten
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.oauth import documents, grants, queries, redirects
from app.domain.oauth.documents import Description
from app.domain.oauth.resources import join

MAX_CLIENTS = 100
REVOKED = "The client is revoked, or has ended with the key or the user that created it. Take it over first."
AUTH_METHODS = ("client_secret_post", "client_secret_basic", "none")
GRANT_TYPES = frozenset({"authorization_code", "refresh_token"})


class InvalidClientMetadata(InvalidInput):
    """The metadata of a client registration is not supported; the message names the part."""

    code = "invalid_client_metadata"
    status = 400


@dataclass(frozen=True, slots=True)
class NewClient:
    """A client to create: its name, redirect URIs, maximum scopes, and whether it has a secret."""

    name: str
    redirect_uris: Sequence[str]
    scopes: Sequence[str] | None = None
    confidential: bool = True


Made = tuple[Client, str | None]
"""A client and its secret, which is shown only once; a public client has none."""


async def create(unit: UnitOfWork, tokens: Tokens, new: NewClient) -> Made:
    """Create a client of the account, for its own users. It ends with its creator (`credentials`)."""
    if len([each for each in await queries.list_clients(unit) if each.revoked_at is None]) >= MAX_CLIENTS:
        raise Conflict(reason=f"An account has at most {MAX_CLIENTS} OAuth clients. Revoke one first.")
    row = _managed(new, unit.actor.account_id, unit.actor.label)
    row.creator_id, row.secret_creator_id = await record_creator(unit), await record_creator(unit)
    client, secret = await _store(unit, tokens, row)
    await audit.record(unit, AuditAction.oauth_client_created, client.name, client_id=client.client_id)
    return client, secret


async def create_shared(unit: UnitOfWork, tokens: Tokens, new: NewClient) -> Made:
    """Create a client for the users of every account, such as one for an automation platform."""
    return await _store(unit, tokens, _managed(new, None, unit.actor.label))


async def rotate_secret(unit: UnitOfWork, tokens: Tokens, id: int) -> Made:
    """Replace the secret of a client. The old one stops working at once; the new one ends with the actor's credential.

    Raises `NotFound`, and `Conflict` for a client that has ended or has no secret.
    """
    client = await queries.get_client(unit, id)
    shown = await queries.show_client(unit, client)
    if shown.revoked_at or not shown.confidential:
        raise Conflict(reason=REVOKED if shown.revoked_at else "A public client has no secret.")
    secret = tokens.make()
    client.secret_hash = tokens.fingerprint(secret)
    client.secret_creator_id = await replace_creator(unit, client.secret_creator_id)
    await unit.save(client)
    await audit.record(unit, AuditAction.oauth_client_secret_rotated, client.name, client_id=client.client_id)
    return client, secret


async def take_over(unit: UnitOfWork, id: int) -> Client:
    """Make the actor's credential the creator of a client; the creator of its secret does not change.

    A client that ended with its creator works again, with its grants. Raises `NotFound`, and `Conflict` for a revoked
    client.
    """
    client = await queries.get_client(unit, id)
    if client.revoked_at:
        raise Conflict(reason="The client is revoked.")
    client.creator_id = await replace_creator(unit, client.creator_id)
    await unit.save(client)
    await audit.record(unit, AuditAction.oauth_client_taken_over, client.name, client_id=client.client_id)
    return client


async def revoke(unit: UnitOfWork, id: int) -> Client:
    """Revoke a client and all its grants. Idempotent."""
    client = await queries.get_client(unit, id)
    if client.revoked_at is None:
        await _revoke(unit, client)
        await audit.record(unit, AuditAction.oauth_client_revoked, client.name, client_id=client.client_id)
    return client


async def list_shared(unit: UnitOfWork) -> Sequence[Client]:
    """Return the clients that the operator created for the users of every account, newest first."""
    shared = (Client.account_id.is_(None), Client.kind == ClientKind.managed)
    return await unit.all(select(Client).where(*shared).order_by(Client.id.desc()))


async def revoke_shared(unit: UnitOfWork, id: int) -> Client:
    """Revoke a client of `list_shared` and its grants in all accounts; raise `NotFound`."""
    for client in await list_shared(unit):
        if client.id == id:
            return await _revoke(unit, client)
    raise NotFound(kind="client", id=id)


async def register(unit: UnitOfWork, tokens: Tokens, metadata: dict[str, Any]) -> Made:
    """Register a client for the users of every account (RFC 7591).

    The registered `scope` is no maximum: a client registers with the scopes of its first request, and asks for others
    when an answer names them. Raises `InvalidRedirectUri` and `InvalidClientMetadata`.
    """
    method = metadata.get("token_endpoint_auth_method", "client_secret_basic")
    if method not in AUTH_METHODS:
        raise InvalidClientMetadata(
            reason=f"token_endpoint_auth_method must be one of {', '.join(AUTH_METHODS)}.",
            field="token_endpoint_auth_method",
        )
    _check_list(metadata, "grant_types", GRANT_TYPES)
    _check_list(metadata, "response_types", frozenset({"code"}))
    _check_scope(metadata.get("scope"))
    client = Client(
        account_id=None,
        kind=ClientKind.registered,
        name=documents.name_of(metadata) or "An application without a name",
        client_uri=documents.page_of(metadata),
        redirect_uris=redirects.check_all(documents.texts(metadata.get("redirect_uris"))),
        scopes=sorted(GENERAL),
        auth_method=method,
        created_by="registration",
    )
    return await _store(unit, tokens, client)


def described(description: Description) -> Client:
    """Return the unstored client of a metadata document."""
    return Client(**_row(description))


async def remember(unit: UnitOfWork, description: Description, fetched_at: datetime) -> Client:
    """Store the metadata of a client's document, unless newer metadata is stored; return the stored client."""
    row = _row(description) | {"fetched_at": fetched_at, "fetched_until": fetched_at + description.kept}
    said = {name: row[name] for name in ("name", "client_uri", "redirect_uris", "fetched_at", "fetched_until")}
    is_newer = or_(Client.fetched_at.is_(None), Client.fetched_at <= fetched_at)
    statement = insert(Client).values(row)
    await unit.execute(statement.on_conflict_do_update(index_elements=[Client.client_id], set_=said, where=is_newer))
    return (await unit.all(select(Client).where(Client.client_id == description.client_id)))[0]


async def note_use(unit: UnitOfWork, client_key: int) -> None:
    """Update a client's `last_used_at` at most once a day, to avoid contention for its row."""
    now = unit.clock.now()
    stale = or_(Client.last_used_at.is_(None), Client.last_used_at < now - grants.DAY)
    await unit.execute(update(Client).where(Client.id == client_key, stale).values(last_used_at=now))


def has_secret(client: Client, tokens: Tokens, secret: str) -> bool:
    """Return whether a secret is the client's."""
    known = client.secret_hash
    return known is not None and hmac.compare_digest(known, tokens.fingerprint(secret))


async def _revoke(unit: UnitOfWork, client: Client) -> Client:
    if client.revoked_at is None:
        if client.account_id is not None:
            await accounts.get_own(unit, lock=True)  # a batch of texts that is being accepted is waited for
        client.revoked_at = unit.clock.now()
        await unit.save(client)
        await grants.revoke_all_of(unit, client, "client_revoked")
    return client


def _managed(new: NewClient, account_id: int | None, created_by: str) -> Client:
    return Client(
        account_id=account_id,
        kind=ClientKind.managed,
        name=plain_names.checked(new.name, documents.MAX_NAME),
        redirect_uris=redirects.check_all(new.redirect_uris),
        scopes=_scopes(new.scopes),
        auth_method="client_secret_post" if new.confidential else "none",
        created_by=created_by,
    )


def _row(description: Description) -> dict[str, Any]:
    return {
        "client_id": description.client_id,
        "kind": ClientKind.document,
        "name": description.name,
        "client_uri": description.client_uri,
        "redirect_uris": description.redirect_uris,
        "scopes": sorted(GENERAL),
        "auth_method": "none",
        "created_by": "document",
    }


async def _store(unit: UnitOfWork, tokens: Tokens, client: Client) -> Made:
    secret = None if client.auth_method == "none" else tokens.make()
    client.client_id = secrets.token_hex(16)
    client.secret_hash = tokens.fingerprint(secret) if secret else None
    client.created_at = unit.clock.now()
    await unit.save(client)
    return client, secret


def _scopes(given: Sequence[str] | None) -> list[str]:
    wanted = GENERAL if given is None else frozenset(given)
    if excluded := sorted(wanted - GENERAL):
        raise InvalidInput(reason=f"An application cannot have the scope {shorten(excluded[0])}.", field="scopes")
    if not wanted:
        raise InvalidInput(reason="An application needs at least one scope.", field="scopes")
    return sorted(wanted)


def _check_scope(scope: object) -> None:
    """Raise `InvalidClientMetadata` for unknown scopes, or without one that applications can have."""
    if scope is None or scope == "":
        return
    if not isinstance(scope, str) or (wanted := frozenset(scope.split())) - ALL:
        raise InvalidClientMetadata(reason="scope must be known scopes, separated by spaces.", field="scope")
    if not wanted & GENERAL:
        raise InvalidClientMetadata(
            reason=f"scope has no scope that an application can have: {join(wanted)}.", field="scope"
        )


def _check_list(metadata: dict[str, Any], name: str, known: frozenset[str]) -> None:
    """Raise `InvalidClientMetadata` for a list without a supported value; unsupported values are ignored."""
    given = metadata.get(name)
    if given is not None and not known & set(documents.texts(given)):
        raise InvalidClientMetadata(reason=f"{name} must hold {' or '.join(sorted(known))}.", field=name)
