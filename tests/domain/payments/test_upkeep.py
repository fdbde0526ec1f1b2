"""Payments whose event never came, pages that nobody paid on, the portal, and what a deleted account would pay."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from app.domain.accounts.errors import AccountDeletionPending
from app.domain.kernel.errors import Conflict, Unavailable
from app.domain.payments import queries, service
from app.domain.payments.models import PlanStatus
from app.domain.payments.service import Payments
from app.domain.payments.upkeep import Upkeep
from app.services import Services
from tests.domain.erasure.deletions import ask, deletions, run_out
from tests.domain.payments.test_payments import (
    OpenUnit,
    act,
    booked,
    buy,
    deliver,
    order_plan,
    pay_through,
    peer,
    served,
)
from tests.factories.accounts import ACCOUNTS
from tests.factories.billing import PAYMENTS, PLAN_SUBSCRIPTIONS
from tests.factories.clocks import Moving
from tests.peers.stripe import StripePeer

__all__ = ["act", "peer", "served"]

pytestmark = pytest.mark.anyio


async def pay_plan(act: OpenUnit, payments: Payments, peer: StripePeer) -> tuple[int, str]:
    """Start and pay a plan; return the ids of the account and of the subscription."""
    async with act() as unit:
        account_id, page = unit.actor.account_id, await service.start_plan(unit, payments, "Starter")
    subscription = peer.pay(page)
    await deliver(payments, peer)
    return account_id, subscription


@pytest.fixture
def moving() -> Moving:
    """Provide a clock that the test moves."""
    return Moving()


@pytest.fixture
def payments(served: tuple[StripePeer, str], services: Services, moving: Moving) -> Payments:
    """Provide payments through Stripe's SDK, at the time that the test sets."""
    return replace(pay_through(served[1], services), clock=moving)


async def look(services: Services, payments: Payments) -> int:
    """Ask about every payment that is due; return the number of rounds."""
    upkeep, rounds = Upkeep(services.database, payments), 0
    while await upkeep.due():
        await upkeep.run()
        rounds += 1
    return rounds


async def test_a_payment_whose_event_never_came_is_credited_once_within_minutes(
    act: OpenUnit, payments: Payments, peer: StripePeer, services: Services, moving: Moving
) -> None:
    peer.pay(await buy(act, payments, 500))
    assert await look(services, payments) == 0

    moving.move(minutes=11)
    peer.failures = 3
    assert await look(services, payments) == 1
    assert await booked(services) == []
    moving.move(minutes=12)
    await look(services, payments)

    assert await booked(services) == [("purchase", 500)]
    for event in peer.events:
        await payments.receive(event, peer.sign(event, at=moving.now().timestamp()))
    moving.move(days=1)
    assert await look(services, payments) == 0
    assert await booked(services) == [("purchase", 500)]


async def test_the_provider_is_asked_ever_less_often_until_the_page_has_expired(
    act: OpenUnit, payments: Payments, peer: StripePeer, services: Services, moving: Moving
) -> None:
    url = await buy(act, payments, 500)

    rounds = 0
    for _ in range(24 * 6):
        moving.move(minutes=10)
        rounds += await look(services, payments)
    peer.objects[url.rpartition("/")[2]]["status"] = "expired"
    moving.move(days=2)
    await look(services, payments)

    assert 1 <= rounds <= 8
    assert await PAYMENTS.read(services, "status", "look_at") == [("expired", None)]
    assert await booked(services) == []


async def test_a_payment_after_a_declined_card_is_credited_though_its_event_never_came(
    act: OpenUnit, payments: Payments, peer: StripePeer, services: Services, moving: Moving
) -> None:
    url = await buy(act, payments, 500)
    peer.decline(url)
    await deliver(payments, peer)
    moving.move(minutes=11)
    await look(services, payments)
    assert await booked(services) == []

    intent = peer.pay(url)
    moving.move(minutes=12)
    await look(services, payments)

    assert await booked(services) == [("purchase", 500)]
    assert await PAYMENTS.read(services, "status", "provider_id", "look_at") == [("paid", intent, None)]


async def test_a_page_that_expired_after_a_declined_card_is_an_expired_payment(
    act: OpenUnit, payments: Payments, peer: StripePeer, services: Services, moving: Moving
) -> None:
    url = await buy(act, payments, 500)
    peer.decline(url)
    peer.objects[url.rpartition("/")[2]]["status"] = "expired"

    moving.move(days=1)
    await look(services, payments)

    assert await PAYMENTS.read(services, "status", "look_at") == [("expired", None)]
    assert await booked(services) == []


