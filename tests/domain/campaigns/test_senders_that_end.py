"""A sender whose key, application or user ends at any moment: no text is accepted or leaves afterwards."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.accounts import api_keys
from app.domain.accounts.scopes import ALL
from app.domain.billing import service as billing
from app.domain.campaigns import batches, concurrency, service
from app.domain.campaigns.runner import CampaignRunner
from app.domain.campaigns.service import Order
from app.domain.kernel.unit_of_work import Actor, UnitOfWork
from app.domain.messages.errors import ConsentNotAttested
from app.domain.oauth import clients, grants, queries
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.conftest import unit_of
from tests.domain.campaigns.conftest import NOW, Accept, Act, Make, Run
from tests.factories.accounts import ACCOUNTS, API_KEYS, USERS, add_user
from tests.factories.billing import audit
from tests.factories.campaigns import CAMPAIGNS, add_people, audit_counts, states
from tests.factories.messages import OUTBOUND, OUTGOING, calls
from tests.factories.oauth import OAUTH_CLIENTS, OAUTH_GRANTS, add_clients
from tests.factories.quiet_hours import QUIET_HOURS_RULES, close_for_hours
from tests.factories.tables import ago, ahead
from tests.factories.traps import locked, until_blocked
from tests.waiting import within

pytestmark = pytest.mark.anyio

ENDED = ("paused", "credential_ended")

Begin = Callable[..., Awaitable[int]]


@pytest.fixture
async def ann(services: Services, account: Opened) -> int:
    """Add a member, and return the id."""
    return await add_user(services, account.account_id, "ann@example.com")


@pytest.fixture
def begin(services: Services, account: Opened, pool: Pool, make: Make, ann: int) -> Begin:
    """Provide a function that sends a campaign to three people, by default as the member, and returns its id."""

    async def begin(label: str = f"user:{ann}", order: Order = NOW) -> int:
        await add_people(pool, 3)
        campaign = await make()
        async with unit_of(services, Actor(account.account_id, frozenset(), label)) as unit:
            return (await service.send(unit, campaign.id, order)).id

    return begin


async def test_a_campaign_whose_sender_ended_during_a_pause_is_resumed_as_another_sender_only(
    pool: Pool, begin: Begin, accept: Accept, leave: Run, run: Run, act: Act, *, ann: int
) -> None:
    campaign_id = await begin()
    await accept(2)
    async with act() as unit:
        await service.pause(unit, campaign_id)
    await USERS.where(id=ann).change(pool, removed_at=ago())

    with pytest.raises(ConsentNotAttested):
        async with act() as unit:
            await service.resume(unit, campaign_id)
    await leave()
    refused = await CAMPAIGNS.only(pool, "status", "reason"), await calls(pool)
    async with act() as unit:
        await service.resume(unit, campaign_id, consent_attested=True)
    await run()

    assert refused == (("paused", "requested"), [])
    assert await CAMPAIGNS.only(pool, "status", "actor") == ("completed", "key:7")
    assert await states(pool) == {"delivered": 3}
    await audit(pool)


async def test_texts_of_a_sender_that_ended_while_credits_lacked_wait(
    pool: Pool, begin: Begin, accept: Accept, run: Run, act: Act, ann: int
) -> None:
    async with act() as unit:
        await billing.grant(unit, -998, "taken")
    campaign_id = await begin()
    await accept(3)
    poor = await CAMPAIGNS.only(pool, "status", "reason")

    await USERS.where(id=ann).change(pool, removed_at=ago())
    await accept(service.RETRY // timedelta(seconds=1))
    await run()
    ended = await CAMPAIGNS.only(pool, "status", "reason"), await calls(pool)
    async with act() as unit:
        await billing.grant(unit, 1, "top-up")
        await service.resume(unit, campaign_id, consent_attested=True)
    await run()

    assert (poor, ended) == (("paused", "insufficient_credits"), (ENDED, []))
    assert await states(pool) == {"delivered": 3}
    await audit(pool)
    await audit_counts(pool)


async def test_texts_that_wait_for_their_hour_while_no_other_is_left_do_not_leave_after_their_sender_ended(
    pool: Pool, begin: Begin, accept: Accept, leave: Run, ann: int
) -> None:
    await close_for_hours(pool)
    await begin()
    await accept(2)
    waiting = await states(pool)

    await USERS.where(id=ann).change(pool, removed_at=ago())
    await accept(30)
    ended = await CAMPAIGNS.only(pool, "status", "reason")
    await QUIET_HOURS_RULES.change(pool, start_minute=0, end_minute=1440)
    await leave()

    assert (waiting, ended) == ({"claimed": 3}, ENDED)
    assert (await states(pool), await calls(pool)) == ({"claimed": 3}, [])
    await audit(pool)


async def test_a_sender_that_ended_while_the_last_texts_are_in_flight_stops_only_those_that_come_back(
    pool: Pool, begin: Begin, accept: Accept, ann: int
) -> None:
    await begin()
    await accept(2)
    await OUTGOING.change(pool, claimed_until=ahead(minutes=5))
    await USERS.where(id=ann).change(pool, removed_at=ago())

    await accept(1)
    in_flight = await CAMPAIGNS.only(pool, "status", "reason")
    await OUTGOING.change(pool, claimed_until=None)
    await accept(1)

    assert in_flight == ("sending", "")
    assert await CAMPAIGNS.only(pool, "status", "reason") == ENDED


async def test_a_batch_that_waited_for_the_account_while_its_sender_ended_is_not_accepted(
    pool: Pool, begin: Begin, accept: Accept, ann: int
) -> None:
    await begin()
    await accept(1)

    async with locked(pool, ACCOUNTS, "FOR NO KEY UPDATE") as connection:
        accepting = asyncio.create_task(accept(1))
        await until_blocked(pool)
        await USERS.where(id=ann).change(connection, removed_at=ago())
    await within("the batch", accepting)

    assert await CAMPAIGNS.only(pool, "status", "reason") == ENDED
    assert (await states(pool), await OUTBOUND.count(pool)) == ({"queued": 3}, 0)
    await audit(pool)


async def revoke_key(unit: UnitOfWork, label: str) -> None:
    await api_keys.revoke_key(unit, int(label.removeprefix("key:")))


async def revoke_grant(unit: UnitOfWork, label: str) -> None:
    await grants.revoke(unit, int(label.removeprefix("grant:")))


async def revoke_client(unit: UnitOfWork, _: str) -> None:
    [client] = await queries.list_clients(unit)
    await clients.revoke(unit, client.id)


async def find_key(pool: Pool, account_id: int, _: int) -> str:
    return f"key:{min(await API_KEYS.where(account_id=account_id).read(pool, 'id'))}"


async def add_grant(pool: Pool, account_id: int, user_id: int) -> str:
    await add_clients(pool, account_id, 1, "managed")
    held = {"account_id": account_id, "user_id": user_id, "client_id": await OAUTH_CLIENTS.only(pool, "id")}
    grant_id = await OAUTH_GRANTS.insert(pool, **held, scopes=[], resource="http://api", expires_at=ahead(days=1))
    return f"grant:{grant_id}"


@pytest.mark.parametrize(
    ("make_sender", "revoke"), [(find_key, revoke_key), (add_grant, revoke_grant), (add_grant, revoke_client)]
)
async def test_a_revocation_waits_for_the_batch_that_is_accepted_and_the_next_one_finds_it(
    services: Services,
    account: Opened,
    pool: Pool,
    begin: Begin,
    accept: Accept,
    leave: Run,
    *,
    runner: CampaignRunner,
    ann: int,
    monkeypatch: pytest.MonkeyPatch,
    make_sender: Callable[[Pool, int, int], Awaitable[str]],
    revoke: Callable[[UnitOfWork, str], Awaitable[None]],
) -> None:
    monkeypatch.setattr(batches, "BATCH", 2)
    monkeypatch.setattr(concurrency, "AT_ONCE", 0)
    label = await make_sender(pool, account.account_id, ann)
    await begin(label)
    await accept(1)

    async def end() -> None:
        async with unit_of(services, Actor(account.account_id, ALL, "user:1")) as unit:
            await revoke(unit, label)

    async with runner._due() as (connection, campaign):
        assert campaign
        await runner._step(connection, campaign)
        ending = asyncio.create_task(end())
        await until_blocked(pool)
    await within("the revocation", ending)
    await accept(1)
    await leave()

    assert await CAMPAIGNS.only(pool, "status", "reason") == ENDED
    assert (await states(pool), await calls(pool)) == ({"claimed": 2, "queued": 1}, [])
    await audit(pool)


@pytest.fixture
def rotate(services: Services, account: Opened) -> Callable[[str], Awaitable[str]]:
    """Provide a function that rotates a key as the operator, and returns the label of its successor."""

    async def rotate(label: str) -> str:
        async with unit_of(services, Actor(account.account_id, ALL)) as unit:
            key, _ = await api_keys.rotate_key(unit, services.secret, int(label.removeprefix("key:")))
        return f"key:{key.id}"

    return rotate


@pytest.fixture
def end(services: Services, account: Opened) -> Callable[[str], Awaitable[None]]:
    """Provide a function that revokes a key."""

    async def end(label: str) -> None:
        async with unit_of(services, Actor(account.account_id, ALL)) as unit:
            await revoke_key(unit, label)

    return end


async def test_a_campaign_goes_on_with_the_successors_of_its_key_and_ends_with_the_newest(
    pool: Pool, account: Opened, begin: Begin, accept: Accept, leave: Run, *, rotate: Any, end: Any
) -> None:
    first = await find_key(pool, account.account_id, 0)
    campaign_id = await begin(first)
    await accept(1)

    second = await rotate(first)
    third = await rotate(second)
    await end(first)
    await end(second)
    await accept(1)
    sent = await CAMPAIGNS.where(id=campaign_id).only(pool, "status"), await states(pool)
    await end(third)
    await accept(1)
    await leave()

    assert sent == ("sending", {"claimed": 3})
    assert await CAMPAIGNS.only(pool, "status", "reason") == ENDED
    assert await calls(pool) == []


async def test_a_scheduled_campaign_whose_key_was_rotated_meanwhile_starts_with_the_successor(
    pool: Pool, account: Opened, begin: Begin, accept: Accept, leave: Run, *, rotate: Any, end: Any
) -> None:
    key = await find_key(pool, account.account_id, 0)
    await begin(key, Order(consent_attested=True, at=ahead(minutes=1)))

    await rotate(key)
    await end(key)
    await accept(64)
    await leave()

    assert (await CAMPAIGNS.only(pool, "status"), len(await calls(pool))) == ("sending", 3)


async def test_a_campaign_that_a_rotated_key_began_ends_when_this_key_is_revoked(
    pool: Pool, account: Opened, begin: Begin, accept: Accept, leave: Run, *, rotate: Any, end: Any
) -> None:
    key = await find_key(pool, account.account_id, 0)
    await rotate(key)
    await begin(key)

    await end(key)
    await accept(2)
    await leave()

    assert await CAMPAIGNS.only(pool, "status", "reason") == ENDED
    assert (await OUTBOUND.count(pool), await calls(pool)) == (0, [])


async def add_next_grant(pool: Pool, **values: Any) -> str:
    """Add a grant of the same user and client, whose code was exchanged."""
    same = ("account_id", "user_id", "client_id", "scopes", "resource", "expires_at")
    usual = dict(zip(same, (await OAUTH_GRANTS.read(pool, *same))[0], strict=True))
    return f"grant:{await OAUTH_GRANTS.insert(pool, **usual | {'last_used_at': ago()} | values)}"


async def test_a_campaign_goes_on_with_the_next_connection_of_its_user_and_application_and_ends_with_it(
    services: Services, account: Opened, pool: Pool, begin: Begin, accept: Accept, leave: Run, *, ann: int
) -> None:
    first = await add_grant(pool, account.account_id, ann)
    await OAUTH_GRANTS.change(pool, scopes=["campaigns:read"])
    await begin(first)
    await accept(1)
    second = await add_next_grant(pool, scopes=["campaigns:send"])
    third = await add_next_grant(pool, scopes=["campaigns:send", "contacts:read"])

    outcomes = list[Any]()
    for label in (first, second, third):
        async with unit_of(services, Actor(account.account_id, ALL)) as unit:
            await revoke_grant(unit, label)
        await accept(1)
        outcomes.append(await CAMPAIGNS.only(pool, "status", "reason"))
    await leave()

    assert outcomes == [("sending", ""), ("sending", ""), ENDED]
    assert await calls(pool) == []


@pytest.mark.parametrize(
    "values",
    [
        {"scopes": []},
        {"resource": "http://tools"},
        {"created_at": ago(hours=1)},
        {"last_used_at": None},
        {"revoked_at": ago()},
        {"expires_at": ago()},
    ],
    ids=lambda values: next(iter(values)),
)
async def test_a_campaign_ends_with_its_connection_if_the_other_one_did_not_take_it_over(
    services: Services, account: Opened, pool: Pool, begin: Begin, accept: Accept, leave: Run, *, ann: int, values: Any
) -> None:
    first = await add_grant(pool, account.account_id, ann)
    await OAUTH_GRANTS.change(pool, scopes=["campaigns:send"])
    await begin(first)
    await accept(1)
    await add_next_grant(pool, **values)

    async with unit_of(services, Actor(account.account_id, ALL)) as unit:
        await revoke_grant(unit, first)
    await accept(1)
    await leave()

    assert await CAMPAIGNS.only(pool, "status", "reason") == ENDED
    assert await calls(pool) == []


async def test_a_connection_that_was_made_after_the_end_of_another_does_not_take_its_campaigns_over(
    services: Services, account: Opened, pool: Pool, begin: Begin, accept: Accept, leave: Run, *, ann: int
) -> None:
    first = await add_grant(pool, account.account_id, ann)
    await begin(first)
    async with unit_of(services, Actor(account.account_id, ALL)) as unit:
        await revoke_grant(unit, first)
    await add_next_grant(pool)

    await accept(2)
    await leave()

    assert await CAMPAIGNS.only(pool, "status", "reason") == ENDED
    assert await calls(pool) == []


async def test_a_step_that_found_the_sender_ended_does_not_pause_a_campaign_that_has_another_by_then(
    pool: Pool, begin: Begin, accept: Accept, runner: CampaignRunner, act: Act, ann: int
) -> None:
    campaign_id = await begin()
    await accept(1)
    await USERS.where(id=ann).change(pool, removed_at=ago())

    async with runner._due() as (connection, campaign):
        assert campaign
        reason = await runner._step(connection, campaign)
    assert reason
    await runner._stop(campaign, reason)
    stopped = await CAMPAIGNS.only(pool, "status", "reason")
    async with act() as unit:
        await service.resume(unit, campaign_id, consent_attested=True)
    await runner._stop(campaign, reason)

    assert stopped == ENDED
    assert await CAMPAIGNS.only(pool, "status", "reason") == ("sending", "")
