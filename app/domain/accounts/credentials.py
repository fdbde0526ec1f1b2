"""Dependence of keys, and of records of other areas, on the credentials that created them.

A credential is a key, the grant of a connected application, or a user. The rules,
which `test_credentials_machine` checks:

1. A record that is made with a credential depends on it. A key depends on every credential in its `creators`, a grant
   on its client and its user, an OAuth client and an invitation on their creator.
2. It ends as soon as anything that it depends on, directly or indirectly, has ended: a key by revocation or expiry, a
   grant by revocation or expiry, a client by revocation, a user by removal.
3. A key that was rotated has a successor. The successor depends on everything that the old key depends on, and on the
   credential that rotated it.
4. When an old key expires after its rotation, the records that were made with it stay valid, and end when the
   successor does. When the old key is revoked, the records that were made with it end.
5. A record that was made with a key before the key was rotated moves to the successor, so that revoking the old key
   does not end it; unless the rotating credential depends on the old key itself. So no key can exempt itself, or its
   records, from its own revocation. A job or a campaign stores the label of a credential and a time in place of a
   creator: it depends on the successor of a key that was rotated after this time. The outcome is the same, since that
   successor depends on the old key wherever the rotating credential does. In the same way it goes on, after the end of
   a grant, with a later one of the same user and client that has its scopes, if that was made after this time and while
   the first was valid.
6. Rotations may make dependencies circular; all members of a cycle end when one of them does.
7. A key that depends on a key, and an `auto_` key, cannot create keys.
8. An invitation also ends when a user whom it depends on may no longer change the account.
9. The secret of an OAuth client depends on the client and on the credential that made or rotated it last. While it has
   ended, the client cannot authenticate; a new secret makes it work again.
10. Only a signed-in user invites a user, changes a role or removes a user; a key or a grant cannot. So a stolen key
   cannot create users that remain after its revocation.

A key without a creator (`messaging key create`) depends on nothing.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import cast

from sqlalchemy import BigInteger, ColumnElement, Select, TextualSelect, bindparam, select, text, update
from sqlalchemy.orm import InstrumentedAttribute

from app.db.engine import Connection
from app.domain.accounts.models import Creator, Role
from app.domain.accounts.roles import scopes_of
from app.domain.accounts.scopes import Scope, includes
from app.domain.grants import sql as grants
from app.domain.kernel.unit_of_work import Actor, UnitOfWork

MADE_WITH_COLUMNS = ("creator_key_id", "creator_grant_id", "creator_user_id")
MADE_WITH = "m.creator_key_id AS key_id, m.creator_grant_id AS grant_id, m.creator_user_id AS user_id"
"""A row of `creators` as the last columns of `source`."""

FOLLOW = f"""
  UNION
  SELECT source.root, next.key_id, next.grant_id, next.user_id FROM source CROSS JOIN LATERAL (
    SELECT m.creator_key_id, m.creator_grant_id, m.creator_user_id FROM creators m WHERE m.key_id = source.key_id
    UNION ALL
    SELECT k.successor_id, NULL, NULL FROM api_keys k WHERE k.id = source.key_id AND k.successor_id IS NOT NULL
    UNION ALL
    SELECT NULL, NULL, g.user_id FROM ({grants.find_user("source.grant_id")}) AS g
    UNION ALL
    SELECT m.creator_key_id, m.creator_grant_id, m.creator_user_id
    FROM ({grants.find_creator("source.grant_id")}) AS c JOIN creators m ON m.id = c.creator_id
  ) AS next(key_id, grant_id, user_id)
"""
"""The recursive part of `source(root, key_id, grant_id, user_id)`: all that each root depends on."""

ENDS = f"""
  SELECT source.root, array_agg(DISTINCT u.role) FILTER (WHERE u.role IS NOT NULL) AS roles,
    least(min(k.expires_at) FILTER (WHERE k.successor_id IS NULL), min(g.expires_at)) AS expires_at,
    least(min(k.revoked_at), min(g.revoked_at), min(c.revoked_at), min(u.removed_at),
      min('epoch'::timestamptz) FILTER (WHERE source.grant_id IS NOT NULL AND g.id IS NULL)) AS revoked_at
  FROM source
  LEFT JOIN LATERAL (SELECT * FROM api_keys WHERE id = source.key_id OFFSET 0) AS k ON true
  {grants.join("source.grant_id")}
  LEFT JOIN LATERAL (SELECT * FROM users WHERE id = source.user_id OFFSET 0) AS u ON true
  GROUP BY source.root
