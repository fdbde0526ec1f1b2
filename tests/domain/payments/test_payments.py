"""Buying credits without a provider, and through Stripe with its SDK and a stand-in for its API."""

import asyncio
import random
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from typing import Any

import httpx2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from app.domain.billing import service as billing
from app.domain.kernel.errors import Conflict, InvalidInput, Unavailable
from app.domain.kernel.idempotency import IdempotencyKeyReused
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.onboarding.service import Opened
from app.domain.payments import queries, service
from app.domain.payments.gateway import Order, Plan, UnsignedPaymentEvent
from app.domain.payments.models import PaymentStatus, PlanStatus
from app.domain.payments.service import Payments
from app.providers.payments.stripe.gateway import Stripe
from app.services import Services
from tests.factories.accounts import ACCOUNTS
from tests.factories.billing import LEDGER_ENTRIES, PAYMENTS, audit, balance_of
from tests.peers.stripe import SECRET, StripePeer, serving

pytestmark = pytest.mark.anyio

STARTER = Plan("Starter", 1000, 900, "USD")
OpenUnit = Callable[[], AbstractAsyncContextManager[UnitOfWork]]


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[StripePeer, str]]:
    """Provide a peer and the address of its API."""
    peer = StripePeer()
    with serving(peer) as url:
        yield peer, url


@pytest.fixture
def peer(served: tuple[StripePeer, str]) -> StripePeer:
    """Provide a peer without objects."""
    peer = served[0]
    peer.__init__()
    return peer


@pytest.fixture
def payments(served: tuple[StripePeer, str], services: Services) -> Payments:
    """Provide payments through Stripe's SDK, which calls the peer."""
    return pay_through(served[1], services)


def pay_through(url: str, services: Services) -> Payments:
    """Return payments through Stripe's SDK, which calls an address."""
    gateway = Stripe("sk_test_key", SECRET, base_url=url)
    return Payments(
        gateway, [STARTER], "https://example.com", services.database.sessions, services.clock, services.notify
    )


@pytest.fixture
def act(unit_for: Callable[[Opened], Any], account: Opened) -> OpenUnit:
    """Provide a function that opens a unit of the account's."""
    return lambda: unit_for(account)


async def buy(act: OpenUnit, payments: Payments, credits: int, key: str | None = None) -> str:
    async with act() as unit:
        return (await service.top_up(unit, payments, credits, key)).url


async def order_plan(act: OpenUnit, payments: Payments) -> str:
    async with act() as unit:
        return await service.start_plan(unit, payments, "Starter")


async def deliver(payments: Payments, peer: StripePeer, *places: int) -> None:
    for place in places or range(len(peer.events)):
        await payments.receive(peer.events[place], peer.sign(peer.events[place]))


async def booked(services: Services) -> list[tuple[str, int]]:
    rows = await LEDGER_ENTRIES.read(services, "type", "amount")
    return [(row["type"], row["amount"]) for row in rows][1:]


async def test_without_a_provider_a_top_up_is_a_request_that_the_operator_confirms_once(
    act: OpenUnit, services: Services
) -> None:
    async with act() as unit:
        payment = await service.top_up(unit, services.payments, 500, "a")
        again = await service.top_up(unit, services.payments, 500, "a")
        with pytest.raises(IdempotencyKeyReused):
            await service.top_up(unit, services.payments, 501, "a")
        with pytest.raises(InvalidInput, match="not a plan on offer"):
            await service.start_plan(unit, services.payments, "Starter")
    assert (payment.id, payment.status, payment.amount, payment.currency) == (again.id, "requested", 500, "USD")
    assert await booked(services) == []

    for _ in range(2):
        async with act() as unit:
            await service.confirm(unit, payment.id)

    assert await booked(services) == [("purchase", 500)]
    assert await PAYMENTS.read(services, "status") == [PaymentStatus.paid]
    await audit(services)


async def test_an_event_delivered_five_times_in_any_order_credits_once(
    act: OpenUnit, payments: Payments, peer: StripePeer, services: Services
) -> None:
    url = await buy(act, payments, 500, "key")
    assert await buy(act, payments, 500, "key") == url
    peer.pay(url)

    await asyncio.gather(*(deliver(payments, peer, *order) for order in ((0, 1), (1, 0), (1, 1), (0, 0), (1, 0))))

    assert await booked(services) == [("purchase", 500)]
    assert await PAYMENTS.read(services, "status", "amount", "credits") == [("paid", 500, 500)]
    await audit(services)


async def test_a_payment_is_credited_even_if_its_start_was_not_recorded(
    act: OpenUnit, payments: Payments, peer: StripePeer, services: Services
) -> None:
    async def start_and_die() -> None:
        async with act() as unit:
            await service.top_up(unit, payments, 500)
            raise KeyError

    with pytest.raises(KeyError):
        await start_and_die()
    peer.pay(next(each["url"] for each in peer.objects.values() if each["object"] == "checkout.session"))

    await deliver(payments, peer)

    assert await booked(services) == [("purchase", 500)]


