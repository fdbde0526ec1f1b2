"""Receipts of the parts of a message, which have ids of their own."""

from collections.abc import Awaitable, Callable
from itertools import permutations
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.carriers.carrier import Accepted, FailureCode, Receipt, ReceiptStatus
from app.domain.erasure import service as erasure
from app.domain.messages.handoff import Handoff
from app.domain.messages.receipts import carrier_ids
from app.services import Services
from tests.domain.messages.handing import TO, Absorbed, hand_over, through
from tests.factories.billing import audit, entries
from tests.factories.contacts import id_of_contact
from tests.factories.events import event_names
from tests.factories.messages import CARRIER_IDS, MESSAGES, RECEIPTS, UNMATCHED_RECEIPTS

IDS = ("p1", "p2", "p3")

Report = Callable[..., Awaitable[None]]


@pytest.fixture
def report(services: Services) -> Report:
    async def receive(*ids: str, status: str = "delivered") -> None:
        code = FailureCode.unreachable if status == "failed" else None
        for id in ids:
            await services.receipts.receive("sandbox", Receipt(id, ReceiptStatus(status), status, code))

    return receive


async def accept(send: Callable[..., Any], handoff: Handoff, pool: Pool, ids: tuple[str, ...] = IDS) -> int:
    """Send a message whose parts get ids; return its id."""
    sent = await send()
    carrier = Absorbed(pool)
    carrier.answer.set_result(Accepted(ids[0], part_ids=ids))
    await hand_over(through(handoff, carrier))
    return sent.message_id


async def test_a_message_is_delivered_when_each_of_its_parts_is_in_any_order(
    send: Callable[..., Any], handoff: Handoff, pool: Pool, report: Report
) -> None:
    for number, order in enumerate(permutations(IDS)):
        ids = tuple(f"{id}-{number}" for id in IDS)
        message_id = await accept(send, handoff, pool, ids)
        statuses = []
        for id in order:
            await report(f"{id}-{number}", f"{id}-{number}")
            statuses.append(await MESSAGES.where(id=message_id).only(pool, "status"))

        assert statuses == ["sent", "sent", "delivered"]
        assert sorted(await RECEIPTS.where(message_id=message_id).read(pool, "part")) == [1, 2, 3]
    assert await event_names(pool, "message_delivered") == ["message_delivered"] * 6


async def test_a_message_fails_and_is_refunded_once_when_one_part_fails(
    send: Callable[..., Any], handoff: Handoff, pool: Pool, report: Report
) -> None:
    await accept(send, handoff, pool)

    await report("p1")
    await report("p2", status="failed")
    await report("p3", status="failed")
    await report("p3")

    assert await MESSAGES.only(pool, "status", "error_code") == ("failed", "unreachable")
    assert await event_names(pool, "message_failed") == ["message_failed"]
    assert await entries(pool) == [("debit", -1, 999), ("refund", 1, 1000)]
    await audit(pool)


async def test_reports_on_parts_that_overtake_the_answer_are_applied_after_it(
    services: Services, send: Callable[..., Any], handoff: Handoff, pool: Pool, report: Report
) -> None:
    await report(*IDS)
    assert await UNMATCHED_RECEIPTS.count(pool) == 3

    await accept(send, handoff, pool)
    await services.receipts.match()

    assert await MESSAGES.only(pool, "status") == "delivered"
    assert await UNMATCHED_RECEIPTS.count(pool) == 0


async def test_parts_with_one_id_are_one_part(
    send: Callable[..., Any], handoff: Handoff, pool: Pool, report: Report
) -> None:
    await accept(send, handoff, pool, ("same", "same", ""))

    await report("same")

    assert await MESSAGES.only(pool, "status") == "delivered"
    assert await CARRIER_IDS.read(pool, "provider_message_id", "part", "parts") == [("same", 1, 1)]


async def test_the_recipients_of_messages_are_found_by_the_ids_of_their_parts(
    send: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    await accept(send, handoff, pool)

    found = await carrier_ids.find_recipients(pool, "sandbox", ["p1", "p3", "p9"])

    assert found == {"p1": TO, "p3": TO}


async def test_the_ids_of_parts_are_free_again_once_the_contact_is_erased(
    send: Callable[..., Any], act: Callable[[], Any], handoff: Handoff, pool: Pool, report: Report
) -> None:
    await accept(send, handoff, pool)
    async with act() as unit:
        await erasure.erase(unit, await id_of_contact(pool))
    left = await CARRIER_IDS.count(pool)

    await accept(send, handoff, pool, ("p2", "p3"))
    await report("p2", "p3")

    assert left == 0
    assert await MESSAGES.only(pool, "status") == "delivered"
