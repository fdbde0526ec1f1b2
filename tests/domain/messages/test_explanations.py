"""Explanations of sends: accept, hand-off and the explanation agree on every combination of facts."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.db.engine import Pool
from app.domain.kernel.errors import DomainError
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages.eligibility.gates import GATES, HANDOFF_GATES, GateName
from app.domain.messages.errors import NumberReleased
from app.domain.messages.handoff import Handoff
from app.domain.messages.models import Purpose
from app.domain.messages.requests import Send
from app.domain.messages.sending.explanation import Explanation, Verdict
from app.services import Services
from tests.domain.messages.handing import hand_over
from tests.domain.messages.sends import TO, hello
from tests.factories.accounts import ACCOUNTS
from tests.factories.billing import audit
from tests.factories.contacts import CONTACTS, SUPPRESSIONS, suppress
from tests.factories.events import EVENTS
from tests.factories.messages import MESSAGES
from tests.factories.numbers import PHONE_NUMBERS
from tests.factories.snapshots import rows
from tests.factories.tables import ahead

LANDLINE = "+442079460018"

CASES = st.fixed_dictionaries(
    {
        "purpose": st.sampled_from([Purpose.transactional, Purpose.promotional, Purpose.conversational]),
        "account_status": st.sampled_from(["active", "active", "suspended", "deleted"]),
        "is_to_be_deleted": st.sampled_from([False, False, True]),
        "consent_attested": st.sampled_from([True, True, False]),
        "to": st.sampled_from([TO, TO, TO, "(202) 555-0143", "7", LANDLINE]),
        "contact_id": st.sampled_from([None, None, 2**40]),
        "contact_status": st.sampled_from(["active", "active", "opted_out"]),
        "is_suppressed": st.sampled_from([False, False, True]),
        "dnd_sms": st.sampled_from([False, False, True]),
        "is_held": st.sampled_from([False, False, True]),
        "number_status": st.sampled_from(["active", "active", "released"]),
        "number_id": st.sampled_from([None, None, 2**40]),
        "body": st.sampled_from(["Hello", "Hello", " \n", "A" * 1601, "😀" * 1600]),
        "balance": st.sampled_from([1000, 1000, 0]),
    }
)
Case = dict[str, Any]


@pytest.fixture
def explain(services: Services, actor: Actor) -> Callable[..., Any]:
    """Give a function that explains a send."""

    async def explain(send: Send) -> Explanation:
        return await services.acceptor.explain(actor, send)

    return explain


def send_of(case: Case) -> Send:
    return Send(
        case["to"],
        case["body"],
        case["consent_attested"],
        case["number_id"],
        purpose=case["purpose"],
        contact_id=case["contact_id"],
    )


async def allow_all(pool: Pool) -> None:
    """Set every fact so that the gates allow a text."""
    await ACCOUNTS.change(pool, status="active", deletion_at=None, balance=1000)
    await PHONE_NUMBERS.change(pool, status="active")
    await CONTACTS.change(pool, status="active", dnd_sms=False, held_until=None)
    await SUPPRESSIONS.delete(pool)


async def set_facts(pool: Pool, account_id: int, case: Case) -> None:
    deletion_at = ahead(days=9) if case["is_to_be_deleted"] else None
    await ACCOUNTS.change(pool, status=case["account_status"], deletion_at=deletion_at, balance=case["balance"])
    held_until = ahead(hours=9) if case["is_held"] else None
    await CONTACTS.change(pool, status=case["contact_status"], dnd_sms=case["dnd_sms"], held_until=held_until)
    await PHONE_NUMBERS.change(pool, status=case["number_status"])
    if case["is_suppressed"]:
        await suppress(pool, account_id, TO)


def code_of(explanation: Explanation) -> str | None:
    blocked = explanation.blocked_by
    return blocked.error.code if blocked and blocked.error else None


def code_at_handoff(explanation: Explanation) -> str | None:
    """Return the code of the first gate of hand-off that refuses.

    Where accept finds no number for a new text, hand-off finds that the number of the waiting one was released.
    """
    names = {gate.name for gate in HANDOFF_GATES}
    refused = [each for each in explanation.verdicts if each.gate.name in names and each.error]
    if not refused or refused[0].error is None:
        return None
    return NumberReleased.code if refused[0].gate.name is GateName.sender else refused[0].error.code


async def accept(services: Services, actor: Actor, send: Send) -> str | None:
    try:
        await services.acceptor.accept(actor, send)
    except DomainError as refusal:
        return refusal.code
    return None


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(case=CASES)
async def test_accept_hand_off_and_the_explanation_agree(
    services: Services, actor: Actor, handoff: Handoff, explain: Callable[..., Any], pool: Pool, case: Case
) -> None:
    await allow_all(pool)
    waiting = await services.acceptor.accept(actor, hello(purpose=case["purpose"]))
    await set_facts(pool, actor.account_id, case)
    kept = await MESSAGES.count(pool)

    of_phone: Explanation = await explain(hello(purpose=case["purpose"]))
    explanation: Explanation = await explain(send_of(case))
    refusal = await accept(services, actor, send_of(case))
    await hand_over(handoff)

    assert refusal == code_of(explanation)
    assert await MESSAGES.count(pool) == kept + (refusal is None)
    code = code_at_handoff(of_phone)
    state = await MESSAGES.where(id=waiting.message_id).only(pool, "status", "error_code")
    assert tuple(state) == (("failed", code) if code else ("sent", None))


async def test_an_explanation_has_no_effect(explain: Callable[..., Any], text: Callable[..., Any], pool: Pool) -> None:
    await text("STOP")
    before = await rows(pool)

    explanation = await explain(hello(body=""))

    assert code_of(explanation) == "contact_opted_out"
    assert await rows(pool) == before
    assert await EVENTS.where(name="send_blocked").count(pool) == 0


async def test_every_gate_has_a_verdict_and_none_needs_the_phone_that_cannot_be_read(
    explain: Callable[..., Any],
) -> None:
    allowed, unreadable = await explain(hello()), await explain(hello(to="7"))

    assert [each.gate for each in allowed.verdicts] == list(GATES)
    assert {each.verdict for each in allowed.verdicts} == {Verdict.passed}
    assert allowed.blocked_by is None
    assert (allowed.facts.segments, allowed.facts.credits) == (1, 1)
    assert {each.gate.name: each.verdict for each in unreadable.verdicts if each.verdict is not Verdict.passed} == {
        "phone": "refused",
        **dict.fromkeys(
            ("contact", "opt_out", "dnd", "hold", "line_type", "frequency_cap", "quiet_hours", "credits"), "unknown"
        ),
    }


async def test_all_gates_that_refuse_are_named_and_the_first_of_them_blocks(
    explain: Callable[..., Any], new_account: Callable[..., Any], services: Services, pool: Pool
) -> None:
    poor = await new_account(credits=0)
    await suppress(pool, poor.account_id, TO)

    found = await services.acceptor.explain(Actor(poor.account_id, frozenset()), hello(body="A" * 1601))

    refused = [(each.gate.name, each.error.code) for each in found.verdicts if each.error]
    assert refused == [
        ("opt_out", "contact_opted_out"),
        ("body", "message_too_long"),
        ("credits", "insufficient_credits"),
    ]
    assert code_of(found) == "contact_opted_out"
    await audit(pool)
