"""Authentication: valid and invalid keys, and the database queries for them."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextvars import copy_context
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest
from sqlalchemy import event

from app.db.engine import Pool
from app.domain.accounts import keys
from app.domain.accounts.errors import AccountSuspended
from app.domain.accounts.keys import KeyKind
from app.domain.accounts.models import AccountStatus
from app.domain.accounts.scopes import AUTOMATION
from app.domain.kernel.clock import Clock
from app.domain.kernel.errors import Unauthenticated
from app.domain.onboarding.service import Opened
from app.http import credential_cache
from app.http.identity import Identity
from app.services import Services
from app.telemetry.requests import REQUEST_ID
from tests.factories.accounts import ACCOUNTS, API_KEYS
from tests.factories.traps import writes_refused

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
HINT = " Send a key as 'Authorization: Bearer KEY' or 'X-API-Key: KEY'."
NOT_GOOD = "This key is unknown, expired or revoked." + HINT


class SetClock(Clock):
    """A clock that stands where it is set."""

    def __init__(self) -> None:
        self.moment = NOW

    def now(self) -> datetime:
        return self.moment

    def pass_seconds(self, seconds: float) -> None:
        self.moment += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
async def identity(services: Services, clock: SetClock, asked: list[str]) -> AsyncGenerator[Identity]:
    database = replace(services.database, pool=cast(Pool, NotingPool(services.database.pool, asked)))
    identity = Identity(database, services.secret, clock, 2.0, services.oauth)
    yield identity
    await identity.close()


@dataclass
class NotingPool:
    """The pool, which notes the statements that it is sent."""

    pool: Pool
    statements: list[str]

    async def fetch(self, query: str, *args: Any) -> Any:
        self.statements.append(query.lstrip())
        return await self.pool.fetch(query, *args)


@pytest.fixture
def asked(services: Services, account: Opened) -> Iterator[list[str]]:
    """Give the list of the statements that are sent to the database from when there is an account."""
    statements: list[str] = []

    def note(*arguments: object) -> None:
        statements.append(str(arguments[2]))

    engine = services.database.engine.sync_engine
    event.listen(engine, "before_cursor_execute", note)
    yield statements
    event.remove(engine, "before_cursor_execute", note)


def bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


async def refusal(identity: Identity, headers: dict[str, str]) -> str:
    with pytest.raises(Unauthenticated) as caught:
        await identity.resolve(headers)
    return str(caught.value)


async def used_at(services: Services, key: str) -> datetime | None:
    hash = keys.fingerprint(services.secret, key)
    return await API_KEYS.where(hash=hash).only(services, "last_used_at")


@pytest.mark.parametrize(
    "header",
    [
        ("authorization", "Bearer {}"),
        ("authorization", "bearer {}"),
        ("authorization", "BEARER   {} "),
        ("x-api-key", "{}"),
        ("x-api-key", " {} "),
    ],
)
async def test_a_key_names_its_account_its_scopes_and_itself(
    identity: Identity, services: Services, account: Opened, header: tuple[str, str]
):
    name, form = header
    context = copy_context()
    context.run(REQUEST_ID.set, "request-1")

    asked = identity.resolve({name: form.format(account.auto_key)})
    actor = await asyncio.create_task(asked, context=context)

    assert actor
    id = await API_KEYS.where(name="Automation").only(services, "id")
    assert (actor.account_id, actor.scopes) == (account.account_id, AUTOMATION)
    assert (actor.label, actor.request_id) == (f"key:{id}", "request-1")


async def test_a_request_without_a_key_has_no_actor(identity: Identity):
    assert await identity.resolve({}) is None


async def test_a_bearer_key_goes_before_an_api_key_header(identity: Identity, account: Opened):
    actor = await identity.resolve({**bearer(account.auto_key), "x-api-key": account.svc_key})

    assert actor
    assert actor.scopes == AUTOMATION


async def test_an_api_key_header_counts_beside_another_scheme(identity: Identity, account: Opened):
    actor = await identity.resolve({"authorization": "Basic YTpi", "x-api-key": account.auto_key})

    assert actor
    assert actor.scopes == AUTOMATION


async def test_another_scheme_alone_is_refused(identity: Identity):
    assert await refusal(identity, {"authorization": "Basic YTpi"}) == "The Authorization header holds no key." + HINT


@pytest.mark.parametrize(
    "broken", ["", " ", "svc_", "{}x", "é{}", "{}{}", "sk_live_{}", "svc_" + "0" * 38, "svc_" + "\u0660" * 38]
)
async def test_a_malformed_key_is_refused_without_asking_the_database(
    identity: Identity, account: Opened, asked: list[str], broken: str
):
    text = broken.replace("{}", account.svc_key)

    assert await refusal(identity, bearer(text)) == "This is not a key: it was cut short or mistyped." + HINT
    assert await refusal(identity, {"x-api-key": text}) == "This is not a key: it was cut short or mistyped." + HINT
    assert asked == []


async def test_every_mistyped_character_is_noticed_without_asking_the_database(
    identity: Identity, account: Opened, asked: list[str]
):
    key = account.svc_key

    for place in range(len("svc_"), len(key)):
        wrong = key[:place] + ("A" if key[place] != "A" else "B") + key[place + 1 :]
        assert "mistyped" in await refusal(identity, bearer(wrong))

    assert asked == []


async def test_an_unknown_key_is_refused_and_not_remembered(
    identity: Identity, services: Services, account: Opened, asked: list[str]
):
    key = keys.make(KeyKind.svc).text

    assert await refusal(identity, bearer(key)) == NOT_GOOD
    assert await refusal(identity, bearer(key)) == NOT_GOOD
    assert len(asked) == 2

    [known, *_] = await API_KEYS.read(services, "id")
    hash = keys.fingerprint(services.secret, key)
    await API_KEYS.where(id=known).change(services, hash=hash)
    actor = await identity.resolve(bearer(key))
    assert actor
    assert actor.label == f"key:{known}"


async def test_a_good_key_is_asked_for_once_in_two_seconds(
    identity: Identity, clock: SetClock, account: Opened, asked: list[str]
):
    for _ in range(20):
        await identity.resolve(bearer(account.svc_key))
        clock.pass_seconds(0.1)
    await identity.close()
    assert [statement.split()[0] for statement in asked] == ["WITH", "UPDATE"]

    await identity.resolve(bearer(account.svc_key))
    await identity.close()
    assert [statement.split()[0] for statement in asked] == ["WITH", "UPDATE", "WITH"]


def queries(asked: list[str]) -> int:
    return len([statement for statement in asked if statement.startswith("WITH")])


async def test_a_query_renews_the_keys_that_are_in_use_and_half_over(
    identity: Identity, clock: SetClock, account: Opened, asked: list[str]
):
    for seconds, key in [(0, account.svc_key), (0.1, account.svc_key), (0.9, account.auto_key), (1.9, account.svc_key)]:
        clock.pass_seconds(seconds)
        assert await identity.resolve(bearer(key))

    assert queries(asked) == 2
    clock.pass_seconds(0.1)
    assert await identity.resolve(bearer(account.svc_key))
    assert queries(asked) == 3


async def test_a_key_that_was_used_once_is_not_renewed(
    identity: Identity, clock: SetClock, account: Opened, asked: list[str]
):
    for seconds, key in [(0, account.svc_key), (1.0, account.auto_key), (1.0, account.svc_key)]:
        clock.pass_seconds(seconds)
        assert await identity.resolve(bearer(key))

    assert queries(asked) == 3


async def test_a_renewed_key_that_was_revoked_is_refused_at_once(
    identity: Identity, services: Services, clock: SetClock, account: Opened
):
    await identity.resolve(bearer(account.svc_key))
    await identity.resolve(bearer(account.svc_key))
    await API_KEYS.where(hash=keys.fingerprint(services.secret, account.svc_key)).change(services, revoked_at=NOW)

    clock.pass_seconds(1)
    await identity.resolve(bearer(account.auto_key))

    assert await refusal(identity, bearer(account.svc_key)) == NOT_GOOD


async def test_requests_that_come_together_wait_for_one_look_up(identity: Identity, account: Opened, asked: list[str]):
    actors = await asyncio.gather(*(identity.resolve(bearer(account.svc_key)) for _ in range(20)))

    await identity.close()
    assert actors == [actors[0]] * 20
    assert [statement.split()[0] for statement in asked] == ["WITH", "UPDATE"]


async def test_keys_that_come_together_are_found_in_one_query(identity: Identity, account: Opened, asked: list[str]):
    sent = [account.svc_key, account.auto_key, account.svc_key]

    actors = await asyncio.gather(*(identity.resolve(bearer(key)) for key in sent))

    assert [actor and actor.account_id for actor in actors] == [account.account_id] * 3
    assert (actors[0] == actors[2], actors[0] == actors[1]) == (True, False)
    assert queries(asked) == 1


async def test_a_request_that_is_broken_off_does_not_break_off_the_others(identity: Identity, account: Opened):
    first = asyncio.create_task(identity.resolve(bearer(account.svc_key)))
    second = asyncio.create_task(identity.resolve(bearer(account.svc_key)))
    await asyncio.sleep(0)

    first.cancel()

    actor = await second
    assert actor
    assert actor.account_id == account.account_id


async def test_a_revoked_key_is_refused_within_two_seconds(
    identity: Identity, services: Services, clock: SetClock, account: Opened
):
    await identity.resolve(bearer(account.svc_key))
    await API_KEYS.change(services, revoked_at=NOW)

    clock.pass_seconds(1.999)
    assert await identity.resolve(bearer(account.svc_key))

    clock.pass_seconds(0.001)
    assert await refusal(identity, bearer(account.svc_key)) == NOT_GOOD


async def test_the_keys_of_a_suspended_account_are_refused(identity: Identity, services: Services, account: Opened):
    await ACCOUNTS.change(services, status=AccountStatus.suspended)

    with pytest.raises(AccountSuspended):
        await identity.resolve(bearer(account.svc_key))


async def test_a_key_ends_at_its_instant_though_it_is_remembered(
    identity: Identity, services: Services, clock: SetClock, account: Opened, asked: list[str]
):
    await API_KEYS.change(services, expires_at=NOW + timedelta(seconds=1))
    asked.clear()

    clock.pass_seconds(0.999)
    assert await identity.resolve(bearer(account.svc_key))

    clock.pass_seconds(0.001)
    assert await refusal(identity, bearer(account.svc_key)) == NOT_GOOD
    await identity.close()
    assert [statement.split()[0] for statement in asked] == ["WITH", "UPDATE"]


async def test_a_clock_that_was_set_back_makes_a_revoked_key_no_fresher(
    identity: Identity, services: Services, clock: SetClock, account: Opened
):
    await identity.resolve(bearer(account.svc_key))
    await API_KEYS.change(services, revoked_at=NOW)

    clock.pass_seconds(-3600)

    assert await refusal(identity, bearer(account.svc_key)) == NOT_GOOD


async def test_a_use_is_noted_once_a_minute(identity: Identity, services: Services, clock: SetClock, account: Opened):
    assert await used_at(services, account.svc_key) is None

    for seconds, noted in [(0, 0), (60, 0), (2, 62), (60, 62), (2, 124)]:
        clock.pass_seconds(seconds)
        await identity.resolve(bearer(account.svc_key))
        await identity.close()
        assert await used_at(services, account.svc_key) == NOW + timedelta(seconds=noted)

    assert await used_at(services, account.auto_key) is None


async def test_a_key_is_accepted_when_its_use_cannot_be_recorded(
    identity: Identity, services: Services, account: Opened
):
    async with writes_refused(services.database.pool, "api_keys", unless="last_used_at IS NULL"):
        actor = await identity.resolve(bearer(account.svc_key))
        await identity.close()

    assert actor
    assert await used_at(services, account.svc_key) is None


async def test_the_key_that_was_learned_first_is_forgotten_first(
    identity: Identity, account: Opened, asked: list[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(credential_cache, "MAX_KNOWN", 1)

    for key in (account.svc_key, account.auto_key, account.auto_key, account.svc_key):
        await identity.resolve(bearer(key))

    await identity.close()
    assert len([statement for statement in asked if statement.startswith("WITH")]) == 3
