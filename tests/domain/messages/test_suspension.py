"""A suspended account: what is refused, what goes on, and that resuming it restores it."""

from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from app.bootstrap import open_dispatcher
from app.db.engine import Pool
from app.domain.accounts import administration
from app.domain.accounts.errors import AccountSuspended
from app.domain.accounts.models import Account
from app.domain.accounts.sessions import Visitor
from app.domain.accounts.sign_in.authentication import SignInRefused
from app.domain.kernel.errors import NotFound
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages.handoff import Handoff
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.conftest import unit_of
from tests.domain.messages.handing import hand_over
from tests.factories.accounts import WAITING_MAILS
from tests.factories.billing import audit, balance_of
from tests.factories.contacts import CONTACTS
from tests.factories.messages import OUTBOUND, calls, states
from tests.factories.webhooks import WEBHOOK_DELIVERIES, add_subscription

Change = Callable[..., Any]
VISITOR = Visitor("127.0.0.1")


@pytest.fixture
def suspend(act: Callable[..., Any]) -> Change:
    """Give a function that suspends the account."""

    async def suspend() -> Account:
        async with act() as unit:
            return await administration.suspend(unit, "Unpaid.")

    return suspend


@pytest.fixture
def resume(act: Callable[..., Any]) -> Change:
    """Give a function that resumes the account."""

    async def resume() -> Account:
        async with act() as unit:
            return await administration.resume(unit)

    return resume


@pytest.fixture
async def signed_in(services: Services, account: Opened) -> str:
    """Give the token of a session that was begun before."""
    _, token = await services.authentication.enter(account.email, account.password, VISITOR)
    return token


async def test_a_suspended_account_sends_nothing_until_it_is_resumed(
    suspend: Change, resume: Change, send: Change, pool: Pool, account: Opened
) -> None:
    await suspend()
    with pytest.raises(AccountSuspended):
        await send()
    refused = await states(pool), await balance_of(pool, account.account_id)
    await resume()
    await send()

    assert refused == ([], 1000)
    assert await states(pool) == [("pending", None)]


async def test_its_keys_and_sessions_are_refused_until_it_is_resumed(
    services: Services, suspend: Change, resume: Change, api: httpx2.AsyncClient, account: Opened, signed_in: str
) -> None:
    await suspend()
    refused = (await api.get("/billing/balance")).status_code, await services.authentication.find(signed_in)
    with pytest.raises(SignInRefused):
        await services.authentication.enter(account.email, account.password, VISITOR)
    await resume()

    assert refused == (403, None)
    assert (await api.get("/billing/balance")).status_code == 200
    assert await services.authentication.find(signed_in) is not None
    await services.authentication.enter(account.email, account.password, VISITOR)


async def test_a_text_that_has_not_left_fails_and_is_refunded(
    suspend: Change, send: Change, handoff: Handoff, pool: Pool, account: Opened
) -> None:
    await send()
    await suspend()

    await hand_over(handoff)

    assert await states(pool) == [("failed", "account_suspended")]
    assert await calls(pool) == []
    assert await balance_of(pool, account.account_id) == 1000
    await audit(pool)


async def test_an_opt_out_is_heeded_and_answered_meanwhile(
    suspend: Change, text: Change, handoff: Handoff, pool: Pool
) -> None:
    await suspend()

    await text("STOP")
    await hand_over(handoff)

    assert await CONTACTS.read(pool, "status") == ["opted_out"]
    assert await OUTBOUND.read(pool, "status") == ["sent"]


async def test_its_webhooks_are_told_meanwhile(
    services: Services, suspend: Change, text: Change, account: Opened
) -> None:
    await add_subscription(services, account.account_id, kind="hook", events=["new_opt_out"])
    await suspend()

    await text("STOP")
    await open_dispatcher(services).run()

    assert await WEBHOOK_DELIVERIES.read(services, "event", "status") == [("new_opt_out", "pending")]


async def test_its_owners_are_mailed_why_and_again_when_it_is_resumed(
    suspend: Change, resume: Change, pool: Pool
) -> None:
    await suspend()
    await suspend()
    await resume()

    words = await WAITING_MAILS.read(pool, "words")
    assert [each["subject"] for each in words] == ["Your account is suspended", "Your account is active"]
    assert "Unpaid." in words[0]["opening"]


async def test_an_account_that_does_not_exist_is_not_suspended(services: Services) -> None:
    with pytest.raises(NotFound, match=r"^No account with id 4711.$"):
        async with unit_of(services, Actor(4711, frozenset())) as unit:
            await administration.suspend(unit, "")
