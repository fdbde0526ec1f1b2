"""The price of a call is that of the time of its debit, also for its refund."""

from datetime import timedelta

import pytest

from app.domain.billing import prices
from app.domain.onboarding.service import Opened
from app.domain.writing import calls, service
from app.domain.writing.calls import GRACE
from app.domain.writing.models import CallKind
from app.domain.writing.writer import Failure
from app.services import Services
from tests.domain.conftest import UnitFor
from tests.domain.writing.writers import BRIEF, Typist, writers
from tests.factories.billing import LEDGER_ENTRIES, audit
from tests.factories.writing import WRITER_CALLS


async def test_a_call_without_a_text_is_refunded_at_its_own_price(
    services: Services, account: Opened, unit_for: UnitFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def raise_price() -> None:
        monkeypatch.setattr(prices, "GENERATE", 5)

    monkeypatch.setattr(prices, "GENERATE", 2)
    async with unit_for(account) as unit:
        copy = await service.generate(unit, writers(Typist([Failure.unavailable], before=raise_price)), BRIEF, None)

    assert copy.credits_remaining == 1000
    assert await LEDGER_ENTRIES.where_not(type="adjustment").read(services, "amount") == [-2, 2]
    await audit(services.database.pool)


async def test_a_call_whose_process_died_is_refunded_at_its_own_price(
    services: Services, account: Opened, unit_for: UnitFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    by = writers(Typist())
    async with unit_for(account) as unit:
        await calls.begin(unit, by, CallKind.copy)
    monkeypatch.setattr(prices, "GENERATE", 5)
    await WRITER_CALLS.age(services, "expires_at", seconds=by.seconds + GRACE / timedelta(seconds=1))

    async with unit_for(account) as unit:
        assert await calls.refund_lapsed(unit) == 1

    assert await LEDGER_ENTRIES.where_not(type="adjustment").read(services, "amount") == [-1, 1]
    await audit(services.database.pool)
