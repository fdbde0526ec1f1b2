"""Months of plans that were paid by other means than a payment of Stripe."""

from typing import Any

import pytest

from app.domain.payments.service import Payments
from app.services import Services
from tests.domain.payments.test_payments import OpenUnit, act, booked, deliver, order_plan, payments, peer, served
from tests.peers.stripe import StripePeer

__all__ = ["act", "payments", "peer", "served"]

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(("kind", "refunded"), [("charge", 90), ("payment_record", {"value": 90, "currency": "usd"})])
async def test_a_month_that_was_paid_without_a_payment_intent_is_credited_and_its_refund_booked(
    act: OpenUnit, payments: Payments, peer: StripePeer, services: Services, kind: str, refunded: Any
) -> None:
    subscription = peer.pay(await order_plan(act, payments))
    paid = peer.renew_through(subscription, kind)
    await deliver(payments, peer)
    assert await booked(services) == [("purchase", 1000)] * 2

    peer.objects[paid]["amount_refunded"] = refunded
    await deliver(payments, peer, -1)

    assert await booked(services) == [("purchase", 1000), ("purchase", 1000), ("reversal", -100)]
