"""How the texts of several accounts, numbers and lanes share the calls to carriers."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.carriers.carrier import Accepted, Answer, OutboundMessage, Rejected
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages import outgoing
from app.domain.messages.handoff import Handoff
from app.domain.messages.models import Purpose
from app.domain.messages.outgoing import MOST_NUMBERS
from app.domain.messages.requests import Send
from app.domain.onboarding.service import Opened
from app.providers.carriers.sandbox.carrier import SandboxCarrier
from app.services import Services
from tests.domain.messages.handing import hand_over, through
from tests.factories.accounts import ACCOUNTS
from tests.factories.messages import MESSAGES, OUTGOING, states
from tests.factories.tables import ago
from tests.factories.traps import VisitedPool
from tests.waiting import until, within


class Noting(SandboxCarrier):
    """A carrier that notes what it is given, and answers at once, except to one number, which it never answers."""

    def __init__(self, pool: Pool, silent: str = "") -> None:
        super().__init__(pool, b"secret", 0, 10)
        self.silent = silent
        self.given: list[str] = []

    async def send(self, message: OutboundMessage) -> Answer:
        self.given.append(message.body)
        if message.to_number == self.silent:
            await within("the test to end", asyncio.get_running_loop().create_future())
        return Accepted(f"note_{message.reference}")


SILENT = "+15005550301"


@pytest.fixture
async def other(account: Opened, new_account: Callable[..., Any]) -> Opened:
    """Give a second account."""
    return await new_account()


@pytest.fixture
def carrier(pool: Pool) -> Noting:
    """Give a carrier that never answers one number."""
    return Noting(pool, SILENT)


def narrow(handoff: Handoff, carrier: SandboxCarrier, window: int) -> Handoff:
    """Return what hands off with few calls at a time."""
    return replace(through(handoff, carrier), pace=replace(handoff.pace, window=window))


async def test_lanes_go_in_the_order_compliance_reply_transactional_promotional(
    send: Callable[..., Any], text: Callable[..., Any], handoff: Handoff, carrier: Noting
) -> None:
    await send(body="promotion", purpose=Purpose.promotional)
    await send(body="code")
    await send(body="reply", purpose=Purpose.conversational)
    await text("HELP")

    await hand_over(narrow(handoff, carrier, 400))

    assert carrier.given[1:] == ["reply", "code", "promotion"]
    assert "HELP" not in carrier.given[0]
    assert len(carrier.given) == 4


async def test_urgent_texts_wait_for_no_promotions_and_promotions_for_the_urgent_ones_before_them(
    send: Callable[..., Any], handoff: Handoff, carrier: Noting, pool: Pool
) -> None:
    await send(body="promotion", purpose=Purpose.promotional)
    reached, may_go_on = asyncio.Event(), asyncio.Event()

    async def hold_promotions(statement: str, is_done: bool) -> None:
        if statement == outgoing.FIND_CLAIMED and not is_done and not reached.is_set():
            reached.set()
            await within("the urgent text", may_go_on.wait())

    visited: Any = VisitedPool(pool, hold_promotions)
    running = replace(through(handoff, carrier), database=replace(handoff.database, pool=visited))
    await running.run()
    await within("the promotion's batch", reached.wait())
    await send(body="code")
    await running.run()
    await until(lambda: _given(carrier, 1))
    may_go_on.set()
    await running.finish()

    assert carrier.given == ["code", "promotion"]


async def test_promotions_begin_after_the_urgent_texts_that_were_claimed_before_them(
    send: Callable[..., Any], handoff: Handoff, carrier: Noting, pool: Pool
) -> None:
    await send(body="promotion", purpose=Purpose.promotional)
    await send(body="code")
    begun = list[bool]()

    async def delay_the_first(statement: str, is_done: bool) -> None:
        if statement == outgoing.KEEP_FROM_OPTING_OUT and is_done:
            begun.append(True)
            await asyncio.sleep(0.2 if len(begun) == 1 else 0)

    visited: Any = VisitedPool(pool, delay_the_first)
    await hand_over(replace(through(handoff, carrier), database=replace(handoff.database, pool=visited)))

    assert carrier.given == ["code", "promotion"]


async def test_a_claim_of_urgent_texts_leaves_the_slots_of_a_claim_of_promotions_in_progress(
    services: Services, send: Callable[..., Any], other: Opened, handoff: Handoff, carrier: Noting, pool: Pool
) -> None:
    for number in range(8):
        await send(SILENT, f"promotion {number}", purpose=Purpose.promotional)
    reached, may_go_on = asyncio.Event(), asyncio.Event()

    async def hold_claim(statement: str, is_done: bool) -> None:
        if statement == outgoing.LOCK_WAITING and is_done and not reached.is_set():
            reached.set()
            await within("the other claim", may_go_on.wait())

    visited: Any = VisitedPool(pool, hold_claim)
    running = narrow(replace(handoff, database=replace(handoff.database, pool=visited)), carrier, 8)
    promoting = asyncio.create_task(running.run())
    await within("the claim of promotions", reached.wait())
    free = running.sends.free
    theirs = await _send(services, other, "theirs")
    await running.run()
    may_go_on.set()
    await promoting

    assert free == 0
    assert running.sends.free == 4
    assert await OUTGOING.where(message_id=theirs).count(pool) == 1
    assert await running.run()
    await until(lambda: _is_sent(services, theirs))


async def test_a_backlog_of_one_account_leaves_three_quarters_of_the_calls_to_others_that_wait(
    services: Services, send: Callable[..., Any], other: Opened, handoff: Handoff, carrier: Noting
) -> None:
    await asyncio.gather(*(send(body=f"mine {number}") for number in range(30)))
    await asyncio.gather(*(_send(services, other, f"theirs {number}") for number in range(30)))

    claimed = narrow(handoff, carrier, 16)
    await claimed.run()
    await claimed.finish()

    assert sorted(carrier.given) == [
        "mine 0",
        "mine 1",
        "mine 2",
        "mine 3",
        "theirs 0",
        "theirs 1",
        "theirs 2",
        "theirs 3",
    ]


async def test_an_account_of_weight_2_gets_twice_the_calls_of_one_of_weight_1(
    services: Services, send: Callable[..., Any], other: Opened, handoff: Handoff, carrier: Noting, pool: Pool
) -> None:
    await ACCOUNTS.where(id=other.account_id).change(pool, weight=2)
    await asyncio.gather(*(send(body=f"mine {number}") for number in range(30)))
    await asyncio.gather(*(_send(services, other, f"theirs {number}") for number in range(30)))

    claimed = narrow(handoff, carrier, 16)
    await claimed.run()
    await claimed.finish()

    assert sum(body.startswith("theirs") for body in carrier.given) == 6
    assert sum(body.startswith("mine") for body in carrier.given) == 4


async def test_a_weight_decides_no_lane(
    services: Services, send: Callable[..., Any], other: Opened, handoff: Handoff, carrier: Noting, pool: Pool
) -> None:
    await ACCOUNTS.where(id=other.account_id).change(pool, weight=100)
    await asyncio.gather(*(_send(services, other, f"theirs {number}", Purpose.promotional) for number in range(9)))
    await send(body="mine")

    claimed = narrow(handoff, carrier, 4)
    await claimed.run()
    await claimed.finish()

    assert carrier.given[0] == "mine"


async def test_an_account_with_many_unanswered_texts_leaves_questions_to_others(
    services: Services, send: Callable[..., Any], other: Opened, handoff: Handoff, pool: Pool
) -> None:
    mine = [await send(body=f"mine {number}") for number in range(20)]
    theirs = await _send(services, other, "theirs")
    await OUTGOING.change(pool, claimed_until=ago(hours=1))
    await OUTGOING.where(message_id=theirs).change(pool, claimed_until=ago(minutes=1))
    asked: list[int] = []

    class Asked(SandboxCarrier):
        async def find(self, message: OutboundMessage, since: datetime) -> Sequence[Accepted | Rejected]:
            asked.append(message.reference)
            return await within("the test to end", asyncio.get_running_loop().create_future())

    await narrow(handoff, Asked(pool, b"secret", 0, 10), 8).reconcile()
    await until(lambda: len(asked) == 5)

    assert sorted(asked) == [*(each.message_id for each in mine[:4]), theirs]


async def test_an_account_alone_leaves_as_many_calls_free_as_it_makes(
    services: Services, send: Callable[..., Any], other: Opened, handoff: Handoff, carrier: Noting
) -> None:
    await asyncio.gather(*(send(SILENT, f"unanswered {number}") for number in range(30)))
    slow = narrow(handoff, carrier, 16)
    while await slow.run():
        pass
    await until(lambda: _given(carrier, 8))
    theirs = await _send(services, other, "theirs")

    await slow.run()
    await until(lambda: _is_sent(services, theirs))

    assert [body for body in carrier.given if not body.startswith("unanswered")] == ["theirs"]


async def test_a_claim_that_leaves_no_room_is_not_followed_by_another_search(
    send: Callable[..., Any], handoff: Handoff, carrier: Noting, pool: Pool
) -> None:
    await asyncio.gather(*(send(SILENT, f"unanswered {number}") for number in range(30)))
    slow = narrow(handoff, carrier, 16)

    assert await slow.run() is False
    await until(lambda: _given(carrier, 8))

    assert await OUTGOING.count(pool) == 30


async def test_texts_without_room_are_announced_when_calls_have_ended(
    send: Callable[..., Any], handoff: Handoff, carrier: Noting, pool: Pool
) -> None:
    await asyncio.gather(*(send(body=f"text {number:02}") for number in range(40)))
    few = narrow(handoff, carrier, 8)
    running: set[asyncio.Task[None]] = set()

    async def refill() -> None:
        while await few.run():
            pass

    few.sends.watch(lambda: running.add(asyncio.create_task(refill())))
    await refill()
    await until(lambda: _given(carrier, 40))

    assert sorted(carrier.given) == [f"text {number:02}" for number in range(40)]
    await asyncio.gather(*running)
    await few.finish()
    assert await states(pool) == [("sent", None)] * 40


async def test_every_number_gets_its_turn_though_more_wait_than_one_claim_serves(
    send: Callable[..., Any], handoff: Handoff, carrier: Noting, pool: Pool
) -> None:
    first = await send(body="the last number")
    row = await OUTGOING.only(pool)
    values = {name: row[name] for name in ("account_id", "lane", "carrier")}
    for number in range(MOST_NUMBERS + 5):
        later = {"message_id": 10**9 + number, "number": f"+1200{number:03}", "due_at": ago(hours=-1)}
        await OUTGOING.insert(pool, **values, **later)

    await hand_over(narrow(handoff, carrier, 400))

    assert carrier.given == ["the last number"]
    assert await OUTGOING.where(message_id=first.message_id).count(pool) == 0


async def test_a_search_through_numbers_without_due_texts_ends_after_the_longest_lane(
    send: Callable[..., Any], handoff: Handoff, carrier: Noting, pool: Pool
) -> None:
    await send()
    row = await OUTGOING.only(pool)
    values = {name: row[name] for name in ("account_id", "carrier")}
    await OUTGOING.delete(pool)
    for lane, count in ((2, 2 * MOST_NUMBERS), (3, 3 * MOST_NUMBERS + 1)):
        for number in range(count):
            later = {"message_id": 10**9 + 1000 * lane + number, "number": f"+1200{number:03}", "due_at": ago(hours=-1)}
            await OUTGOING.insert(pool, **values, lane=lane, **later)
    noting, runs = narrow(handoff, carrier, 400), 1

    while await noting.run():
        runs += 1

    assert (runs, carrier.given) == (4, [])


async def test_a_text_that_is_no_longer_pending_leaves_the_queue_without_a_call(
    send: Callable[..., Any], handoff: Handoff, carrier: Noting, pool: Pool
) -> None:
    await send()
    row = await OUTGOING.only(pool)
    values = {name: row[name] for name in ("account_id", "lane", "carrier", "number", "due_at")}
    await OUTGOING.insert(pool, message_id=10**9, **values)

    await hand_over(through(handoff, carrier))

    assert carrier.given == ["Hello"]
    assert await OUTGOING.count(pool) == 0


async def _send(services: Services, account: Opened, body: str, purpose: Purpose = Purpose.transactional) -> int:
    actor = Actor(account.account_id, frozenset(), "key:2")
    send = Send("+12025550144", body, consent_attested=True, purpose=purpose)
    return (await services.acceptor.accept(actor, send)).message_id


async def _given(carrier: Noting, count: int) -> bool:
    return len(carrier.given) >= count


async def _is_sent(services: Services, message_id: int) -> bool:
    return await MESSAGES.where(id=message_id).only(services, "status") == "sent"
