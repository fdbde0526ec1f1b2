"""Stripe's adapter: pages that show a card hold up nothing else, and keys of callers may have any characters."""

import asyncio
import os
import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest

from app.domain.kernel.errors import Unavailable
from app.domain.payments.gateway import Order
from app.providers.payments.stripe.gateway import Stripe
from tests.peers.stripe import SECRET, StripePeer, serving
from tests.waiting import PATIENCE_SECONDS, until, within

pytestmark = pytest.mark.anyio

ORDER = Order(1, "1/key", 500, 500, "USD", "500 credits", None, "ann@example.com", "https://example.com", "key")


@pytest.fixture
def peer() -> StripePeer:
    """Provide a peer without objects."""
    return StripePeer()


@pytest.fixture
def stripe(peer: StripePeer) -> Iterator[Stripe]:
    """Provide the adapter, whose calls the peer answers."""
    with serving(peer) as url:
        yield Stripe("sk_test_key", SECRET, base_url=url)


async def test_cards_that_stripe_does_not_return_hold_up_no_purchase_and_no_work_in_the_threads_of_others(
    peer: StripePeer, stripe: Stripe
) -> None:
    answers, asked = threading.Event(), list[str]()

    def hang(_: str, names: list[str]) -> None:
        if names[-1] == "payment_methods":
            asked.append(names[1])
            answers.wait(PATIENCE_SECONDS)

    customer = str((await stripe.start(ORDER)).customer)
    peer.before = hang
    many = 2 * ((os.cpu_count() or 1) + 4)
    pages = [asyncio.create_task(stripe.find_card(customer)) for _ in range(many)]
    try:
        await until(lambda: asked)
        await within("a thread", asyncio.to_thread(lambda: None))
        assert (await within("a purchase", stripe.start(ORDER))).customer == customer
    finally:
        answers.set()
        await within("the pages", asyncio.wait(pages))


@pytest.mark.parametrize("key", ["1/Bestellung ✓", "1/line\nbreak", "1/é", "1/" + "🙂" * 200])
async def test_an_order_is_started_once_whatever_the_characters_of_its_key(
    peer: StripePeer, stripe: Stripe, key: str
) -> None:
    order = replace(ORDER, key=key)

    first, again = await stripe.start(order), await stripe.start(order)

    assert first == again
    pages = [each for each in peer.objects.values() if each["object"] == "checkout.session"]
    assert [page["_payment_metadata"]["order"] for page in pages] == [key]


async def test_a_card_is_asked_for_once(peer: StripePeer, stripe: Stripe) -> None:
    customer = str((await stripe.start(ORDER)).customer)
    before, peer.failures = peer.requests, 1

    with pytest.raises(Unavailable):
        await stripe.find_card(customer)

    assert peer.requests == before + 1
