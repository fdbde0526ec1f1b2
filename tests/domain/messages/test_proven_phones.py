"""Phones that their numbering plan has as landlines, or not at all, and that have texted us."""

from collections.abc import Callable
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.kernel.phone import InvalidPhone, LandlinePhone
from app.domain.messages.handoff import Handoff
from app.domain.messages.models import Purpose
from tests.domain.messages.handing import hand_over
from tests.factories.billing import audit, balance_of
from tests.factories.contacts import CONTACTS
from tests.factories.messages import OUTBOUND, states

LANDLINE, UNKNOWN, PREMIUM = "+442079460958", "+15555550144", "+449098790000"

EACH = pytest.mark.parametrize(("phone", "refusal"), [(LANDLINE, LandlinePhone), (UNKNOWN, InvalidPhone)])
PURPOSES = (Purpose.conversational, Purpose.transactional, Purpose.promotional)


@EACH
async def test_a_phone_that_has_texted_us_gets_texts(
    send: Callable[..., Any], text: Callable[..., Any], handoff: Handoff, pool: Pool, phone: str, refusal: Any
) -> None:
    await text("Hello", phone)

    for purpose in PURPOSES:
        await send(phone, purpose=purpose)

    await hand_over(handoff)
    assert await CONTACTS.only(pool, "reach") == "proven"
    assert {status for status, _ in await states(pool)} <= {"sent", "pending"}
    assert await OUTBOUND.read(pool, "to_number") == [phone] * 3
    await audit(pool)


@EACH
async def test_a_phone_that_has_not_texted_us_is_refused(
    send: Callable[..., Any], pool: Pool, phone: str, refusal: type[Exception]
) -> None:
    with pytest.raises(refusal):
        await send(phone)

    assert (await OUTBOUND.count(pool), await CONTACTS.count(pool), await balance_of(pool)) == (0, 0, 1000)


async def test_a_premium_rate_number_gets_no_texts_even_if_it_has_texted_us(
    send: Callable[..., Any], text: Callable[..., Any], pool: Pool
) -> None:
    await text("Hello", PREMIUM)

    with pytest.raises(InvalidPhone):
        await send(PREMIUM)

    assert (await OUTBOUND.count(pool), await balance_of(pool)) == (0, 1000)


async def test_a_carrier_that_refuses_the_phone_later_ends_the_proof_for_promotions(
    send: Callable[..., Any], text: Callable[..., Any], pool: Pool
) -> None:
    await text("Hello", LANDLINE)
    await CONTACTS.change(pool, reach="landline")

    with pytest.raises(LandlinePhone):
        await send(LANDLINE, purpose=Purpose.promotional)

    assert await OUTBOUND.count(pool) == 0
