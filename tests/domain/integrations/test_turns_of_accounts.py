"""Accounts get their turns: no account's events and texts wait for all those of another."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from app.services import Services
from tests.domain.integrations.conftest import START, open_office
from tests.factories.integrations import BOOKING_TEXTS, INTEGRATION_EVENTS
from tests.factories.messages import OUTBOUND
from tests.peers import calcom
from tests.peers.visits import Visit

pytestmark = pytest.mark.anyio

VISIT = Visit(0, START - timedelta(minutes=1), START + timedelta(days=3))


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