async def test_refunds_and_disputes_are_booked_and_sends_are_refused_below_zero(
    act: OpenUnit, payments: Payments, peer: StripePeer, services: Services
) -> None:
    intent = peer.pay(await buy(act, payments, 500))
    await deliver(payments, peer)
    async with act() as unit:
        await billing.debit(unit, 1400, "")

    peer.refund(intent, 101)
    peer.dispute(intent, "needs_response")
    await deliver(payments, peer)

    assert (await booked(services))[2:] == [("reversal", -101), ("dispute", -399)]
    assert await balance_of(services) == -400
    async with act() as unit:
        with pytest.raises(billing.InsufficientCredits):
            await billing.debit(unit, 1, "")
        await billing.grant(unit, 10, "")
    peer.dispute(intent, "won")
    await deliver(payments, peer, -1)
    assert (await booked(services))[-1] == ("dispute", 399)
    assert await balance_of(services) == 9
    assert await PAYMENTS.read(services, "status") == [PaymentStatus.paid]


async def test_a_plan_adds_its_credits_each_month_until_it_ends(
    act: OpenUnit, payments: Payments, peer: StripePeer, services: Services
) -> None:
    subscription = peer.pay(await order_plan(act, payments))
    await deliver(payments, peer)
    peer.renew(subscription)
    await deliver(payments, peer)

    async with act() as unit:
        [plan] = await queries.list_plans(unit)
        with pytest.raises(Conflict, match="The account pays the plan Starter"):
            await service.start_plan(unit, payments, "Starter")
        ending = await service.end_plan(unit, payments, plan.id)
        card = await service.find_card(unit, payments)
    assert (plan.plan, plan.credits, plan.amount) == ("Starter", 1000, 900)
    assert (ending.status, ending.is_ending) == (PlanStatus.active, True)
    assert card is not None
    assert (card.brand, card.last_four) == ("visa", "4242")

    peer.end(subscription)
    await deliver(payments, peer)

    assert await booked(services) == [("purchase", 1000)] * 2
    async with act() as unit:
        assert [plan.status for plan in await queries.list_plans(unit)] == [PlanStatus.ended]


@pytest.mark.parametrize(
    "reason",
    ["subscription_update", "manual", "automatic_pending_invoice_item_invoice", "subscription_threshold"],
)
async def test_a_plan_with_another_item_that_was_added_at_stripe_stays_the_plan_and_gets_its_credits_once(
    act: OpenUnit, payments: Payments, peer: StripePeer, services: Services, reason: str
) -> None:
    subscription = peer.pay(await order_plan(act, payments))
    peer.add_item(subscription, reason)

    await deliver(payments, peer)

    async with act() as unit:
        [plan] = await queries.list_plans(unit)
        ended = await payments.gateway.stop_plan(plan.provider_id)
    assert (plan.plan, plan.credits, plan.amount) == ("Starter", 1000, 900)
    assert ended is not None
    assert ended.status == "canceled"
    assert await booked(services) == [("purchase", 1000)]


async def test_a_new_page_for_a_plan_closes_the_earlier_one_so_that_no_two_are_paid(
    act: OpenUnit, payments: Payments, peer: StripePeer
) -> None:
    top_up = await buy(act, payments, 500)
    first, second = await order_plan(act, payments), await order_plan(act, payments)

    pages = [peer.objects[url.rpartition("/")[2]]["status"] for url in (top_up, first, second)]
    assert pages == ["open", "expired", "open"]


async def test_an_invoice_of_a_plan_is_a_payment_only_once_it_is_paid(
    act: OpenUnit, payments: Payments, peer: StripePeer, services: Services
) -> None:
    subscription = peer.pay(await order_plan(act, payments))
    peer.fail_to_renew(subscription)

    await deliver(payments, peer)

    assert await PAYMENTS.read(services, "status", "amount") == [("paid", 900)]
    assert await booked(services) == [("purchase", 1000)]


async def test_an_event_about_an_invoice_that_stripe_does_not_have_is_taken_so_that_it_is_not_sent_again(
    act: OpenUnit, payments: Payments, peer: StripePeer, services: Services
) -> None:
    subscription = peer.pay(await order_plan(act, payments))
    peer.announce(subscription)

    await deliver(payments, peer)

    assert await booked(services) == [("purchase", 1000)]


async def test_an_account_whose_customer_was_deleted_at_stripe_buys_as_another_one(
    act: OpenUnit, payments: Payments, peer: StripePeer, services: Services
) -> None:
    peer.pay(await order_plan(act, payments))
    await deliver(payments, peer)
    async with act() as unit:
        first = str(await queries.find_customer(unit, "stripe"))
    peer.delete_customer(first)
    await deliver(payments, peer)

    async with act() as unit:
        assert await service.find_card(unit, payments) is None
    peer.pay(await buy(act, payments, 500))
    url = await buy(act, payments, 600)
    await deliver(payments, peer)

    async with act() as unit:
        second = await queries.find_customer(unit, "stripe")
        assert await queries.find_running_plan(unit) is None
    assert second not in (None, first)
    assert peer.objects[url.rpartition("/")[2]]["customer"] == second
    assert await booked(services) == [("purchase", 1000), ("purchase", 500)]


