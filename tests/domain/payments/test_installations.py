"""Several installations with one account of Stripe, and a restored one: none gets the payments of another."""

from dataclasses import replace
from typing import Any

import pytest

from app.domain.onboarding.service import Opened
from app.domain.payments import queries, service
from app.domain.payments.gateway import Order
from app.domain.payments.models import PlanStatus
from app.domain.payments.service import Payments
from app.services import Services
from tests.domain.payments.test_payments import (
    OpenUnit,
    act,
    booked,
    buy,
    deliver,
    order_plan,
    payments,
    peer,
    served,
)
from tests.factories.billing import PAYMENT_CUSTOMERS, PAYMENT_INSTALLATIONS, PAYMENTS, PLAN_SUBSCRIPTIONS
from tests.peers.stripe import StripePeer

__all__ = ["act", "payments", "peer", "served"]

pytestmark = pytest.mark.anyio


def order_of(installation: str, payments: Payments, account_id: int) -> Order:
    """Return an order of a plan by an account of an installation."""
    facts = 1000, 900, "USD", "Plan Starter", None, "ann@example.com", "https://example.com"
    return Order(account_id, f"{account_id}/a", *facts, installation, payments.plans[0])


def forget_installation(peer: StripePeer) -> None:
    """Take the installation from the metadata of all objects, as older versions of the service made them."""
    for each in peer.objects.values():
        for name in ("metadata", "_payment_metadata", "_plan_metadata"):
            each.get(name, {}).pop("installation", None)


async def test_another_installation_with_the_same_stripe_account_and_account_ids_is_another_customer(
    payments: Payments, peer: StripePeer, account: Opened
) -> None:
    orders = [order_of(each, payments, account.account_id) for each in ("one", "two", "one")]

    one, two, again = [await payments.gateway.start(replace(each, plan=None)) for each in orders]

    assert one == again
    assert one.customer != two.customer
    assert one.reference != two.reference


async def test_a_payment_and_a_plan_of_another_installation_are_no_concern_of_this_one(
    act: OpenUnit, payments: Payments, peer: StripePeer, services: Services, account: Opened
) -> None:
    await buy(act, payments, 500)
    subscription = peer.pay((await payments.gateway.start(order_of("two", payments, account.account_id))).url)
    facts = {"account_id": str(account.account_id), "credits": "700", "order": f"{account.account_id}/b"}
    peer.refund(peer.sell(facts | {"description": "700 credits", "installation": "two"}), 100)

    await deliver(payments, peer)

    assert await booked(services) == []
    assert await PLAN_SUBSCRIPTIONS.count(services) == 0
    assert await PAYMENTS.read(services, "status") == ["pending"]
    assert peer.objects[subscription]["status"] == "active"


async def test_an_account_id_that_no_account_can_have_is_no_concern_of_this_installation(
    payments: Payments, peer: StripePeer, services: Services, account: Opened
) -> None:
    peer.sell({"account_id": "9" * 30, "credits": "5", "order": "7", "description": "5 credits"})

    await deliver(payments, peer)

    assert await PAYMENTS.count(services) == 0


async def test_payments_and_plans_that_were_started_before_installations_had_keys_go_on(
    act: OpenUnit, payments: Payments, peer: StripePeer, services: Services
) -> None:
    page, plan = await buy(act, payments, 500), await order_plan(act, payments)
    forget_installation(peer)
    intent, subscription = peer.pay(page), peer.pay(plan)
    await deliver(payments, peer)
    assert sorted(await booked(services)) == [("purchase", 500), ("purchase", 1000)]

    await PAYMENT_CUSTOMERS.change(services, provider_id="cus_newer")
    peer.refund(intent, 500)
    peer.end(subscription)
    await deliver(payments, peer)

    assert (await booked(services))[-1] == ("reversal", -500)
    assert await PLAN_SUBSCRIPTIONS.only(services, "status") == PlanStatus.ended


async def test_an_account_that_gets_an_id_again_after_a_restore_gets_nothing_of_the_former_one(
    act: OpenUnit, payments: Payments, peer: StripePeer, services: Services
) -> None:
    told: list[tuple[str, dict[str, Any]]] = []
    payments = replace(payments, warn=lambda case, **facts: told.append((case, facts)))
    page = await buy(act, payments, 500, "key")
    for table in (PAYMENTS, PAYMENT_CUSTOMERS):
        await table.delete(services)
    await PAYMENT_INSTALLATIONS.insert(services, id=2)

    intent = peer.pay(page)
    await deliver(payments, peer)

    assert await booked(services) == []
    assert [(case, facts["reference"]) for case, facts in told][-1] == ("payment_unknown_since_restore", intent)
    assert await buy(act, payments, 500, "key") != page
    async with act() as unit:
        assert await queries.find_customer(unit, "stripe") != peer.objects[intent]["customer"]
        assert await service.find_card(unit, payments) is None


async def test_the_payments_that_a_backup_has_are_booked_after_its_restore(
    act: OpenUnit, payments: Payments, peer: StripePeer, services: Services
) -> None:
    page = await buy(act, payments, 500)
    await PAYMENT_INSTALLATIONS.insert(services, id=2)

    peer.pay(page)
    await deliver(payments, peer)

    assert await booked(services) == [("purchase", 500)]
