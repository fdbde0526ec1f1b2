"""Contacts that are part of an audience and left alone: excluded segments, no consent, never reached, in a talk."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.db.engine import Pool
from app.domain.campaigns import service
from app.domain.campaigns.audience import Audience
from app.domain.campaigns.segment_uses import delete
from app.domain.consent import service as consent
from app.domain.consent.models import ConsentKind
from app.domain.consent.service import Evidence
from app.domain.kernel.errors import Conflict
from app.domain.segments import service as segments
from app.services import Services
from tests.domain.campaigns.conftest import Accept, Act, Make, Run, preview_of
from tests.factories.campaigns import CAMPAIGN_COUNTS, CAMPAIGN_RECIPIENTS, audit_counts, reasons, states
from tests.factories.contacts import CONTACTS
from tests.factories.conversations import CONVERSATIONS
from tests.factories.tables import ago

pytestmark = pytest.mark.anyio

Add = Callable[..., Awaitable[int]]
STAFF = {"field": "tags", "op": "has_any", "value": ["staff"]}
ANN, BEN, CAT = (f"+1202555014{number}" for number in range(3))


@pytest.fixture
def fail(pool: Pool, act: Act) -> Callable[..., Awaitable[None]]:
    """Provide a function that adds the results of earlier campaigns to a contact, one for each day ago."""

    async def fail(contact_id: int, *days: int, state: str = "failed", reason: str = "unreachable") -> None:
        async with act() as unit:
            account_id = unit.actor.account_id
        for number, day in enumerate(days):
            values = {"campaign_id": 10_000_000 + day * 1000 + contact_id, "phone": f"{contact_id}-{number}"}
            values |= {"account_id": account_id, "contact_id": contact_id, "state": state, "reason": reason}
            await CAMPAIGN_RECIPIENTS.insert(pool, **values, settled_at=ago(days=day))

    return fail


async def texted(pool: Pool) -> set[str]:
    """Return the phones that the newest campaign texted."""
    rows = await CAMPAIGN_RECIPIENTS.where(reason="", state="delivered").read(pool, "phone")
    return {*rows}


async def test_contacts_of_the_excluded_segment_get_no_text(
    pool: Pool, add: Add, send: Make, run: Run, act: Act
) -> None:
    await add(ANN, first_name="Ann", tags=["staff"])
    await add(BEN, first_name="Ben")
    async with act() as unit:
        staff = await segments.create(unit, "Staff", STAFF)

    await send(audience=Audience(everyone=True, excluded_segment_id=staff.id))
    await run()

    assert await reasons(pool) == {ANN: "excluded_segment"}
    assert await texted(pool) == {BEN}
    await audit_counts(pool)


async def test_a_segment_that_a_draft_excludes_is_not_deleted(act: Act, make: Make) -> None:
    async with act() as unit:
        staff = await segments.create(unit, "Staff", STAFF)
    await make(audience=Audience(everyone=True, excluded_segment_id=staff.id))

    async with act() as unit:
        with pytest.raises(Conflict, match="Sale"):
            await delete(unit, staff.id)


async def test_contacts_without_a_consent_of_their_own_get_no_text_where_it_is_required(
    pool: Pool, add: Add, send: Make, run: Run, act: Act
) -> None:
    for phone in (ANN, BEN, CAT):
        await add(phone)
    async with act() as unit:
        await consent.record(unit, ANN, ConsentKind.opt_in, Evidence("web_form", "Yes"))
        await consent.record(unit, BEN, ConsentKind.attested, Evidence("import", "Signed the form"))
        await consent.record(unit, CAT, ConsentKind.attested, Evidence("api"))

    await send(audience=Audience(everyone=True, requires_consent=True))
    await run()

    assert await reasons(pool) == {CAT: "no_consent"}
    assert await texted(pool) == {ANN, BEN}


async def test_contacts_that_wrote_within_a_day_are_left_alone_where_it_is_asked(
    pool: Pool, add: Add, send: Make, run: Run, text: Callable[..., Any]
) -> None:
    for phone in (ANN, BEN, CAT):
        await add(phone)
    await text("Which shoes?", ANN)
    await text("Thanks", BEN)
    contact_id = await CONTACTS.where(phone=BEN).only(pool, "id")
    await CONVERSATIONS.where(contact_id=contact_id).change(pool, last_inbound_at=ago(hours=25))

    await send(audience=Audience(everyone=True, skips_live_conversations=True))
    await run()

    assert await reasons(pool) == {ANN: "in_live_conversation"}
    assert await texted(pool) == {BEN, CAT}


@pytest.mark.parametrize(
    ("days", "suppressed"),
    [((30, 20, 1), True), ((14, 7, 1), True), ((13, 7, 1), False), ((30, 1), False), ((200, 150, 1), False)],
)
async def test_phones_that_were_not_reached_three_times_in_a_row_for_two_weeks_get_no_text(
    pool: Pool,
    add: Add,
    send: Make,
    run: Run,
    fail: Callable[..., Awaitable[None]],
    days: tuple[int, ...],
    *,
    suppressed: bool,
) -> None:
    await fail(await add(ANN), *days)
    await add(BEN)

    await send()
    await run()

    found = await CAMPAIGN_RECIPIENTS.where(phone=ANN).only(pool, "reason")
    assert found == ("unreachable_history" if suppressed else "")
    assert await texted(pool) == ({BEN} if suppressed else {ANN, BEN})


async def test_a_phone_that_was_reached_since_or_wrote_since_is_texted(
    pool: Pool, add: Add, send: Make, run: Run, fail: Callable[..., Awaitable[None]], text: Callable[..., Any]
) -> None:
    ann, ben, cat = [await add(phone) for phone in (ANN, BEN, CAT)]
    for contact_id in (ann, ben, cat):
        await fail(contact_id, 30, 20, 10)
    await fail(cat, 5, reason="filtered")
    await fail(ann, 4, state="delivered", reason="")
    await text("I am back", BEN)

    await send()
    await run()

    rows = await CAMPAIGN_RECIPIENTS.read(pool, "phone", "reason")
    assert {phone: reason for phone, reason in rows if phone in (ANN, BEN, CAT)} == {
        ANN: "",
        BEN: "",
        CAT: "unreachable_history",
    }


PEOPLE = st.lists(
    st.fixed_dictionaries(
        {
            "tags": st.sampled_from([[], ["staff"], ["old"]]),
            "dnd_sms": st.booleans(),
            "status": st.sampled_from(["active", "opted_out"]),
            "first_name": st.sampled_from(["", "Ann"]),
        }
    ),
    min_size=1,
    max_size=6,
)


CHOICES = st.fixed_dictionaries(dict.fromkeys(("requires_consent", "skips_live_conversations"), st.booleans()))


@pytest.fixture
def add_all(add: Add) -> Callable[[list[dict[str, Any]]], Awaitable[list[int]]]:
    """Provide a function that adds people, each with a phone of their own, and returns their ids."""
    numbers = iter(range(5550100, 5559999))

    async def add_all(people: list[dict[str, Any]]) -> list[int]:
        return [await add(f"+1202{next(numbers)}", **person) for person in people]

    return add_all


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=10)
@given(people=PEOPLE, choices=CHOICES, is_strict=st.booleans(), is_canceled=st.booleans())
async def test_suppressed_sent_and_canceled_recipients_add_up_to_any_audience(
    services: Services,
    add_all: Callable[[list[dict[str, Any]]], Awaitable[list[int]]],
    make: Make,
    accept: Accept,
    run: Run,
    act: Act,
    *,
    people: list[dict[str, Any]],
    choices: dict[str, Any],
    is_strict: bool,
    is_canceled: bool,
) -> None:
    ids = await add_all(people)
    audience = Audience(contact_ids=ids, excluded_tags=["staff"], **choices)
    campaign = await make(audience=audience, is_strict=is_strict)
    shown = await preview_of(services, act, campaign.id)
    async with act() as unit:
        await service.send(unit, campaign.id, service.Order(consent_attested=True))
    await accept(1)
    if is_canceled and shown.recipients:
        async with act() as unit:
            await service.cancel(unit, campaign.id)
    await run()

    found = await states(services, campaign_id=campaign.id)
    counted = await CAMPAIGN_COUNTS.where(campaign_id=campaign.id).read(services, "recipients")
    assert shown.recipients + sum(shown.excluded.values()) == shown.audience == len(ids)
    assert sum(counted) == sum(found.values()) == len(ids)
    assert found.get("suppressed", 0) == sum(shown.excluded.values())
    assert found.get("canceled" if is_canceled else "delivered", 0) == shown.recipients
    await audit_counts(services)