async def test_a_refund_that_a_process_with_a_slow_clock_reads_is_booked(
    act: OpenUnit, payments: Payments, peer: StripePeer, services: Services, moving: Moving
) -> None:
    fast = Moving()
    fast.move(minutes=4)
    page, plan = await buy(act, payments, 500), await order_plan(act, payments)
    intent, subscription = peer.pay(page), peer.pay(plan)
    await deliver(replace(payments, clock=fast), peer)

    peer.refund(intent, 500)
    peer.end(subscription)
    await deliver(payments, peer)

    assert (await booked(services))[-1] == ("reversal", -500)
    assert await PLAN_SUBSCRIPTIONS.only(services, "status") == PlanStatus.ended


@pytest.mark.parametrize("refusal", [None, (401, "Invalid API Key provided: sk_live_****1234")])
async def test_a_payment_whose_last_look_had_no_answer_is_looked_at_again_until_it_has_one(
    act: OpenUnit,
    payments: Payments,
    peer: StripePeer,
    services: Services,
    moving: Moving,
    refusal: tuple[int, str] | None,
) -> None:
    told: list[tuple[str, dict[str, Any]]] = []
    payments = replace(payments, warn=lambda case, **facts: told.append((case, facts)))
    url = await buy(act, payments, 500)
    peer.pay(url)
    peer.failures, peer.refusal = (0 if refusal else 3), refusal

    moving.move(days=8)
    assert await look(services, payments) == 1
    assert await booked(services) == []
    assert [(case, facts["reference"]) for case, facts in told] == [("payment_not_looked_up", url.rpartition("/")[2])]
    peer.refusal = None
    moving.move(days=1)
    await look(services, payments)

    assert await booked(services) == [("purchase", 500)]
    assert await PAYMENTS.read(services, "status", "look_at") == [("paid", None)]


async def test_a_payment_that_stripe_does_not_have_is_logged_and_no_longer_looked_at_after_a_week(
    act: OpenUnit, payments: Payments, peer: StripePeer, services: Services, moving: Moving
) -> None:
    told: list[str] = []
    payments = replace(payments, warn=lambda case, **_: told.append(case))
    peer.forget((await buy(act, payments, 500)).rpartition("/")[2])

    moving.move(days=6)
    await look(services, payments)
    moving.move(days=7)
    await look(services, payments)

    assert told == ["payment_not_looked_up"] * 2
    assert await PAYMENTS.read(services, "status", "look_at") == [("pending", None)]


async def test_the_portal_opens_after_the_first_purchase(
    act: OpenUnit, payments: Payments, peer: StripePeer, services: Services
) -> None:
    async with act() as unit:
        with pytest.raises(Conflict, match="bought nothing"):
            await service.open_portal(unit, payments)
        with pytest.raises(Conflict, match="Ask the operator"):
            await service.open_portal(unit, services.payments)
    await buy(act, payments, 500)

    async with act() as unit:
        assert await service.open_portal(unit, payments) == "https://billing.example/cus_1"


async def test_the_deletion_of_an_account_ends_its_plan_and_its_pages_first(
    act: OpenUnit, payments: Payments, peer: StripePeer, services: Services
) -> None:
    account_id, subscription = await pay_plan(act, payments, peer)
    page = await buy(act, payments, 500)
    peer.decline(page)
    await deliver(payments, peer, -1)
    await ask(services, account_id)

    peer.failures = 3
    with pytest.raises(Unavailable):
        await replace(deletions(services), prepare=payments.release).run()
    assert await ACCOUNTS.only(services, "status") == "active"
    await run_out(replace(deletions(services, minutes=6), prepare=payments.release))

    assert peer.objects[subscription]["status"] == "canceled"
    assert peer.objects[page.rpartition("/")[2]]["status"] == "expired"
    assert await ACCOUNTS.only(services, "status") == "deleted"
    assert await PLAN_SUBSCRIPTIONS.count(services) == 0


async def test_the_deletion_of_an_account_closes_the_open_page_of_a_plan(
    act: OpenUnit, payments: Payments, peer: StripePeer, services: Services
) -> None:
    page = await order_plan(act, payments)
    account_id = await ACCOUNTS.only(services, "id")
    await ask(services, account_id)

    peer.failures = 3
    with pytest.raises(Unavailable):
        await payments.release(account_id)
    assert peer.objects[page.rpartition("/")[2]]["status"] == "open"
    await run_out(replace(deletions(services), prepare=payments.release))

    assert peer.objects[page.rpartition("/")[2]]["status"] == "expired"
    assert await ACCOUNTS.only(services, "status") == "deleted"