async def test_an_event_is_refused_unsigned_and_asked_for_again_while_stripe_fails(
    act: OpenUnit, payments: Payments, peer: StripePeer, services: Services
) -> None:
    peer.pay(await buy(act, payments, 500))
    body = peer.events[-1]
    for signature in ("", "t=1,v1=00", peer.sign(body, at=1.0), peer.sign(body, secret="whsec_other")):
        with pytest.raises(UnsignedPaymentEvent):
            await payments.receive(body, signature)

    peer.failures = 3
    with pytest.raises(Unavailable):
        await payments.receive(body, peer.sign(body))
    assert await booked(services) == []

    await payments.receive(body, peer.sign(body))
    assert await booked(services) == [("purchase", 500)]


@pytest.mark.parametrize("status", [401, 403])
async def test_an_invalid_key_of_stripe_is_logged_and_neither_shown_to_tenants_nor_the_end_of_an_event(
    act: OpenUnit, payments: Payments, peer: StripePeer, services: Services, status: int
) -> None:
    peer.pay(await buy(act, payments, 500))
    body = peer.events[-1]
    peer.refusal = status, "The key sk_live_****1234 is invalid, or has too few permissions."

    with capture_logs() as logs:
        with pytest.raises(Unavailable):
            await payments.receive(body, peer.sign(body))
        with pytest.raises(Unavailable) as shown:
            await buy(act, payments, 600)

    assert "sk_live" not in str(shown.value)
    assert [(each["event"], each["log_level"]) for each in logs] == [("payment_provider_misconfigured", "warning")] * 2
    assert await PAYMENTS.count(services) == 1
    peer.refusal = None
    await payments.receive(body, peer.sign(body))
    assert await booked(services) == [("purchase", 500)]


@pytest.mark.parametrize(
    "metadata", [{}, {"order": "7"}, {"order": "7", "account_id": "acct_1"}, {"account_id": "1", "credits": "5"}]
)
async def test_a_payment_of_another_service_is_no_concern_of_this_one(
    payments: Payments, peer: StripePeer, services: Services, account: Opened, metadata: dict[str, str]
) -> None:
    peer.refund(peer.sell(metadata), 100)

    await deliver(payments, peer)

    assert await booked(services) == []
    assert await PAYMENTS.count(services) == 0


async def test_the_route_refuses_events_without_a_provider(http: httpx2.AsyncClient) -> None:
    answer = await http.post("/payments/stripe/webhook", content=b"{}")

    assert (answer.status_code, answer.json()["error_code"]) == (403, "unsigned_payment_event")


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("buy"), st.integers(50, 999)),
        st.tuples(st.just("plan"), st.integers(1, 2)),
        st.tuples(st.just("refund"), st.integers(1, 1000)),
        st.tuples(st.just("dispute"), st.sampled_from(["needs_response", "lost", "won"])),
        st.tuples(st.just("deliver"), st.integers(0, 30)),
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS, seed=st.integers(0, 10**6))
async def test_the_ledger_equals_the_record_of_stripe_in_any_order_of_events(
    act: OpenUnit, payments: Payments, peer: StripePeer, services: Services, steps: list[Any], seed: int
) -> None:
    account_id, first, intents = await ACCOUNTS.only(services, "id"), len(peer.events), list[str]()
    for kind, value in [("buy", 100), *steps]:
        if kind == "buy":
            intents.append(peer.pay(await buy(act, payments, value)))
        elif kind == "plan":
            order = Order(
                account_id,
                f"plan/{first}/{len(peer.events)}",
                1000,
                900,
                "USD",
                "",
                None,
                "ann@example.com",
                "https://example.com",
                await payments.installation(),
                STARTER,
            )
            subscription = peer.pay((await payments.gateway.start(order)).url, times=value)
            intents.append(peer.renew(subscription))
            peer.end(subscription)
        elif kind == "refund":
            peer.refund(intents[-1], value)
        elif kind == "dispute":
            peer.dispute(intents[-1], value)
        else:
            await deliver(payments, peer, first + value % (len(peer.events) - first))
    places = range(first, len(peer.events))
    chance = random.Random(seed)
    order = [*places, *chance.choices(places, k=5)]
    chance.shuffle(order)
    await deliver(payments, peer, *order)

    assert await balance_of(services) == 1000 + recorded_by(peer)
    await audit(services)


def recorded_by(peer: StripePeer) -> int:
    """Return the credits that the payments of a peer are worth, less what was refunded and is disputed."""
    return sum(worth(peer, each) for each in peer.objects.values() if each["object"] == "payment_intent")


def worth(peer: StripePeer, intent: dict[str, Any]) -> int:
    credits, amount = int(intent["metadata"].get("credits", 1000)), intent["amount"]
    refunded = credits * peer.objects[intent["latest_charge"]]["amount_refunded"] // amount
    disputes = [each for each in peer.objects.values() if each["object"] == "dispute"]
    held = [each for each in disputes if each["payment_intent"] == intent["id"] and each["status"] != "won"]
    return credits - refunded - min(credits - refunded, sum(credits * each["amount"] // amount for each in held))
