"""Accounts get their turns: no account's events and texts wait for all those of another."""

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest

from app.domain.integrations.applying import Applier
from app.domain.integrations.scheduling import Notice
from app.domain.kernel.time_shares import TimeShares
from app.providers.scheduling.calcom import CalCom
from app.services import Services
from tests.domain.integrations.conftest import START, Office, open_office
from tests.factories.integrations import BOOKING_TEXTS, INTEGRATION_EVENTS
from tests.factories.messages import OUTBOUND
from tests.peers import calcom, calendly
from tests.peers.visits import Visit

pytestmark = pytest.mark.anyio

VISIT = Visit(0, START - timedelta(minutes=1), START + timedelta(days=3))


@dataclass(frozen=True, slots=True)
class SlowCalCom(CalCom):
    """A tool with events that take 3 seconds of a timer."""

    seconds: list[int] = field(default_factory=lambda: [0])

    def read(self, body: bytes, consent_question: str) -> Notice:
        self.seconds[0] += 3
        return CalCom.read(self, body, consent_question)


def slowed(office: Office, batch: int) -> Applier:
    """Return an applier of small batches for which the events of Cal.com are slow."""
    slow = SlowCalCom()
    ports = replace(office.applier.ports, tools={**office.applier.ports.tools, "calcom": slow})
    return replace(office.applier, ports=ports, batch=batch, shares=TimeShares(lambda: slow.seconds[0]))


async def test_an_event_of_one_account_is_applied_before_the_older_ones_of_all_integrations_of_another(
    services: Services, new_account: Any
) -> None:
    async with open_office(services, await new_account()) as busy, open_office(services, await new_account()) as other:
        for _ in range(3):
            await busy.post(await busy.connect("calcom"), calcom.booked(VISIT))
        other.clock.instant += timedelta(seconds=1)
        await other.post(await other.connect("calcom"), calcom.booked(VISIT))

        await replace(other.applier, batch=2).run()

    events = INTEGRATION_EVENTS.where(status="applied")
    accounts = [each.account.account_id for each in (busy, other)]
    assert sorted(await events.read(services, "account_id")) == sorted(accounts)


async def test_an_account_whose_events_take_long_misses_its_turns_until_the_other_had_as_much_time(
    services: Services, new_account: Any
) -> None:
    async with open_office(services, await new_account()) as busy, open_office(services, await new_account()) as other:
        for chain in ("a", "b", "c"):
            await busy.post(await busy.connect("calcom"), calcom.booked(replace(VISIT, chain=chain)))
        quick = await other.connect("calendly")
        for chain in ("a", "b", "c"):
            await other.post(quick, calendly.booked(replace(VISIT, chain=chain)))
        applier = slowed(other, batch=4)

        await applier.run()

        applied = INTEGRATION_EVENTS.where(status="applied")
        accounts = [busy.account.account_id, *[other.account.account_id] * 3]
        assert sorted(await applied.read(services, "account_id")) == sorted(accounts)
        assert await applier.run() is False
        assert await applied.count(services) == 6


async def test_an_account_that_had_no_event_for_long_does_not_hold_up_the_others_for_as_long(
    services: Services, new_account: Any
) -> None:
    async with open_office(services, await new_account()) as busy, open_office(services, await new_account()) as other:
        applier, first = slowed(other, batch=2), await busy.connect("calcom")
        for chain in ("a", "b", "c"):
            await busy.post(first, calcom.booked(replace(VISIT, chain=chain)))
            await applier.run()
        for office in (busy, other):
            for chain in ("d", "e"):
                await office.post(await office.connect("calcom"), calcom.booked(replace(VISIT, chain=chain)))

        await applier.run()

    applied = INTEGRATION_EVENTS.where(status="applied", account_id=other.account.account_id)
    assert await applied.count(services) == 1


async def test_a_text_of_one_account_leaves_before_the_many_older_ones_of_another(
    services: Services, new_account: Any
) -> None:
    only_confirmations = {"reminder_day": "", "reminder_hour": ""}
    async with (
        open_office(services, await new_account(credits=1000)) as busy,
        open_office(services, await new_account(credits=10)) as other,
    ):
        for office in (busy, other):
            await office.post(await office.connect("calcom", texts=only_confirmations), calcom.booked(VISIT))
            while await office.applier.due():
                await office.applier.run()
        one = await BOOKING_TEXTS.where(account_id=busy.account.account_id).only(services)
        due_at = one["due_at"] - timedelta(hours=1)
        for number in range(1, 130):
            starts_at = one["starts_at"] + timedelta(minutes=number)
            await BOOKING_TEXTS.insert(services, **{**one, "id": -number, "starts_at": starts_at, "due_at": due_at})

        assert await busy.texts.run()

    sent = await OUTBOUND.read(services, "account_id")
    assert (len(sent), sent.count(other.account.account_id)) == (64, 1)
    assert await BOOKING_TEXTS.where(status="waiting").count(services) == 131 - 64
