"""Reports of carriers that race an erasure: none is left of a text that is gone."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.carriers.carrier import FailureCode, Receipt, ReceiptStatus
from app.domain.erasure import service as erasure
from app.domain.messages.handoff import Handoff
from app.services import Services
from tests.domain.messages.handing import hand_over
from tests.factories.billing import audit
from tests.factories.contacts import id_of_contact
from tests.factories.messages import CARRIER_IDS, MESSAGES, RECEIPTS, UNMATCHED_RECEIPTS, add_unmatched_receipt
from tests.factories.traps import until_blocked
from tests.waiting import within

Outcome = tuple[ReceiptStatus, FailureCode | None]
DELIVERED: Outcome = (ReceiptStatus.delivered, None)
FAILED: Outcome = (ReceiptStatus.failed, FailureCode.unreachable)


@pytest.mark.parametrize("outcome", [DELIVERED, FAILED])
async def test_a_report_that_comes_while_its_text_is_erased_is_dropped(
    services: Services,
    pool: Pool,
    send: Callable[..., Any],
    act: Callable[..., Any],
    handoff: Handoff,
    outcome: Outcome,
) -> None:
    sent = await send()
    await hand_over(handoff)
    status, code = outcome
    said = Receipt(f"sbx_{sent.message_id}", status, status.value, code, "", 1, sent.message_id)

    async with act() as unit:
        await erasure.erase(unit, await id_of_contact(pool))
        reporting = asyncio.create_task(services.receipts.receive("sandbox", said))
        await until_blocked(pool)
    await within("the report", reporting)

    assert (await MESSAGES.count(pool), await RECEIPTS.count(pool)) == (0, 0)
    await audit(pool)


async def test_a_report_that_was_matched_is_gone_when_its_text_is_erased_before_it_is_applied(
    services: Services, pool: Pool, send: Callable[..., Any], act: Callable[..., Any], handoff: Handoff
) -> None:
    sent = await send()
    await hand_over(handoff)
    await add_unmatched_receipt(pool, f"sbx_{sent.message_id}", message_id=sent.message_id)

    async with act() as unit:
        await erasure.erase(unit, await id_of_contact(pool))
        matching = asyncio.create_task(services.receipts.match())
        await until_blocked(pool)
    await within("the matching", matching)

    left = [await rows.count(pool) for rows in (MESSAGES, RECEIPTS, UNMATCHED_RECEIPTS, CARRIER_IDS)]
    assert left == [0, 0, 0, 0]
