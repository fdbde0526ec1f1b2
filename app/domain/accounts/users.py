"""Users of an account: change their roles and remove them. An account keeps its last owner."""

import re
from collections.abc import Sequence
from typing import TypedDict, cast

from sqlalchemy import func, select

from app.domain.accounts import audit, links, queries, sessions
from app.domain.accounts.audit import AuditAction
from app.domain.accounts.errors import PersonRequired
from app.domain.accounts.models import Account, Role, Session, User
from app.domain.accounts.roles import scopes_of
from app.domain.kernel import plain_names, time_zones
from app.domain.kernel.errors import Conflict, InsufficientScope, InvalidInput, NotFound
from app.domain.kernel.unit_of_work import UnitOfWork

ENCODED_WORD = "=?"
"""The start of an encoded word (RFC 2047), which a mail program may decode to another address."""

EMAIL = re.compile(r"[^\s@<>(),;:\"\\\[\]\x00-\x1f\x7f]+@[^\s@<>(),;:\"\\\[\]\x00-\x1f\x7f]+")
MAX_EMAIL = 254
"""RFC 5321, 4.5.3.1.3, less the angle brackets."""

MAX_LINE = 100
LOCALE = "[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?"
"""A language, a script and a region (BCP 47), in the usual case."""


class UserFields(TypedDict, total=False):
    """The fields of a user that may be changed; omitted fields keep their values, and null empties a field."""

    first_name: str | None
    last_name: str | None


class ViewerFields(UserFields, total=False):
    """The fields that users change of their own."""

    time_zone: str | None
    locale: str | None


async def get(unit: UnitOfWork, id: int) -> User:
    """Return one of the account's users; raise `NotFound`."""
    own = (User.account_id == unit.actor.account_id, User.id == id, User.removed_at.is_(None))
    user = await unit.one(select(User).where(*own))
    if user is None:
        raise NotFound(kind="user", id=id)
    return user


async def change_role(unit: UnitOfWork, id: int, role: Role) -> User:
    """Change the role of a user, with effect from the next request.

    Raises `Conflict` for the last owner, `InsufficientScope` for a role with more scopes than the actor, and
    `PersonRequired`.
    """
    check_is_person(unit)
    await lock_account(unit)
    user = await get(unit, id)
    if user.role == role:
        return user
    check_may_give(unit, role)
    await _check_not_last_owner(unit, user)
    former, user.role = user.role, role
    await unit.save(user)
    await audit.record(unit, AuditAction.role_changed, user.email, user_id=user.id, former=former, role=role)
    return user


async def update(unit: UnitOfWork, id: int, fields: UserFields) -> User:
    """Change a user's name. Raises `NotFound` and `InvalidInput`."""
    values = {name: plain_line(name, str(value or "")) for name, value in fields.items()}
    user = await get(unit, id)
    former = {name: getattr(user, name) for name, value in values.items() if getattr(user, name) != value}
    if not former:
        return user
    for name in former:
        setattr(user, name, values[name])
    await unit.save(user)
    await audit.record(unit, AuditAction.user_changed, user.email, user_id=user.id, former=former)
    return user


async def update_own(unit: UnitOfWork, fields: ViewerFields) -> User:
    """Change the name, the time zone or the locale of the user who acts. Raises `PersonRequired` and `InvalidInput`."""
    user = await get_person(unit)
    if "time_zone" in fields:
        zone = fields["time_zone"]
        user.time_zone = time_zones.checked(zone) if zone else None
    if "locale" in fields:
        user.locale = _locale(fields["locale"])
    await unit.save(user)
    names = {name: value for name, value in fields.items() if name in UserFields.__annotations__}
    return await update(unit, user.id, cast("UserFields", names))


async def remove(unit: UnitOfWork, id: int) -> User:
    """Remove a user: every session ends, and the e-mail address is free again.

    Raises `Conflict` for the last owner, and `PersonRequired`.
    """
    check_is_person(unit)
    await lock_account(unit)
    user = await get(unit, id)
    await _check_not_last_owner(unit, user)
    user.removed_at, user.password_hash = unit.clock.now(), None
    await unit.save(user)
    await links.delete_unused(unit, user.id)
    await sessions.end_all(unit, user.id)
    await audit.record(unit, AuditAction.user_removed, user.email, user_id=user.id, role=user.role)
    return user


async def end_other_sessions(unit: UnitOfWork) -> Sequence[Session]:
    """End the sessions of the user who acts, but that of the request, and return them; raise `PersonRequired`."""
    user = await get_person(unit)
    ended = await sessions.end_all(unit, user.id, keep=unit.actor.session_id)
    if ended:
        await audit.record(unit, AuditAction.session_ended, user.email, ended=len(ended))
    return ended


def plain_email(text: str) -> str:
    """Return an e-mail address in lower case; raise `InvalidInput` for an invalid one."""
    email = text.strip().lower()
    if len(email) > MAX_EMAIL or not EMAIL.fullmatch(email):
        raise InvalidInput(reason="email must be an e-mail address, such as ann@example.com.", field="email")
    if not email.isascii():
        raise InvalidInput(
            reason="email must have ASCII letters only. Write an international domain in its xn-- form.", field="email"
        )
    if ENCODED_WORD in email:
        raise InvalidInput(reason="email must not contain =?. Write the address without an encoding.", field="email")
    return email


def plain_line(field: str, text: str) -> str:
    """Return a trimmed text, empty if nothing of it is shown; raise `InvalidInput` for more than a plain line."""
    line = text.strip()
    if len(line) > MAX_LINE or plain_names.NOT_OF_A_LINE.search(line):
        raise InvalidInput(reason=f"{field} must be one line of at most {MAX_LINE} characters.", field=field)
    return line if plain_names.is_visible(line) else ""


def check_is_person(unit: UnitOfWork) -> None:
    """Raise `PersonRequired` for a key or a connected application (`credentials`, rule 10)."""
    if unit.actor.key_id is not None or unit.actor.grant_id is not None:
        raise PersonRequired()


async def get_person(unit: UnitOfWork) -> User:
    """Return the user who acts, or the oldest owner for the operator; raise `PersonRequired`."""
    check_is_person(unit)
    return await queries.get_viewer(unit)


def check_may_give(unit: UnitOfWork, role: Role) -> None:
    """Raise `InsufficientScope` for a role with more scopes than the actor."""
    if missing := sorted(scopes_of(role) - unit.actor.scopes):
        raise InsufficientScope(scope=missing[0])


async def lock_account(unit: UnitOfWork) -> str | None:
    """Lock the account against concurrent changes of its users, such as two owners removing each other.

    Return the status of the account.
    """
    return await unit.one(select(Account.status).where(Account.id == unit.actor.account_id).with_for_update())


def _locale(tag: str | None) -> str | None:
    if not tag:
        return None
    if not re.fullmatch(LOCALE, tag):
        raise InvalidInput(reason="locale must be a language tag such as en-GB or pt-BR.", field="locale")
    return tag


async def _check_not_last_owner(unit: UnitOfWork, user: User) -> None:
    if user.role != Role.owner:
        return
    others = select(func.count()).where(
        User.account_id == user.account_id,
        User.role == Role.owner,
        User.id != user.id,
        User.removed_at.is_(None),
        User.password_hash.is_not(None),
    )
    if not await unit.one(others):
        raise Conflict(reason="The account needs an owner. Give another user the role owner first.")
