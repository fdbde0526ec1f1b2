"""Carriers' reports, in any order and any number of times."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import permutations
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.carriers.carrier import Accepted, Answer, FailureCode, OutboundMessage, Receipt, ReceiptStatus
from app.domain.consent.service import Evidence
from app.domain.contacts import opt_outs
from app.domain.messages.handoff import Handoff
from app.domain.messages.receipts.journal import Receipts
from app.domain.messages.retention import RULES
from app.jobs.sweeps import purge
from app.providers.carriers.sandbox.carrier import SandboxCarrier
from app.services import Services
from tests.domain.messages.handing import hand_over
from tests.factories.billing import LEDGER_ENTRIES, audit, entries
from tests.factories.carriers import opened
from tests.factories.clocks import Later
from tests.factories.contacts import SUPPRESSIONS, id_of_contact
from tests.factories.events import EVENTS, event_names, payloads
from tests.factories.messages import MESSAGES, OUTGOING, RECEIPTS, UNMATCHED_RECEIPTS, states

ANSWER = "answer"
REPORTS = ("sent", "delivered", "failed", "unconfirmed")
FINAL = ("delivered", "failed")
TOLD = ("message_delivered", "message_failed")


def report(id: str, status: str, reference: int | None = None, **words: Any) -> Receipt:
    code = FailureCode.carrier_error if status == "failed" else None
    return Receipt(id, ReceiptStatus(status), words.pop("raw", status), code, reference=reference, **words)


class Hurried(SandboxCarrier):
    """A carrier whose reports on a text overtake its answer: those that its plan has before the answer."""

    def __init__(self, receipts: Receipts, pool: Pool, plans: dict[str, Sequence[str]]) -> None:
        super().__init__(pool, b"secret", 0, 60)
        self._receipts = receipts
        self._plans = plans
        self._reporting = asyncio.Semaphore(4)  # as many as there are connections: who waits for one gives up in time

    async def send(self, message: OutboundMessage) -> Answer:
        plan = self._plans[message.body]
        await self.tell(message.reference, plan[: plan.index(ANSWER)])
        return Accepted(f"sbx_{message.reference}")

    async def finish(self, reference: int, body: str) -> None:
        plan = self._plans[body]
        await self.tell(reference, plan[plan.index(ANSWER) + 1 :])

    async def tell(self, reference: int, reports: Sequence[str]) -> None:
        for status in reports:
            for _ in range(1 + (status in FINAL)):
                async with self._reporting:
                    await self._receipts.receive("sandbox", report(f"sbx_{reference}", status, reference))


@pytest.mark.timeout(180)
async def test_reports_and_the_answer_in_every_order_end_alike_and_the_final_ones_count_once(
    services: Services, send: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    plans = {str(number): order for number, order in enumerate(permutations((ANSWER, *REPORTS)))}
    sent = await asyncio.gather(*(send(body=body) for body in plans))
    references = {accepted.message_id: body for accepted, body in zip(sent, plans, strict=True)}
    carrier = Hurried(services.receipts, pool, plans)
    pace = replace(handoff.pace, window=4 * len(plans), timeout=60, lease=120)

    await hand_over(replace(handoff, connections=opened(handoff, sandbox=carrier), pace=pace))
    await asyncio.gather(*(carrier.finish(reference, body) for reference, body in references.items()))

    events = await EVENTS.read(pool, "name", "payload")
    for reference, body in references.items():
        order = plans[body]
        [first, second] = sorted(FINAL, key=order.index)
        message = await MESSAGES.where(id=reference).only(pool)
        journal = await RECEIPTS.where(message_id=reference).read(pool, "status", "contradicts")
        told_of_it = [name for name, payload in events if payload.get("message_id") == reference]
        left = [name for name in ("answer", "sent", "delivered") if order.index(name) <= order.index(first)]
        assert (message["status"], message["carrier_status"], message["unconfirmed"]) == (first, first, False)
        assert message["provider_message_id"] == f"sbx_{reference}"
        assert await OUTGOING.count(pool) == 0
        assert {row["status"]: row["contradicts"] for row in journal} == {name: name == second for name in REPORTS}
        assert told_of_it == ["message_sent"] * bool(left) + [f"message_{first}"]
    assert await RECEIPTS.count(pool) == len(plans) * len(REPORTS)
    await audit(pool)


@pytest.fixture
async def reference(send: Callable[..., Any], handoff: Handoff) -> int:
    """Give the id of a text that a carrier has taken."""
    accepted = await send()
    await hand_over(handoff)
    return accepted.message_id


async def journal(pool: Pool) -> list[tuple[str, bool]]:
    return await RECEIPTS.read(pool, "raw_status", "contradicts")


async def test_a_report_many_times_at_once_is_applied_once(services: Services, reference: int, pool: Pool) -> None:
    failed = report(f"sbx_{reference}", "failed", reference)

    await asyncio.gather(*(services.receipts.receive("sandbox", failed) for _ in range(8)))

    assert await journal(pool) == [("failed", False)]
    assert await event_names(pool, "message_failed") == ["message_failed"]
    assert await entries(pool) == [("debit", -1, 999), ("refund", 1, 1000)]


async def test_reports_that_say_the_same_in_other_words_do_not_contradict(
    services: Services, reference: int, pool: Pool
) -> None:
    for raw in ("delivered", "read"):
        await services.receipts.receive("sandbox", report(f"sbx_{reference}", "delivered", raw=raw))

    assert await journal(pool) == [("delivered", False), ("read", False)]
    assert await event_names(pool, "message_delivered") == ["message_delivered"]


async def test_failures_that_name_two_reasons_are_one_failure(services: Services, reference: int, pool: Pool) -> None:
    for error in ("30003", "30008"):
        await services.receipts.receive("sandbox", report(f"sbx_{reference}", "failed", carrier_error=error))

    assert await journal(pool) == [("failed", False), ("failed", False)]
    assert await MESSAGES.only(pool, "carrier_error") == "30003"
    assert await entries(pool) == [("debit", -1, 999), ("refund", 1, 1000)]


async def test_a_failure_after_the_delivery_is_kept_as_a_contradiction_and_changes_nothing(
    services: Services, reference: int, pool: Pool
) -> None:
    for status in ("delivered", "failed"):
        await services.receipts.receive("sandbox", report(f"sbx_{reference}", status))

    assert await journal(pool) == [("delivered", False), ("failed", True)]
    assert await states(pool) == [("delivered", None)]
    assert await entries(pool) == [("debit", -1, 999)]


async def test_a_delivered_text_keeps_its_cost_and_is_told_as_sent_and_as_delivered(
    services: Services, send: Callable[..., Any], pool: Pool
) -> None:
    id = (await send()).message_id

    await services.receipts.receive("sandbox", report("sbx_1", "delivered", id))

    [message] = await MESSAGES.read(pool, "status", "provider_message_id", "carrier_status", "sent_at", "delivered_at")
    assert tuple(message)[:3] == ("delivered", "sbx_1", "delivered")
    assert message["sent_at"] == message["delivered_at"]
    assert await event_names(pool, "message_sent", *TOLD) == ["message_sent", "message_delivered"]
    assert await entries(pool) == [("debit", -1, 999)]
    await audit(pool)


async def test_a_failure_costs_nothing_and_says_why(
    services: Services, send: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    id = (await send(body="A" * 161)).message_id
    await hand_over(handoff)
    filtered = Receipt(f"sbx_{id}", ReceiptStatus.failed, "undelivered", FailureCode.filtered, "30007")

    await services.receipts.receive("sandbox", filtered)

    [message] = await MESSAGES.read(pool, "status", "error_code", "carrier_status", "carrier_error", "cost")
    assert tuple(message) == ("failed", "filtered", "undelivered", "30007", 0)
    failed_at, sent_at = await MESSAGES.only(pool, "failed_at", "sent_at")
    assert failed_at >= sent_at
    await services.receipts.receive("sandbox", replace(filtered, raw_status="again", parts=2))
    assert await MESSAGES.only(pool, "failed_at") == failed_at
    [failed] = await payloads(pool, "message_failed")
    assert (failed["cost"], failed["segments"], failed["delivered_at"]) == (0.0, 2, None)
    assert failed["status_description"].startswith("The carrier filtered the text as unwanted.")
    assert await entries(pool) == [("debit", -2, 998), ("refund", 2, 1000)]
    refund = await LEDGER_ENTRIES.where(type="refund").only(pool, "description", "actor")
    assert refund == ("Message failed: filtered", "carrier:sandbox")


@pytest.mark.parametrize("late", ["sent", "delivered", "failed", "unconfirmed", "pending"])
@pytest.mark.parametrize("final", FINAL)
async def test_a_final_state_absorbs_later_reports(
    services: Services, reference: int, pool: Pool, final: str, late: str
) -> None:
    await services.receipts.receive("sandbox", report(f"sbx_{reference}", final))
    before = await MESSAGES.read(pool), await entries(pool), await event_names(pool, "message_sent", *TOLD)

    await services.receipts.receive("sandbox", report(f"sbx_{reference}", late, raw="late"))

    after = await MESSAGES.read(pool), await entries(pool), await event_names(pool, "message_sent", *TOLD)
    assert after == before
    contradicts = late in FINAL and late != final
    assert await RECEIPTS.where(raw_status="late").only(pool, "contradicts") == contradicts


async def test_an_opt_out_known_to_the_carrier_is_kept_once(
    services: Services, reference: int, act: Callable[..., Any], pool: Pool
) -> None:
    said = Receipt(f"sbx_{reference}", ReceiptStatus.failed, "failed", FailureCode.opted_out)
    await services.receipts.receive("sandbox", said)
    async with act() as unit:
        await opt_outs.record_opt_in(unit, await id_of_contact(pool), Evidence("paper", "I agree"))

    await services.receipts.receive("sandbox", said)

    assert await states(pool) == [("failed", "opted_out")]
    assert await event_names(pool, "new_opt_out", *TOLD) == ["new_opt_out", "message_failed"]
    assert await SUPPRESSIONS.count(pool) == 0
    assert await entries(pool) == [("debit", -1, 999), ("refund", 1, 1000)]


@pytest.mark.parametrize(("days_before", "is_suppressed"), [(0, False), (1, True)])
async def test_a_late_report_of_an_opt_out_does_not_end_a_newer_consent(
    services: Services, reference: int, act: Callable[..., Any], pool: Pool, days_before: int, is_suppressed: bool
) -> None:
    at = datetime.now(UTC) - timedelta(days=days_before)
    async with act() as unit:
        agreed = Evidence("paper", "I agree", occurred_at=at)
        await opt_outs.record_opt_in(unit, await id_of_contact(pool), agreed)

    await services.receipts.receive(
        "sandbox", Receipt(f"sbx_{reference}", ReceiptStatus.failed, "failed", FailureCode.opted_out)
    )

    assert await states(pool) == [("failed", "opted_out")]
    assert await SUPPRESSIONS.count(pool) == is_suppressed
    assert await event_names(pool, "new_opt_out") == ["new_opt_out"] * is_suppressed
    assert await entries(pool) == [("debit", -1, 999), ("refund", 1, 1000)]


async def test_a_text_that_the_network_cannot_confirm_stays_sent_and_may_still_be_delivered(
    services: Services, reference: int, pool: Pool
) -> None:
    await services.receipts.receive("sandbox", report(f"sbx_{reference}", "unconfirmed"))
    unsure = await states(pool), await MESSAGES.only(pool, "unconfirmed")

    await services.receipts.receive("sandbox", report(f"sbx_{reference}", "delivered"))

    assert unsure == ([("sent", None)], True)
    assert await states(pool) == [("delivered", None)]
    assert not await MESSAGES.only(pool, "unconfirmed")


async def test_a_report_on_a_text_without_an_answer_is_matched_when_the_answer_is_recorded(
    services: Services, send: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    id = (await send()).message_id
    delivered = report(f"sbx_{id}", "delivered")
    for _ in range(2):
        await services.receipts.receive("sandbox", delivered)
    early = await states(pool), await services.receipts.due(), await services.receipts.match()
    kept = await UNMATCHED_RECEIPTS.read(pool, "provider_message_id", "message_id")

    await hand_over(handoff)
    due = await services.receipts.due()
    matched = await asyncio.gather(services.receipts.match(), services.receipts.match())  # one may find it done
    await services.receipts.receive("sandbox", delivered)

    assert early == ([("pending", None)], False, False)
    assert kept == [(f"sbx_{id}", None)]
    assert (due, True in matched) == (True, True)
    assert not await services.receipts.due()
    assert await states(pool) == [("delivered", None)]
    assert await event_names(pool, "message_sent", "message_delivered") == ["message_sent", "message_delivered"]
    assert await RECEIPTS.read(pool, "message_id", "contradicts") == [(id, False)]
    assert await UNMATCHED_RECEIPTS.count(pool) == 0


async def test_a_failure_that_came_early_is_refunded_once_when_it_is_matched(
    services: Services, send: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    id = (await send()).message_id
    for status in ("failed", "delivered"):
        await services.receipts.receive("sandbox", report(f"sbx_{id}", status))
    await hand_over(handoff)

    await asyncio.gather(*(services.receipts.match() for _ in range(4)))

    assert await states(pool) == [("failed", "carrier_error")]
    assert await journal(pool) == [("delivered", True), ("failed", False)]
    assert await UNMATCHED_RECEIPTS.count(pool) == 0
    await audit(pool)


async def test_a_report_that_no_text_was_found_for_is_forgotten_after_a_day(services: Services, pool: Pool) -> None:
    await services.receipts.receive("sandbox", report("sbx_unknown", "delivered", 2**62))
    await purge("retention", RULES, services.database, Later(timedelta(hours=23))).run()
    kept = await UNMATCHED_RECEIPTS.read(pool, "provider_message_id")

    await purge("retention", RULES, services.database, Later(timedelta(hours=25))).run()

    assert kept == ["sbx_unknown"]
    assert await UNMATCHED_RECEIPTS.count(pool) == 0


async def test_a_report_of_another_carrier_is_not_about_our_text(
    services: Services, reference: int, pool: Pool
) -> None:
    await services.receipts.receive("other", report(f"sbx_{reference}", "failed", reference))

    assert await states(pool) == [("sent", None)]
    assert await entries(pool) == [("debit", -1, 999)]


async def test_the_carriers_id_counts_more_than_our_reference(
    services: Services, reference: int, send: Callable[..., Any], pool: Pool
) -> None:
    unsent = (await send("+12025550144")).message_id

    await services.receipts.receive("sandbox", report(f"sbx_{reference}", "delivered", unsent))

    assert await states(pool) == [("delivered", None), ("pending", None)]
