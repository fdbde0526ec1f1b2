"""Ending enrollments for what happened since: heard of at once, and looked at again before each step."""

from collections.abc import Callable
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.consent.service import Evidence
from app.domain.contacts import opt_outs
from app.domain.contacts import queries as contact_queries
from app.domain.contacts import service as contacts
from app.domain.sequences.steps import Drip
from tests.domain.sequences.conftest import after, bodies, standing
from tests.factories.contacts import id_of_contact
from tests.factories.sequences import SEQUENCE_ENROLLMENTS, SEQUENCES

EXITS = {
    "STOP": "contact_opted_out",
    "Yes, please call me": "replied",
    "Is this an automated reply?": "replied",
    "Wrong number": "contact_dnd",
}
"""Replies, and the exit reasons that they cause."""

STAYS = ["Liked “Welcome, Ann!”", "I'm driving with Do Not Disturb While Driving turned on. I'll see it later."]


@pytest.fixture
async def under_way(make: Callable[..., Any], enroll: Callable[..., Any], drip: Drip) -> int:
    """Give the id of an enrollment that has sent its first step."""
    enrolled = await enroll(await make())
    await drip.run()
    return enrolled.enrollment_id


@pytest.mark.parametrize(("said", "reason"), EXITS.items())
async def test_a_text_of_a_contact_ends_its_enrollment(
    under_way: int,
    text: Callable[..., Any],
    dispatch: Callable[..., Any],
    drip: Drip,
    said: str,
    reason: str,
) -> None:
    pool = drip.database.pool

    await text(said)
    await dispatch()
    await dispatch()

    assert await standing(pool) == [("exited", reason, 2)]
    row = await SEQUENCE_ENROLLMENTS.only(pool, "next_send_at", "ended_at")
    assert (row["next_send_at"], row["ended_at"] is None) == (None, False)
    assert not await after(drip, days=1).due()


@pytest.mark.parametrize("said", STAYS)
async def test_an_automatic_reply_of_a_phone_ends_no_enrollment(
    under_way: int,
    text: Callable[..., Any],
    dispatch: Callable[..., Any],
    drip: Drip,
    pool: Pool,
    said: str,
) -> None:
    await text(said)
    await dispatch()
    await after(drip, hours=2).run()

    assert await standing(pool) == [("finishing", "", 3)]


@pytest.mark.parametrize("said", list(EXITS))
async def test_a_step_is_not_sent_even_if_the_exit_event_was_not_dispatched(
    under_way: int, text: Callable[..., Any], drip: Drip, pool: Pool, said: str
) -> None:
    await text(said)

    await after(drip, hours=2).run()

    reason = "replied" if EXITS[said] == "contact_dnd" else EXITS[said]
    assert await standing(pool) == [("exited", reason, 2)]
    assert "How do you like it?" not in await bodies(pool)


async def test_do_not_disturb_ends_enrollments_and_lifting_it_does_not(
    under_way: int,
    act: Callable[..., Any],
    dispatch: Callable[..., Any],
    enroll: Callable[..., Any],
    make: Callable[..., Any],
    pool: Pool,
) -> None:
    for dnd in (True, False):
        async with act() as unit:
            await contacts.update(unit, await id_of_contact(pool), {"dnd_sms": dnd})
    again = await enroll(await make(name="Other"))
    await dispatch()

    assert again.already is False
    assert await standing(pool) == [("exited", "contact_dnd", 2), ("active", "", 1)]


async def test_a_step_that_meets_do_not_disturb_ends_the_enrollment(
    under_way: int, act: Callable[..., Any], drip: Drip, contact_id: int, pool: Pool
) -> None:
    async with act() as unit:
        await contacts.update(unit, contact_id, {"dnd_sms": True})

    await after(drip, hours=2).run()

    assert await standing(pool) == [("exited", "contact_dnd", 2)]


async def test_an_opt_out_ends_an_enrollment_even_after_a_new_consent(
    under_way: int, act: Callable[..., Any], drip: Drip, contact_id: int, pool: Pool
) -> None:
    async with act() as unit:
        await opt_outs.record_opt_out(unit, contact_id, Evidence("mail", "Stop."))
        await opt_outs.record_opt_in(unit, contact_id, Evidence("web_form", "I agree."))

    await after(drip, hours=2).run()

    assert await standing(pool) == [("exited", "contact_opted_out", 2)]


async def test_a_text_received_before_an_enrollment_does_not_end_it(
    text: Callable[..., Any],
    make: Callable[..., Any],
    enroll: Callable[..., Any],
    dispatch: Callable[..., Any],
    drip: Drip,
    pool: Pool,
) -> None:
    await text("STOP")
    await text("START")
    await enroll(await make())
    await dispatch()

    await drip.run()

    assert await standing(pool) == [("active", "", 2)]


async def test_only_the_contact_who_replied_is_taken_out(
    under_way: int,
    act: Callable[..., Any],
    enroll: Callable[..., Any],
    text: Callable[..., Any],
    dispatch: Callable[..., Any],
    pool: Pool,
) -> None:
    sequence_id = await SEQUENCES.only(pool, "id")
    async with act() as unit:
        other = await contacts.create(unit, {"phone": "+12025550144"})
    await enroll(sequence_id, other.id)

    await text("Thanks!", sender="+12025550144")
    await dispatch()

    assert await standing(pool) == [("active", "", 2), ("exited", "replied", 1)]


async def test_an_enrollment_during_a_longer_change_of_the_phone_ends(
    act: Callable[..., Any],
    make: Callable[..., Any],
    enroll: Callable[..., Any],
    drip: Drip,
    pool: Pool,
    contact_id: int,
) -> None:
    async with act() as unit:
        await contact_queries.get(unit, contact_id)
        await enroll(await make())
        await contacts.update(unit, contact_id, {"phone": "+12025550199"})

    await drip.run()

    assert await bodies(pool) == []
    assert await standing(pool) == [("exited", "phone_changed", 1)]