"""
"""For each root, the earliest expiry and revocation of its dependencies, and the roles of the users among them.

`OFFSET 0` makes each join a primary key look-up: PostgreSQL overestimates `source` and would scan whole tables.
"""

IS_OVER = f"""
WITH RECURSIVE source AS (
  SELECT m.id AS root, {MADE_WITH} FROM creators m WHERE m.id = {{creator_id}}
  {FOLLOW}
), ends AS ({ENDS})
SELECT root FROM ends WHERE revoked_at IS NOT NULL OR expires_at <= {{now}}
"""
"""The root, if the credential of a row of `creators` has ended."""

HAS_ENDED = f"""
{IS_OVER.format(creator_id="{creator_id}", now=":ended_by")}
OR NOT coalesce(roles <@ CAST(:roles_that_may AS text[]), true)
"""
"""The root, if the credential of a row of `creators` has ended or a user that it depends on lacks the roles."""

WHEN_ENDED = f"""
WITH RECURSIVE source AS (
  SELECT m.id AS root, {MADE_WITH} FROM creators m WHERE m.id = ANY(CAST(:creator_ids AS bigint[]))
  {FOLLOW}
), ends AS ({ENDS})
SELECT root, least(revoked_at, CASE WHEN expires_at <= CAST(:now AS timestamptz) THEN expires_at END) AS ended_at
FROM ends
"""

# A successor has a higher id than the key that it replaces.
_MAY_STILL = f"""
WITH RECURSIVE line AS (
  SELECT CAST({{key_id}} AS bigint) AS id
  UNION
  SELECT s.id FROM line JOIN api_keys k ON k.id = line.id JOIN api_keys s ON s.id = k.successor_id
  WHERE s.created_at > CAST({{used_at}} AS timestamptz)
), grant_line AS (
  SELECT CAST({{grant_id}} AS bigint) AS id
  UNION
  SELECT later.id FROM grant_line CROSS JOIN LATERAL (
    {grants.find_later("grant_line.id", "CAST({used_at} AS timestamptz)", includes)}
  ) AS later
), source AS (
  SELECT coalesce(id, 0) AS root, (SELECT max(id) FROM line) AS key_id, id AS grant_id,
    CAST({{user_id}} AS bigint) AS user_id
  FROM grant_line
  {FOLLOW}
), ends AS ({ENDS})
SELECT root FROM ends
WHERE revoked_at IS NULL AND coalesce(expires_at > CAST({{now}} AS timestamptz), true)
  AND coalesce(roles <@ CAST({{roles_that_may}} AS text[]), true)
