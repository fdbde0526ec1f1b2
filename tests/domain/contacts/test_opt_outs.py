"""Opting out and in, holds, and the record of all of it."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from app.domain.consent import queries as consents
from app.domain.consent import service as consent
from app.domain.consent.models import ConsentKind
from app.domain.consent.service import Evidence
from app.domain.contacts import opt_outs, queries, service
from app.domain.contacts.models import Contact
from app.domain.erasure import service as erasure
from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.onboarding.service import Opened
from tests.domain.conftest import NOON, Recorded, SetClock, UnitFor

PHONE, OTHER = "+12025550143", "+12025550144"
DAY = timedelta(hours=24)


@pytest.fixture
async def contact(account: Opened, unit_for: UnitFor) -> Contact:
    """Give a contact, committed."""
    async with unit_for(account) as unit:
        return await service.create(unit, {"phone": PHONE, "first_name": "Ann"})


async def test_an_opt_out_by_keyword_suppresses_the_phone_and_is_recorded_and_told(
    account: Opened, unit_for: UnitFor, contact: Contact, recorded: Recorded
) -> None:
    async with unit_for(account) as unit:
        unit.clock = SetClock()
        mine = await queries.get(unit, contact.id, lock=True)

        changed = await opt_outs.opt_out(unit, mine, "STOP", "keyword", Evidence("keyword", "Stop!", 7))

        assert (changed, mine.status, mine.score) == (True, "opted_out", 0)
        suppression = await consents.find_suppression(unit, PHONE)
        assert suppression is not None
        assert (suppression.reason, suppression.keyword) == ("keyword", "STOP")
        assert await _records(unit) == [("opt_out", "keyword", "Stop!", 7, "test")]
    who = {"contact_id": contact.id, "first_name": "Ann", "last_name": "", "phone": PHONE, "email": ""}
    event = {**who, "opted_out_at": "2026-11-21T12:00:00.000Z", "keyword": "STOP"}
    assert (await recorded())[1:] == [("new_opt_out", event)]


async def test_a_second_opt_out_is_recorded_but_not_told_again(
    account: Opened, unit_for: UnitFor, contact: Contact, recorded: Recorded
) -> None:
    async with unit_for(account) as unit:
        mine = await queries.get(unit, contact.id, lock=True)
        answers = [await opt_outs.opt_out(unit, mine, word, "keyword", Evidence("keyword")) for word in ("STOP", "END")]

        suppression = await consents.find_suppression(unit, PHONE)
        assert suppression is not None
        assert (answers, suppression.keyword, len(await _records(unit))) == ([True, False], "STOP", 2)
    assert [name for name, _ in await recorded()] == ["new_contact", "new_opt_out"]


async def test_an_opt_out_can_be_recorded_by_hand(
    account: Opened, unit_for: UnitFor, contact: Contact, recorded: Recorded
) -> None:
    async with unit_for(account) as unit:
        given = Evidence(" letter ", " Please take me off your list for good ")
        mine = await opt_outs.record_opt_out(unit, contact.id, given)

        assert mine.status == "opted_out"
        suppression = await consents.find_suppression(unit, PHONE)
        assert suppression is not None
        assert (suppression.reason, suppression.keyword) == ("recorded", "Please take me off your list…")
        text = " Please take me off your list for good "
        assert await _records(unit) == [("revoked_other", "letter", text, None, "test")]
    assert (await recorded())[-1][1]["keyword"] == "Please take me off your list…"


async def test_an_opt_out_by_hand_needs_a_method_but_no_words(unit: UnitOfWork, contact: Contact) -> None:
    with pytest.raises(InvalidInput, match=r"^method must not be empty.$"):
        await opt_outs.record_opt_out(unit, contact.id, Evidence(" ", "Stop"))

    assert (await opt_outs.record_opt_out(unit, contact.id, Evidence("verbal", ""))).status == "opted_out"


@pytest.mark.parametrize(("method", "text", "missing"), [("", "I agree.", "method"), ("web_form", " \n", "text")])
async def test_an_opt_in_needs_a_method_and_the_words_agreed_to(
    unit: UnitOfWork, contact: Contact, method: str, text: str, missing: str
) -> None:
    await opt_outs.record_opt_out(unit, contact.id, Evidence("verbal", ""))

    with pytest.raises(InvalidInput, match=f"^{missing} must not be empty.$"):
        await opt_outs.record_opt_in(unit, contact.id, Evidence(method, text))

    assert (await queries.get(unit, contact.id)).status == "opted_out"
    assert await consents.find_suppression(unit, PHONE) is not None
    assert len(await _records(unit)) == 1


async def test_a_recorded_opt_in_lifts_an_opt_out(unit: UnitOfWork, contact: Contact) -> None:
    await opt_outs.record_opt_out(unit, contact.id, Evidence("verbal", "Stop"))

    mine = await opt_outs.record_opt_in(unit, contact.id, Evidence("web_form", "I agree to texts."))

    assert (mine.status, mine.score) == ("active", 15)
    assert await consents.find_suppression(unit, PHONE) is None
    assert await _records(unit) == [
        ("revoked_other", "verbal", "Stop", None, "test"),
        ("re_opt_in", "web_form", "I agree to texts.", None, "test"),
    ]


async def test_the_newest_100_records_of_each_phone_are_found_the_oldest_of_them_first(
    account: Opened, unit_for: UnitFor
) -> None:
    async with unit_for(account) as unit:
        for number in range(101):
            for phone in (PHONE, OTHER):
                await consent.record(unit, phone, ConsentKind.attested, Evidence(f"{phone} {number}"))

        found = await consents.find_consents(unit, [PHONE, OTHER, "+12025550199"])

        for phone in (PHONE, OTHER):
            mine = [each.method for each in found if each.phone == phone]
            assert mine == [f"{phone} {number}" for number in range(1, 101)]
        assert len(found) == 200


async def test_a_change_of_consent_dates_the_contact_and_a_repetition_does_not(
    unit: UnitOfWork, contact: Contact
) -> None:
    clock = unit.clock = SetClock()

    async def dated(change: Awaitable[Any]) -> bool:
        clock.at += timedelta(seconds=1)
        await change
        return (await queries.get(unit, contact.id)).updated_at == clock.at

    mine = await queries.get(unit, contact.id, lock=True)
    changes = [
        opt_outs.hold(unit, mine),
        opt_outs.hold(unit, mine),
        opt_outs.release_hold(unit, contact.id, opted_out=False),
        opt_outs.release_hold(unit, contact.id, opted_out=False),
        opt_outs.hold(unit, mine),
        opt_outs.record_opt_in(unit, contact.id, Evidence("verbal", "Go on.")),
        opt_outs.record_opt_in(unit, contact.id, Evidence("verbal", "Go on.")),
        opt_outs.record_opt_out(unit, contact.id, Evidence("verbal", "")),
        opt_outs.record_opt_out(unit, contact.id, Evidence("verbal", "")),
        opt_outs.record_opt_in(unit, contact.id, Evidence("verbal", "Yes, again.")),
    ]
    assert [await dated(change) for change in changes] == [True, False] * 2 + [True] + [True, False] * 2 + [True]


async def test_an_opt_in_of_a_contact_that_never_opted_out_is_recorded_as_such(
    unit: UnitOfWork, contact: Contact
) -> None:
    await opt_outs.record_opt_in(unit, contact.id, Evidence("web_form", "I agree to texts."))

    assert await _records(unit) == [("opt_in", "web_form", "I agree to texts.", None, "test")]


async def test_a_suppression_outlives_the_contact(
    account: Opened, unit_for: UnitFor, contact: Contact, recorded: Recorded
) -> None:
    async with unit_for(account) as unit:
        await opt_outs.record_opt_out(unit, contact.id, Evidence("verbal", "Stop"))
        await erasure.erase(unit, contact.id)

    async with unit_for(account) as unit:
        again = await service.create(unit, {"phone": PHONE})

        assert (again.id != contact.id, again.status, again.score) == (True, "opted_out", 0)
        assert len(await _records(unit)) == 1
    names = [(name, payload.get("status")) for name, payload in await recorded()]
    assert names == [("new_contact", None), ("new_opt_out", None), ("new_contact", "opted_out")]


async def test_an_opt_out_holds_in_its_own_account_only(
    contact: Contact, account: Opened, new_account: Callable[..., Any], unit_for: UnitFor
) -> None:
    async with unit_for(account) as unit:
        await opt_outs.record_opt_out(unit, contact.id, Evidence("verbal", ""))

    async with unit_for(await new_account()) as other:
        theirs = await service.create(other, {"phone": PHONE})

        assert (theirs.status, await consents.find_suppression(other, PHONE)) == ("active", None)
        assert await consents.find_consents(other, [PHONE]) == []


async def test_do_not_disturb_and_opting_out_do_not_touch_each_other(unit: UnitOfWork, contact: Contact) -> None:
    await opt_outs.record_opt_out(unit, contact.id, Evidence("verbal", ""))

    mine = await service.update(unit, contact.id, {"dnd_sms": True})
    assert (mine.status, mine.dnd_sms) == ("opted_out", True)

    mine = await opt_outs.record_opt_in(unit, contact.id, Evidence("verbal", "Yes, again."))
    assert (mine.status, mine.dnd_sms) == ("active", True)


async def test_a_hold_lasts_24_hours_and_a_second_one_does_not_prolong_it(unit: UnitOfWork, contact: Contact) -> None:
    clock = unit.clock = SetClock()
    mine = await queries.get(unit, contact.id, lock=True)

    await opt_outs.hold(unit, mine)
    clock.at += DAY / 2
    await opt_outs.hold(unit, mine)

    assert mine.held_until == NOON + DAY


async def test_a_contact_that_opted_out_is_not_held(unit: UnitOfWork, contact: Contact) -> None:
    mine = await opt_outs.record_opt_out(unit, contact.id, Evidence("verbal", ""))

    assert await opt_outs.hold(unit, mine) is False
    assert mine.held_until is None


async def test_an_opt_out_and_an_opt_in_end_a_hold(unit: UnitOfWork, contact: Contact) -> None:
    mine = await queries.get(unit, contact.id, lock=True)

    await opt_outs.hold(unit, mine)
    await opt_outs.record_opt_in(unit, contact.id, Evidence("verbal", "Go on."))
    assert mine.held_until is None

    await opt_outs.hold(unit, mine)
    await opt_outs.record_opt_out(unit, contact.id, Evidence("verbal", ""))
    assert mine.held_until is None


async def test_a_hold_that_was_no_opt_out_is_lifted_without_a_trace(
    account: Opened, unit_for: UnitFor, contact: Contact, recorded: Recorded
) -> None:
    async with unit_for(account) as unit:
        await opt_outs.hold(unit, await queries.get(unit, contact.id, lock=True))
        mine = await opt_outs.release_hold(unit, contact.id, opted_out=False)

        assert (mine.held_until, mine.status, await _records(unit)) == (None, "active", [])
    assert [name for name, _ in await recorded()] == ["new_contact"]


async def test_a_hold_that_was_an_opt_out_becomes_one(
    account: Opened, unit_for: UnitFor, contact: Contact, recorded: Recorded
) -> None:
    async with unit_for(account) as unit:
        await opt_outs.hold(unit, await queries.get(unit, contact.id, lock=True))
        mine = await opt_outs.release_hold(unit, contact.id, opted_out=True)

        assert (mine.held_until, mine.status) == (None, "opted_out")
        assert await _records(unit) == [("revoked_other", "review", "", None, "test")]
    assert [name for name, _ in await recorded()] == ["new_contact", "new_opt_out"]


async def test_an_undecided_hold_becomes_an_opt_out_when_it_expires(
    account: Opened, unit_for: UnitFor, contact: Contact
) -> None:
    async with unit_for(account) as unit:
        unit.clock = SetClock()
        await opt_outs.hold(unit, await queries.get(unit, contact.id, lock=True))

    async with unit_for(account) as unit:
        unit.clock = SetClock(NOON + DAY - timedelta(microseconds=1))
        assert await opt_outs.expire_holds(unit) == []
        unit.clock = SetClock(NOON + DAY)
        assert await opt_outs.expire_holds(unit) == [contact.id]
        assert await opt_outs.expire_holds(unit) == []

        mine = await queries.get(unit, contact.id)
        assert (mine.status, mine.held_until) == ("opted_out", None)
        assert await _records(unit) == [("revoked_other", "review_expired", "", None, "test")]


async def test_a_hold_that_a_user_is_releasing_does_not_expire(
    account: Opened, unit_for: UnitFor, contact: Contact
) -> None:
    async with unit_for(account) as unit:
        unit.clock = SetClock()
        await opt_outs.hold(unit, await queries.get(unit, contact.id, lock=True))

    async with unit_for(account) as person, unit_for(account) as clock:
        clock.clock = SetClock(NOON + DAY)
        await opt_outs.release_hold(person, contact.id, opted_out=False)

        assert await opt_outs.expire_holds(clock) == []


async def _records(unit: UnitOfWork) -> list[tuple[str, str, str, int | None, str]]:
    found = await consents.find_consents(unit, [PHONE])
    return [(each.kind, each.method, each.text, each.message_id, each.actor) for each in found]
