"""Gates: their order, their errors, and the purposes that pass them."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.kernel.errors import catalogue
from app.domain.kernel.phone import InvalidPhone, LandlinePhone
from app.domain.messages.eligibility import gates
from app.domain.messages.eligibility.facts import QueuedFacts, SendFacts
from app.domain.messages.eligibility.gates import GATES, HANDOFF_GATES, find_refusal
from app.domain.messages.errors import ConsentNotAttested
from app.domain.messages.failures import OwnCode
from app.domain.messages.handoff import Handoff
from app.domain.messages.models import Purpose
from app.domain.messages.requests import Send
from app.domain.quiet_hours.limits import Deferral, Timing
from app.domain.quiet_hours.zones import Place, ZoneReason
from tests.domain.messages.handing import hand_over
from tests.domain.messages.sends import TO
from tests.factories.accounts import ACCOUNTS
from tests.factories.billing import audit
from tests.factories.messages import MESSAGES, calls, states

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)

HERE = Place("US-NY", ("America/New_York",), ZoneReason.area_code)
WAIT = Deferral(NOON, "US")

ALLOWED = SendFacts(
    purpose=Purpose.transactional,
    account_status="active",
    phone=TO,
    contact_status="active",
    dnd_sms=False,
    held_until=None,
    suppressed=False,
    deletion_at=None,
    consent_attested=True,
    phone_refusal=None,
    wanted_contact_id=None,
    contact_id=7,
    wanted_number_id=None,
    from_number="+12025550100",
    body="Hello",
    segments=1,
    max_segments=10,
    credits=1,
    balance=1,
)

REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("account", {"account_status": "suspended"}, "account_suspended"),
    ("account", {"account_status": "deleted"}, "account_deleted"),
    ("consent", {"consent_attested": False}, "api_consent_attested_required"),
    ("phone", {"phone": None, "phone_refusal": InvalidPhone(phone="7", reason="")}, "invalid_phone"),
    ("account_deletion", {"deletion_at": NOON}, "account_deletion_pending"),
    ("contact", {"wanted_contact_id": 8}, "not_found"),
    ("opt_out", {"suppressed": True}, "contact_opted_out"),
    ("opt_out", {"contact_status": "opted_out"}, "contact_opted_out"),
    ("dnd", {"dnd_sms": True}, "contact_dnd"),
    ("hold", {"held_until": NOON}, "contact_held"),
    ("line_type", {"phone_refusal": LandlinePhone(phone=TO)}, "landline"),
    ("sender", {"from_number": None}, "no_sending_number"),
    ("sender", {"from_number": None, "wanted_number_id": 4}, "not_found"),
    ("body", {"body": " \n"}, "invalid_input"),
    ("body", {"body": "A" * 1601}, "message_too_long"),
    ("body", {"segments": 11}, "message_too_long"),
    ("frequency_cap", {"timing": Timing(HERE, by_cap=WAIT)}, "frequency_cap"),
    (
        "frequency_cap",
        {"timing": Timing(HERE, by_cap=WAIT, is_capped=True), "latest": NOON, "waits_for_cap": False},
        "frequency_cap",
    ),
    ("quiet_hours", {"timing": Timing(HERE, by_hours=WAIT)}, "quiet_hours"),
    ("credits", {"credits": 2}, "insufficient_credits"),
    ("pace", {"wait": 5.1}, "number_busy"),
]
"""For each gate, the facts that it refuses and the code of its error."""


def test_the_gates_stand_in_the_order_of_the_domain_rules() -> None:
    names = [str(gate.name) for gate in GATES]

    assert names == list(dict.fromkeys(name for name, _, _ in REFUSED))
    assert [str(gate.name) for gate in HANDOFF_GATES] == [
        *("account", "opt_out", "dnd", "hold", "sender"),
        *("frequency_cap", "quiet_hours"),
    ]


def test_a_text_that_no_gate_refuses_is_allowed() -> None:
    assert find_refusal(GATES, ALLOWED) is None


@pytest.mark.parametrize(("name", "changed", "code"), REFUSED)
def test_each_gate_refuses_with_its_error(name: str, changed: dict[str, Any], code: str) -> None:
    refused = find_refusal(GATES, replace(ALLOWED, **changed))

    assert refused is not None
    gate, error = refused
    assert (gate.name, error.code) == (name, code)
    assert type(error) in gate.errors


@pytest.mark.parametrize(("first", "second"), list(pairwise({name: changed for name, changed, _ in REFUSED}.items())))
def test_of_two_gates_that_refuse_the_first_decides(
    first: tuple[str, dict[str, Any]], second: tuple[str, dict[str, Any]]
) -> None:
    refused = find_refusal(GATES, replace(ALLOWED, **second[1] | first[1]))

    assert refused is not None
    assert refused[0].name == first[0]


def test_every_error_of_a_gate_is_in_the_catalogue_and_was_tried() -> None:
    errors = {error.code for gate in GATES for error in gate.errors}

    assert errors == {code for _, _, code in REFUSED}
    assert errors <= catalogue().keys()


@pytest.mark.parametrize("gate", GATES, ids=lambda gate: gate.name)
def test_the_remedy_of_every_gate_is_a_sentence(gate: gates.Gate[SendFacts]) -> None:
    assert gate.remedy[0].isupper()
    assert gate.remedy.endswith(".")


def test_a_message_can_fail_with_every_error_of_the_gates_of_hand_off() -> None:
    assert {error.code for gate in HANDOFF_GATES if not gate.defers for error in gate.errors} == set(OwnCode) - {
        OwnCode.canceled
    }


@pytest.mark.parametrize(
    ("purpose", "passed"),
    [
        ("compliance", ["account", "opt_out", "dnd", "hold", "frequency_cap", "quiet_hours"]),
        ("conversational", ["hold", "frequency_cap", "quiet_hours"]),
        ("transactional", []),
    ],
)
def test_a_purpose_passes_the_gates_that_exempt_it(purpose: str, passed: list[str]) -> None:
    timing = Timing(HERE, WAIT, WAIT)
    stopped = QueuedFacts(purpose, "suspended", TO, "active", True, NOON, True, "+12025550100", False, timing=timing)

    assert [gate.name for gate in HANDOFF_GATES if find_refusal([gate], stopped) is None] == passed


def test_a_compliance_text_is_never_asked_for() -> None:
    with pytest.raises(ValueError, match="compliance"):
        Send(TO, "Hello", consent_attested=True, purpose=Purpose.compliance)


@pytest.mark.parametrize("name", ["by_cap", "by_hours"])
def test_a_text_that_can_wait_is_refused_only_where_it_would_wait_for_longer(name: str) -> None:
    waiting = replace(ALLOWED, timing=Timing(HERE, **{name: WAIT}), latest=NOON)
    never = Timing(HERE, **{name: Deferral(None, "US")})

    assert find_refusal(GATES, waiting) is None
    assert find_refusal(GATES, replace(waiting, latest=NOON - timedelta(seconds=1))) is not None
    assert find_refusal(GATES, replace(waiting, timing=never)) is not None


async def test_a_repeated_key_does_not_excuse_from_certifying_consent(send: Callable[..., Any], pool: Pool) -> None:
    await send(idempotency_key="k")

    with pytest.raises(ConsentNotAttested):
        await send(idempotency_key="k", consent_attested=False)

    assert await MESSAGES.count(pool) == 1


async def test_a_text_of_an_account_that_was_deleted_meanwhile_fails_and_is_refunded(
    send: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    await send()
    await ACCOUNTS.change(pool, status="deleted")

    await hand_over(handoff)

    assert await states(pool) == [("failed", "account_deleted")]
    assert await calls(pool) == []
    await audit(pool)