LIMIT 1
"""
_MAY_STILL_GIVEN = ("key_id", "used_at", "grant_id", "user_id", "now", "roles_that_may")
MAY_STILL = _MAY_STILL.format(**{name: f":{name}" for name in _MAY_STILL_GIVEN})
MAY_STILL_NUMBERED = _MAY_STILL.format(**{name: f"${place}" for place, name in enumerate(_MAY_STILL_GIVEN, 1)})

DEPENDS_ON = f"""
WITH RECURSIVE source AS (
  SELECT 0 AS root, CAST(:key_id AS bigint) AS key_id, CAST(:grant_id AS bigint) AS grant_id, NULL::bigint AS user_id
  {FOLLOW}
)
SELECT key_id FROM source WHERE key_id IS NOT NULL
"""

# An old key also owns the rows moved to its successor; an application also owns those of the user's earlier grants.
FIND_OWN = f"""
WITH RECURSIVE line AS (
  SELECT CAST(:key_id AS bigint) AS id
  UNION
  SELECT k.successor_id FROM line JOIN api_keys k ON k.id = line.id WHERE k.successor_id IS NOT NULL
), own_grant AS (
  {grants.FIND_OWN}
), direct AS (
  SELECT key_id FROM creators WHERE creator_user_id = CAST(:user_id AS bigint)
  UNION
  SELECT m.key_id FROM own_grant JOIN creators m ON m.creator_grant_id = own_grant.id
), own AS (
  SELECT id AS key_id FROM (SELECT id FROM line UNION ALL SELECT key_id FROM direct) AS begun WHERE id IS NOT NULL
  UNION
  SELECT next.id FROM own CROSS JOIN LATERAL (
    SELECT m.key_id FROM creators m WHERE m.creator_key_id = own.key_id AND m.key_id IS NOT NULL
    UNION ALL
    SELECT k.id FROM api_keys k WHERE k.successor_id = own.key_id
  ) AS next(id)
)
SELECT m.id FROM own JOIN creators m ON m.creator_key_id = own.key_id
UNION
SELECT m.id FROM own_grant JOIN creators m ON m.creator_grant_id = own_grant.id
UNION
SELECT id FROM creators WHERE creator_user_id = CAST(:user_id AS bigint)
"""

HAND_ON_TO_GRANT = f"""
UPDATE creators SET creator_grant_id = :grant_id, is_handed_on = true
WHERE creator_grant_id IN ({grants.find_earlier(includes)})
"""

HAND_BACK = f"""
UPDATE creators c SET creator_grant_id = other.id FROM ({grants.find_other(includes)}) AS other
WHERE c.creator_grant_id = CAST(:grant_id AS bigint) AND c.is_handed_on
"""


def creator_of(actor: Actor) -> Creator | None:
    """Return the `creators` row of an actor's credential; None for the service itself."""
    if actor.key_id is not None:
        return Creator(account_id=actor.account_id, creator_key_id=actor.key_id)
    if actor.grant_id is not None:
        return Creator(account_id=actor.account_id, creator_grant_id=actor.grant_id)
    if actor.user_id is not None:
        return Creator(account_id=actor.account_id, creator_user_id=actor.user_id)
    return None


async def record_creator(unit: UnitOfWork) -> int | None:
    """Store the actor's credential as the creator of a record of another area; return the id to store there."""
    creator = creator_of(unit.actor)
    if creator is None:
        return None
    await unit.save(creator)
    return creator.id


async def replace_creator(unit: UnitOfWork, id: int | None) -> int | None:
    """Make the actor's credential the creator of a record of another area; return the id to store there."""
    creator = creator_of(unit.actor)
    if creator is None or id is None:
        return await record_creator(unit)
    made_with = {name: getattr(creator, name) for name in MADE_WITH_COLUMNS}
    await unit.execute(update(Creator).where(Creator.id == id).values(made_with))
    return id


def lives(
    creator_id: InstrumentedAttribute[int | None], now: datetime, scope: Scope | None = None
) -> ColumnElement[bool]:
    """Return the SQL condition that a record's creator has not ended; true for a record without one.

    With a scope, the users that the creator depends on must also have a role with that scope.
    """
    ended = HAS_ENDED.format(creator_id=f"{creator_id.class_.__tablename__}.{creator_id.key}")
    roles = [role for role in Role if scope is None or scope in scopes_of(role)]
    found = text(f"NOT EXISTS ({ended})").bindparams(ended_by=now, roles_that_may=roles)
    return cast("ColumnElement[bool]", found)


def find_ended(table: str) -> str:
    """Return a query of those rows `$1` of a table, as `root`, whose creator's credential has ended by `$2`."""
    return f"""
WITH RECURSIVE source AS (
  SELECT made.id AS root, {MADE_WITH} FROM {table} made JOIN creators m ON m.id = made.creator_id
  WHERE made.id = ANY($1::bigint[])
  {FOLLOW}
), ends AS ({ENDS})
SELECT root FROM ends WHERE revoked_at IS NOT NULL OR expires_at <= $2
"""


def has_not_ended(creator_id: str, now: str) -> str:
    """Return the condition that a record's creator has not ended, for a statement; true for a record without one."""
    return f"({creator_id} IS NULL OR NOT EXISTS ({IS_OVER.format(creator_id=creator_id, now=now)}))"


