"""Pages for plans that are paid, closed and made at the same time: an account pays one plan."""

import asyncio
from collections.abc import Callable

import pytest

from app.domain.billing import queries as billing
from app.domain.payments import queries, service
from app.domain.payments.gateway import Order, PaymentRefused
from app.domain.payments.service import Payments
from tests.domain.payments.test_payments import OpenUnit, act, buy, deliver, payments, peer, served
from tests.peers.stripe import StripePeer

__all__ = ["act", "payments", "peer", "served"]

pytestmark = pytest.mark.anyio


def once_before(peer: StripePeer, method: str, last: str, happens: Callable[[], object]) -> None:
    """Let something happen as soon as a request arrives, before it is answered."""

    def look(asked: str, names: list[str]) -> None:
        if (asked, names[-1]) == (method, last):
            peer.before = lambda _, __: None
            happens()

    peer.before = look


def status_of(peer: StripePeer, url: str) -> str:
    return peer.objects[url.rpartition("/")[2]]["status"]


def pages_of(peer: StripePeer) -> list[str]:
    return [each["status"] for each in peer.objects.values() if each["object"] == "checkout.session"]


async def start(act: OpenUnit, payments: Payments) -> str:
    async with act() as unit:
        return await service.start_plan(unit, payments, "Starter")


async def test_a_page_that_is_paid_as_a_new_one_is_made_leaves_no_second_page(
    act: OpenUnit, payments: Payments, peer: StripePeer
) -> None:
    first = await start(act, payments)
    once_before(peer, "POST", "expire", lambda: peer.pay(first))

    with pytest.raises(PaymentRefused, match="was paid a moment ago"):
        await start(act, payments)

    await deliver(payments, peer)
    assert pages_of(peer) == ["complete", "expired"]
    async with act() as unit:
        assert len(await queries.list_plans(unit)) == 1


async def test_a_page_is_not_offered_while_the_event_of_a_paid_plan_is_on_its_way(
    act: OpenUnit, payments: Payments, peer: StripePeer
) -> None:
    subscription = peer.pay(await start(act, payments))

    with pytest.raises(PaymentRefused, match="was paid a moment ago"):
        await start(act, payments)
    assert pages_of(peer) == ["complete", "expired"]

    peer.end(subscription)
    assert status_of(peer, await start(act, payments)) == "open"


async def test_of_two_pages_that_are_made_at_the_same_time_one_stays_open(
    act: OpenUnit, payments: Payments, peer: StripePeer
) -> None:
    await start(act, payments)
    async with act() as unit:
        account, customer = unit.actor.account_id, await queries.find_customer(unit, "stripe")
    plan, made = payments.plans[0], list[str]()
    facts = plan.credits, plan.amount, plan.currency, "Plan Starter", customer, "ann@example.com", payments.return_url
    other = Order(account, "other", *facts, await payments.installation(), plan)
    once_before(peer, "GET", "sessions", lambda: made.append(asyncio.run(payments.gateway.start(other)).url))

    with pytest.raises(PaymentRefused, match="made at the same time"):
        await start(act, payments)

    assert pages_of(peer) == ["expired", "expired", "open"]
    assert status_of(peer, made[0]) == "open"


async def test_two_users_who_start_the_first_plan_at_the_same_time_do_so_as_one_customer(
    act: OpenUnit, payments: Payments, peer: StripePeer
) -> None:
    async with act() as unit:
        account = unit.actor.account_id
    plan = payments.plans[0]
    facts = plan.credits, plan.amount, plan.currency, "Plan Starter", None
    ann, bea = (
        Order(account, name, *facts, f"{name}@example.com", payments.return_url, "key", plan) for name in ("ann", "bea")
    )
    once_before(peer, "POST", "sessions", lambda: asyncio.run(payments.gateway.start(bea)))

    await payments.gateway.start(ann)

    assert pages_of(peer) == ["expired", "open"]
    assert len([each for each in peer.objects.values() if each["object"] == "customer"]) == 1


async def test_the_month_of_a_plan_whose_invoice_event_was_lost_is_credited_with_the_next_event_of_the_plan(
    act: OpenUnit, payments: Payments, peer: StripePeer
) -> None:
    subscription = peer.pay(await start(act, payments))
    lost = [each for each in peer.events if b'"invoice.paid"' not in each]
    assert len(lost) < len(peer.events)
    peer.events[:] = lost

    await deliver(payments, peer)

    async with act() as unit:
        [plan] = await queries.list_plans(unit)
        assert (plan.provider_id, (await billing.get_balance(unit)).balance) == (subscription, 2000)


async def test_a_page_that_is_paid_as_it_is_closed_is_no_fault(
    act: OpenUnit, payments: Payments, peer: StripePeer
) -> None:
    url = await buy(act, payments, 500)
    once_before(peer, "POST", "expire", lambda: peer.pay(url))

    await payments.gateway.close(url.rpartition("/")[2])

    assert status_of(peer, url) == "complete"
