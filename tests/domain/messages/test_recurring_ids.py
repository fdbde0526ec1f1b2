"""Ids that a carrier gives again, because its counter begins again."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.carriers.carrier import Accepted, FailureCode, Receipt, ReceiptStatus
from app.domain.erasure import service as erasure
from app.domain.messages.handoff import Handoff
from app.services import Services
from tests.domain.messages.handing import Absorbed, hand_over, through
from tests.factories.contacts import id_of_contact
from tests.factories.messages import CARRIER_IDS, MESSAGES
from tests.factories.tables import ago

pytestmark = pytest.mark.anyio

THEM, ANOTHER = "+12025550143", "+12025550144"

Accept = Callable[..., Awaitable[int]]
Report = Callable[..., Awaitable[None]]


@pytest.fixture
def accept(send: Callable[..., Any], handoff: Handoff, pool: Pool) -> Accept:
    """Provide a function that sends a text, which the carrier accepts under ids; it returns the id of the message."""

    async def accept(*ids: str, to: str = THEM, recur: bool = True) -> int:
        sent = await send(to)
        carrier = Absorbed(pool)
        carrier.answer.set_result(Accepted(ids[0], part_ids=ids, ids_recur=recur))
        await hand_over(through(handoff, carrier))
        return sent.message_id

    return accept


@pytest.fixture
def report(services: Services) -> Report:
    """Provide a function that gives receipts."""

    async def report(*ids: str, status: ReceiptStatus = ReceiptStatus.delivered) -> None:
        code = FailureCode.unreachable if status is ReceiptStatus.failed else None
        for id in ids:
            await services.receipts.receive("sandbox", Receipt(id, status, status.value, code))

    return report


async def states(pool: Pool) -> dict[int, tuple[str, str | None]]:
    rows = await MESSAGES.read(pool, "id", "status", "provider_message_id")
    return {id: (status, given) for id, status, given in rows}


@pytest.mark.parametrize("ids", [("77",), ("77", "78", "79")])
async def test_an_id_of_a_delivered_text_that_comes_again_is_the_id_of_the_later_text(
    accept: Accept, report: Report, pool: Pool, ids: tuple[str, ...]
) -> None:
    first = await accept(*ids)
    await report(*ids)
    second = await accept(*ids)

    await report(*ids, status=ReceiptStatus.failed)

    assert await states(pool) == {first: ("delivered", "77"), second: ("failed", "77")}
    assert {*await CARRIER_IDS.read(pool, "message_id")} == {second}


async def test_an_id_of_a_part_that_comes_again_is_the_id_of_the_later_text(
    accept: Accept, report: Report, pool: Pool
) -> None:
    first = await accept("77", "78")
    await report("77", "78")
    second = await accept("78")

    await report("78", status=ReceiptStatus.failed)

    assert await states(pool) == {first: ("delivered", "77"), second: ("failed", "78")}


async def test_an_id_of_a_text_that_awaits_its_report_stays_its_id(accept: Accept, report: Report, pool: Pool) -> None:
    first = await accept("77")
    second = await accept("77")

    await report("77")

    assert await states(pool) == {first: ("delivered", "77"), second: ("sent", None)}


async def test_an_id_of_a_text_whose_report_is_overdue_is_the_id_of_a_later_text(
    accept: Accept, report: Report, pool: Pool
) -> None:
    first = await accept("77")
    await MESSAGES.change(pool, sent_at=ago(hours=73))
    second = await accept("77")

    await report("77")

    assert await states(pool) == {first: ("sent", "77"), second: ("delivered", "77")}


async def test_an_id_of_a_carrier_that_gives_each_once_stays_that_of_the_first_text(
    accept: Accept, report: Report, pool: Pool
) -> None:
    first = await accept("77", recur=False)
    await report("77")
    second = await accept("77", recur=False)

    assert await states(pool) == {first: ("delivered", "77"), second: ("sent", None)}
    assert await CARRIER_IDS.only(pool, "message_id") == first


async def test_the_erasure_of_the_former_contact_leaves_the_id_to_the_later_text(
    accept: Accept, report: Report, act: Callable[[], Any], pool: Pool
) -> None:
    await accept("77")
    await report("77")
    former = await id_of_contact(pool)
    second = await accept("77", to=ANOTHER)

    async with act() as unit:
        await erasure.erase(unit, former)
    await report("77")

    assert await states(pool) == {second: ("delivered", "77")}
