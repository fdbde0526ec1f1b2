"""Looking phones up at the carrier of a connection."""

from collections.abc import Callable
from typing import Any

import pytest

from app.domain.accounts.scopes import Scope
from app.domain.contacts import number_checks
from app.domain.contacts.number_checks import NumberCheck
from app.domain.kernel.errors import InsufficientScope, NotFound
from app.domain.kernel.unit_of_work import Actor
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.conftest import unit_of
from tests.factories.carriers import add_connection

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
