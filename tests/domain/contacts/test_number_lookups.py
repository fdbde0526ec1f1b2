"""Looking phones up at the carrier of a connection."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from app.domain.accounts.scopes import Scope
from app.domain.carriers.carrier import LookedUpNumber
from app.domain.carriers.retention import RULES
from app.domain.contacts import number_checks
from app.domain.contacts import service as contacts
from app.domain.contacts.number_checks import NumberCheck
from app.domain.erasure import service as erasure
from app.domain.kernel import retention
from app.domain.kernel.errors import InsufficientScope, NotFound
from app.domain.kernel.unit_of_work import Actor
from app.domain.onboarding.service import Opened
from app.providers.carriers.sandbox.carrier import SandboxCarrier
from app.services import Services
from tests.conftest import unit_of
from tests.factories.carriers import CARRIER_LOOKUPS, add_connection

PHONE = "+447911123456"
WRITE = frozenset({Scope.contacts_read, Scope.numbers_write})


async def ask(
    services: Services, account: Opened, key: str, phone: str = PHONE, scopes: frozenset[str] = WRITE
) -> NumberCheck:
    """Look a phone up through a connection."""
    async with unit_of(services, Actor(account.account_id, scopes, "test")) as unit:
        return await number_checks.ask_carrier(unit, services.connections, key, phone, None)


async def test_a_carrier_states_the_facts_with_high_confidence(services: Services, account: Opened) -> None:
    found = await ask(services, account, "sandbox")

    facts = found.facts
    assert (facts.validation, facts.line_type, facts.line_type_confidence, facts.region) == (
        "valid",
        "mobile",
        "high",
        "GG",
    )
    assert (found.is_by_carrier, tuple(found.carrier), found.reason) == (True, ("JT", "high"), "")


async def test_a_landline_and_a_number_that_is_not_in_use_cannot_be_texted(services: Services, account: Opened) -> None:
    landline, unused = [await ask(services, account, "sandbox", phone) for phone in ("+390612345678", "+15555550100")]

    assert "is a landline" in landline.reason
    assert (unused.facts.validation, unused.reason) == ("invalid", "The carrier says that the number is not in use.")


async def test_a_connection_of_the_account_is_used_and_one_of_another_account_is_not_found(
    services: Services, new_account: Callable[..., Any]
) -> None:
    owner, other = await new_account(), await new_account()
    await add_connection(services, "own", account_id=owner.account_id)

    assert (await ask(services, owner, "own")).is_by_carrier
    with pytest.raises(NotFound):
        await ask(services, other, "own")
    with pytest.raises(NotFound):
        await ask(services, other, "missing")


async def test_no_carrier_is_asked_without_the_scope_or_about_no_phone(services: Services, account: Opened) -> None:
    with pytest.raises(InsufficientScope, match="numbers:write"):
        await ask(services, account, "sandbox", scopes=frozenset({Scope.contacts_read}))

    found = await ask(services, account, "missing", "abc")
    assert (found.e164, found.is_by_carrier) == (None, False)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count the look-ups of the sandbox by phone."""
    asked, look_up = Counter[str](), SandboxCarrier.lookup

    async def count(carrier: SandboxCarrier, phone: str) -> LookedUpNumber:
        asked[phone] += 1
        return await look_up(carrier, phone)

    monkeypatch.setattr(SandboxCarrier, "lookup", count)
    return asked


async def test_a_phone_is_looked_up_once_in_30_days(services: Services, account: Opened, counted: Counter[str]) -> None:
    first = await ask(services, account, "sandbox")

    second = await ask(services, account, "sandbox")
    assert (counted, second) == ({PHONE: 1}, first)

    await CARRIER_LOOKUPS.age(services, "looked_up_at", days=30)
    third = await ask(services, account, "sandbox")
    assert (counted, third.checked_at > first.checked_at) == ({PHONE: 2}, True)
    assert await CARRIER_LOOKUPS.count(services) == 1


async def test_a_carrier_that_did_not_state_the_kind_of_line_is_asked_again(
    services: Services, account: Opened, counted: Counter[str]
) -> None:
    for _ in range(2):
        assert (await ask(services, account, "sandbox", "+12025550143")).facts.line_type == "unknown"

    assert counted == {"+12025550143": 2}
    assert await CARRIER_LOOKUPS.count(services) == 0


async def test_a_look_up_of_another_account_is_not_given(
    services: Services, new_account: Callable[..., Any], counted: Counter[str]
) -> None:
    for _ in range(2):
        await ask(services, await new_account(), "sandbox")

    assert counted == {PHONE: 2}


async def test_a_kept_look_up_needs_the_scope_and_the_connection_as_well(
    services: Services, new_account: Callable[..., Any], counted: Counter[str]
) -> None:
    owner = await new_account()
    await add_connection(services, "own", account_id=owner.account_id)
    await ask(services, owner, "own")

    with pytest.raises(InsufficientScope):
        await ask(services, owner, "own", scopes=frozenset({Scope.contacts_read}))
    with pytest.raises(NotFound):
        await ask(services, await new_account(), "own")

    assert counted == {PHONE: 1}


async def test_a_look_up_ends_with_its_contact_and_after_30_days(services: Services, account: Opened) -> None:
    actor = Actor(account.account_id, WRITE, "test")
    async with unit_of(services, actor) as unit:
        contact = await contacts.create(unit, {"phone": PHONE})
    await ask(services, account, "sandbox")
    await ask(services, account, "sandbox", "+447911123457")

    async with unit_of(services, actor) as unit:
        await erasure.erase(unit, contact.id)
    assert await CARRIER_LOOKUPS.read(services, "phone") == ["+447911123457"]

    await CARRIER_LOOKUPS.age(services, "looked_up_at", days=31)
    await retention.apply(RULES, services.database.pool, services.clock.now())
    assert await CARRIER_LOOKUPS.count(services) == 0