async def test_an_account_whose_customer_stripe_does_not_have_is_deleted(
    act: OpenUnit, payments: Payments, peer: StripePeer, services: Services
) -> None:
    await order_plan(act, payments)
    async with act() as unit:
        account_id, customer = unit.actor.account_id, await queries.find_customer(unit, "stripe")
    peer.forget(str(customer))

    await payments.release(account_id)

    await ask(services, account_id)
    await run_out(replace(deletions(services), prepare=payments.release))
    assert await ACCOUNTS.only(services, "status") == "deleted"


async def test_a_plan_and_a_page_that_stripe_does_not_have_do_not_hold_up_a_deletion(
    act: OpenUnit, payments: Payments, peer: StripePeer, services: Services
) -> None:
    told: list[str] = []
    payments = replace(payments, warn=lambda case, **_: told.append(case))
    account_id, subscription = await pay_plan(act, payments, peer)
    page = await buy(act, payments, 500)
    peer.forget(subscription)
    peer.forget(page.rpartition("/")[2])

    peer.failures = 3
    with pytest.raises(Unavailable):
        await payments.release(account_id)
    assert await PLAN_SUBSCRIPTIONS.only(services, "status") == "active"
    await payments.release(account_id)
    assert await PLAN_SUBSCRIPTIONS.only(services, "status") == "ended"
    await ask(services, account_id)
    await run_out(replace(deletions(services), prepare=payments.release))

    assert await ACCOUNTS.only(services, "status") == "deleted"
    assert told == ["plan_unknown_to_provider"]


async def test_a_plan_that_stripe_canceled_meanwhile_does_not_hold_up_a_deletion(
    act: OpenUnit, payments: Payments, peer: StripePeer, services: Services
) -> None:
    account_id, subscription = await pay_plan(act, payments, peer)
    peer.end(subscription)

    await payments.release(account_id)
    assert await PLAN_SUBSCRIPTIONS.only(services, "status") == "ended"


@pytest.mark.parametrize("lose", [StripePeer.forget, StripePeer.end])
async def test_a_plan_that_stripe_does_not_have_or_has_canceled_ends_now_and_another_can_be_started(
    act: OpenUnit, payments: Payments, peer: StripePeer, lose: Callable[[StripePeer, str], object]
) -> None:
    _, subscription = await pay_plan(act, payments, peer)
    lose(peer, subscription)

    async with act() as unit:
        assert (running := await queries.find_running_plan(unit))
        assert (await service.end_plan(unit, payments, running.id)).status == PlanStatus.ended
    async with act() as unit:
        assert await service.start_plan(unit, payments, "Starter")


async def test_a_payment_for_a_deleted_account_is_reported_to_the_operator_and_its_plan_ends(
    act: OpenUnit, payments: Payments, peer: StripePeer, services: Services
) -> None:
    told: list[str] = []
    payments = replace(payments, warn=lambda case, **_: told.append(case))
    async with act() as unit:
        plan = await service.start_plan(unit, payments, "Starter")
    page = await buy(act, payments, 500)
    await ACCOUNTS.change(services, status="deleted")

    subscription = peer.pay(plan)
    peer.pay(page)
    await deliver(payments, peer)

    assert peer.objects[subscription]["status"] == "canceled"
    assert set(told) == {"plan_of_deleted_account", "payment_of_deleted_account"}
    assert await booked(services) == []


async def test_only_money_without_credits_is_reported_for_a_deleted_account(
    act: OpenUnit, payments: Payments, peer: StripePeer, services: Services
) -> None:
    told: list[tuple[str, str]] = []
    payments = replace(payments, warn=lambda case, **facts: told.append((case, facts["reference"])))
    known = peer.pay(await buy(act, payments, 500))
    plan = peer.pay(await order_plan(act, payments))
    await deliver(payments, peer)
    declined, late = await buy(act, payments, 600), await buy(act, payments, 700)
    await ACCOUNTS.change(services, status="deleted")
    await PAYMENTS.delete(services)

    peer.refund(known, 100)
    peer.end(plan)
    peer.decline(declined)
    stray = peer.pay(late)
    await deliver(payments, peer)
    assert set(told) == {("payment_of_deleted_account", stray)}

    told.clear()
    peer.refund(stray, 700)
    await deliver(payments, peer, -1)
    assert told == []
    assert await booked(services) == [("purchase", 500), ("purchase", 1000)]


async def test_an_account_pending_deletion_cannot_buy(
    act: OpenUnit, payments: Payments, peer: StripePeer, services: Services
) -> None:
    await ACCOUNTS.change(services, deletion_at=services.clock.now() + timedelta(days=30))

    for buying in (service.top_up, service.start_plan):
        async with act() as unit:
            with pytest.raises(AccountDeletionPending):
                await buying(unit, payments, 500 if buying is service.top_up else "Starter")

    assert peer.requests == 0
    assert await PAYMENTS.count(services) == 0