async def when_ended(unit: UnitOfWork, creator_ids: Sequence[int]) -> dict[int, datetime]:
    """Return the end of the credentials that have ended, by the ids of their `creators` rows."""
    found = await unit.execute(text(WHEN_ENDED), {"creator_ids": creator_ids, "now": unit.clock.now()})
    return {row.root: row.ended_at for row in found if row.ended_at}


def credential_of(account_id: int, label: str) -> Actor:
    """Return the actor with the credential that a label names; without one for the operator or the service itself."""
    kind, _, id = label.partition(":")

    def id_of(wanted: str) -> int | None:
        return int(id) if kind == wanted else None

    credential = Actor(account_id, frozenset(), label)
    return replace(credential, user_id=id_of("user"), grant_id=id_of("grant"), key_id=id_of("key"))


async def may_still(unit: UnitOfWork, credential: Actor, scope: Scope, used_at: datetime | None = None) -> bool:
    """Return whether an actor's credential is valid, and the users it depends on have a role with the scope.

    For what a key was used for at a time, the successor of one that was rotated after it counts in its place. For a
    grant, one of those that it was handed on to is enough.
    """
    given = dict(zip(_MAY_STILL_GIVEN, _may_still(credential, scope, unit.clock.now(), used_at), strict=True))
    valid = text(MAY_STILL).bindparams(**given).columns(root=BigInteger).subquery()
    return await unit.one(select(valid.c.root)) is not None


async def may_still_within(
    connection: Connection, credential: Actor, scope: Scope, now: datetime, used_at: datetime | None
) -> bool:
    """Return the same as `may_still`, within the transaction of a connection."""
    return await connection.fetchrow(MAY_STILL_NUMBERED, *_may_still(credential, scope, now, used_at)) is not None


def _may_still(credential: Actor, scope: Scope, now: datetime, used_at: datetime | None) -> Sequence[object]:
    roles = [role for role in Role if scope in scopes_of(role)]
    return credential.key_id, used_at, credential.grant_id, credential.user_id, now, roles


async def find_creators(unit: UnitOfWork, key_id: int) -> list[Creator]:
    """Return the creators of a key."""
    return list(await unit.all(select(Creator).where(Creator.key_id == key_id).order_by(Creator.id)))


async def hand_on(unit: UnitOfWork, old_id: int, new_id: int) -> None:
    """Make a key's successor the creator of its records, unless the actor depends on the old key."""
    needed = await unit.execute(text(DEPENDS_ON), {"key_id": unit.actor.key_id, "grant_id": unit.actor.grant_id})
    if old_id in needed.scalars().all():
        return
    moved = update(Creator).where(Creator.creator_key_id == old_id).values(creator_key_id=new_id)
    await unit.execute(moved.execution_options(synchronize_session=False))


async def hand_on_to_grant(unit: UnitOfWork, grant_id: int) -> None:
    """Make a new grant the creator of the records of the user's earlier ones to the client, with no more scopes."""
    await unit.execute(text(HAND_ON_TO_GRANT), {"grant_id": grant_id, "now": unit.clock.now()})


async def hand_back(unit: UnitOfWork, grant_id: int) -> None:
    """Give the records that a grant got from an earlier one, at its end, to another one of its user and client.

    That one must have its scopes. The records that the grant created itself end with it.
    """
    await unit.execute(text(HAND_BACK), {"grant_id": grant_id, "now": unit.clock.now()})


def sees_all(actor: Actor) -> bool:
    """Return whether an actor manages records of all creators: it may change the account, or is the service itself."""
    return Scope.account_write in actor.scopes or creator_of(actor) is None


def own_creators(actor: Actor) -> Select[int]:
    """Select the ids of the `Creator` rows of records that the actor's credential, or its keys, created."""
    by_user = actor.user_id if actor.key_id is None and actor.grant_id is None else None
    found: TextualSelect = (
        text(FIND_OWN)
        .bindparams(
            bindparam("key_id", actor.key_id),
            bindparam("grant_id", actor.grant_id if actor.key_id is None else None),
            bindparam("user_id", by_user),
        )
        .columns(id=BigInteger)
    )
    own = found.subquery()
    return select(own.c.id)
