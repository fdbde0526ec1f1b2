"""Sessions: how long they last, and whose they are."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from datetime import timedelta
from typing import Any

import pytest
from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher

from app.domain.accounts import queries, sessions
from app.domain.accounts.sessions import Visitor
from app.domain.accounts.sign_in.authentication import Authentication, SignInRefused
from app.domain.accounts.tokens import Tokens
from app.domain.kernel.errors import NotFound
from app.domain.onboarding.service import Opened
from app.providers.attempts import RedisAttempts
from app.services import Services
from tests.domain.conftest import NOON, SetClock, UnitFor
from tests.factories.accounts import ACCOUNTS, SESSIONS, USERS, add_sessions
from tests.factories.tables import Change, ago
from tests.factories.traps import locked, until_blocked

SOFA = Visitor("203.0.113.7", "Firefox", "request-1")
DAY = timedelta(days=1)
SECOND = timedelta(seconds=1)


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
async def authentication(services: Services, clock: SetClock) -> AsyncGenerator[Authentication]:
    """Provide an authentication whose clock the test sets."""
    attempts = RedisAttempts(services.settings.redis_url or "", clock)
    yield Authentication(services.database.sessions, clock, services.notify, attempts, services.authentication.tokens)
    await attempts.close()


async def enter(authentication: Authentication, account: Opened) -> str:
    _, token = await authentication.enter(account.email, account.password, SOFA)
    return token


async def test_a_session_is_kept_by_the_fingerprint_of_its_token(
    services: Services, authentication: Authentication, account: Opened
) -> None:
    entry, token = await authentication.enter(account.email, account.password, SOFA)

    row = await SESSIONS.only(services)
    assert (row["hash"], row["user_id"], row["account_id"]) == (
        services.authentication.tokens.fingerprint(token),
        entry.user.id,
        account.account_id,
    )
    assert (row["address"], row["user_agent"]) == ("203.0.113.7", "Firefox")
    assert (row["created_at"], row["last_used_at"], row["expires_at"]) == (NOON, NOON, NOON + 14 * DAY)
    assert Tokens(b"another secret").fingerprint(token) != row["hash"]


async def test_a_session_that_is_not_used_ends_after_14_days(
    authentication: Authentication, account: Opened, clock: SetClock
) -> None:
    token = await enter(authentication, account)

    clock.at = NOON + 14 * DAY

    assert await authentication.find(token) is None


async def test_a_used_session_is_not_locked_before_its_user_as_a_change_of_the_password_locks_both(
    services: Services, authentication: Authentication, account: Opened, clock: SetClock
) -> None:
    token = await enter(authentication, account)
    clock.at = NOON + DAY
    pool = services.database.pool

    async with locked(pool, USERS.where(email=account.email)) as connection:
        finding = asyncio.create_task(authentication.find(token))
        await until_blocked(pool)
        await SESSIONS.lock(connection, "FOR UPDATE NOWAIT")

    assert await finding is not None
    assert await SESSIONS.only(services, "last_used_at") == NOON + DAY


async def test_a_session_that_is_used_goes_on_but_never_past_90_days(
    authentication: Authentication, account: Opened, clock: SetClock
) -> None:
    token = await enter(authentication, account)

    for day in range(13, 90, 13):
        clock.at = NOON + day * DAY
        assert await authentication.find(token) is not None
    clock.at = NOON + 90 * DAY - SECOND
    assert await authentication.find(token) is not None
    clock.at = NOON + 90 * DAY
    assert await authentication.find(token) is None


async def test_the_use_of_a_session_and_the_activity_of_its_user_are_noted_once_a_minute(
    services: Services, authentication: Authentication, account: Opened, clock: SetClock
) -> None:
    token = await enter(authentication, account)

    noted, active = [], []
    for seconds in (0, 59, 60, 61, 119, 120):
        clock.at = NOON + seconds * SECOND
        await authentication.find(token)
        noted.append(await SESSIONS.only(services, "last_used_at"))
        active.append(await USERS.only(services, "last_active_at"))

    assert [(at - NOON).total_seconds() for at in noted] == [0, 0, 60, 60, 60, 120]
    assert active == noted


@pytest.mark.parametrize(
    "change",
    [
        lambda services: USERS.change(services, removed_at=ago()),
        lambda services: ACCOUNTS.change(services, status="suspended"),
        SESSIONS.delete,
    ],
    ids=["user removed", "account suspended", "session deleted"],
)
async def test_a_session_ends_with_its_user_and_rests_with_its_account(
    services: Services, authentication: Authentication, account: Opened, change: Change
) -> None:
    token = await enter(authentication, account)
    assert await authentication.find(token) is not None

    await change(services)

    assert await authentication.find(token) is None


@pytest.mark.parametrize("token", ["", "x", "\0", "é" * 100])
async def test_an_invalid_token_finds_no_session(authentication: Authentication, account: Opened, token: str) -> None:
    await enter(authentication, account)

    assert await authentication.find(token) is None


async def test_a_password_that_changes_while_it_is_verified_opens_nothing(
    services: Services, authentication: Authentication, account: Opened
) -> None:
    class Slow(Authentication):
        async def _find_user(self, email: str) -> Any:
            found = await super()._find_user(email)
            await USERS.change(services, password_hash=f"{await USERS.only(services, 'password_hash')} ")
            return found

    slow = Slow(
        authentication.db, authentication.clock, authentication.notify, authentication.attempts, authentication.tokens
    )
    with pytest.raises(SignInRefused):
        await slow.enter(account.email, account.password, SOFA)

    assert await SESSIONS.count(services) == 0


async def test_a_password_under_old_parameters_is_renewed_by_signing_in(
    services: Services, authentication: Authentication, account: Opened
) -> None:
    old = PasswordHash((Argon2Hasher(time_cost=2, memory_cost=16, parallelism=1),)).hash(account.password)
    await USERS.change(services, password_hash=old)

    await enter(authentication, account)

    assert "$m=8,t=1,p=1$" in await USERS.only(services, "password_hash")
    await enter(authentication, account)


async def test_sessions_are_listed_for_the_account_the_last_used_first(
    authentication: Authentication, account: Opened, clock: SetClock, new_account: Callable[..., Any], unit_for: UnitFor
) -> None:
    other = await new_account()
    await enter(authentication, other)
    first = await enter(authentication, account)
    clock.at += timedelta(minutes=1)
    await enter(authentication, account)
    clock.at += timedelta(minutes=1)
    await authentication.find(first)

    async with unit_for(account) as unit:
        unit.clock = clock
        found = await sessions.find_all(unit)
        [owner] = await queries.list_users(unit)
        assert [session.user_id for session in found] == [owner.id, owner.id]
        assert [session.last_used_at - NOON for session in found] == [timedelta(minutes=2), timedelta(minutes=1)]
        assert await sessions.find_all(unit, owner.id + 1) == []
        clock.at += 15 * DAY
        assert await sessions.find_all(unit) == []


async def test_a_list_of_sessions_has_the_last_used_ones_up_to_its_limit(
    services: Services, account: Opened, clock: SetClock, unit_for: UnitFor
) -> None:
    user_id = await USERS.only(services, "id")
    await add_sessions(services, account.account_id, user_id, sessions.MAX_SHOWN + 1, last_used_at=NOON)

    async with unit_for(account) as unit:
        unit.clock = clock
        found = await sessions.find_all(unit, user_id)

    assert sessions.MAX_SHOWN == 500
    assert [session.user_agent for session in found] == [str(number) for number in range(1, 501)]


async def test_a_session_of_another_account_cannot_be_ended(
    services: Services,
    authentication: Authentication,
    account: Opened,
    new_account: Callable[..., Any],
    unit_for: UnitFor,
) -> None:
    await enter(authentication, account)
    id = await SESSIONS.only(services, "id")

    async with unit_for(await new_account()) as unit:
        with pytest.raises(NotFound, match=rf"^No session with id {id}\.$"):
            await sessions.end(unit, id)

    assert await SESSIONS.count(services) == 1
