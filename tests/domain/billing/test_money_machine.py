"""Whatever happens, and however much of it at once: every credit is accounted for."""

import asyncio
from collections.abc import Awaitable
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from functools import partial
from itertools import count
from typing import Any

import uvloop
from hypothesis import HealthCheck, Phase
from hypothesis import settings as limits
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from app.bootstrap import open_services
from app.domain.billing import service as billing
from app.domain.carriers.carrier import FailureCode, InboundMessage, Receipt, ReceiptStatus
from app.domain.erasure import service as erasure
from app.domain.kernel.errors import DomainError, Unavailable
from app.domain.kernel.unit_of_work import Actor, open_unit
from app.domain.messages.acceptor import SendAcceptor
from app.domain.messages.handoff import Handoff
from app.domain.messages.requests import Send
from app.domain.onboarding.service import Opened, Opening, open_account
from app.domain.payments import service as purchasing
from app.domain.payments.gateway import Notice, PaymentState
from app.domain.payments.origin import get_installation
from app.domain.payments.service import MIN_AMOUNT
from app.domain.writing import calls
from app.domain.writing import service as writing
from app.domain.writing.writer import Failure
from app.providers.carriers.sandbox.carrier import SandboxCarrier
from app.services import Services
from app.settings import Settings
from tests.domain.messages.handing import hand_over, reconcile
from tests.domain.writing.writers import BRIEF, GOOD, Typist, writers
from tests.factories.billing import audit, audit_calls
from tests.factories.carriers import opened
from tests.factories.clocks import Later
from tests.factories.contacts import CONTACTS
from tests.factories.messages import MESSAGES, SANDBOX_MESSAGES
from tests.shared import EMPTY

CLIENTS = 8
CREDITS = 30

ORDINARY = ("+12025550143", "+447911123456")
INVALID, OPTED_OUT, RATE_LIMITED = "+15005550001", "+15005550004", "+15005550007"

people = st.sampled_from([*ORDINARY, INVALID, OPTED_OUT, RATE_LIMITED])
which = st.integers(0, CLIENTS - 1)
sends = st.tuples(st.just("send"), which, people, st.sampled_from(["Hello", "A" * 161]), st.sampled_from([None, "key"]))
grants = st.tuples(st.just("grant"), which, st.integers(-10, 10))
hand_overs = st.tuples(st.just("hand_over"), st.sampled_from([0, 40]))
reports = st.tuples(st.just("report"), st.integers(0, 20), st.sampled_from(["sent", "delivered", "failed"]))
texts = st.tuples(st.just("text"), which, people, st.sampled_from(["STOP", "START", "Hello", "STOP what time"]))
erasures = st.tuples(st.just("erase"), st.integers(0, 20))
parts = st.sampled_from([0, 35, 100])
payments = st.tuples(st.just("pay"), which, st.integers(0, 2), parts, parts)
purchases = st.tuples(st.just("buy"), which)
drafts = st.tuples(st.just("generate"), which, st.sampled_from(["done", "failed"]), st.booleans())

actions = st.one_of(
    sends, sends, sends, grants, hand_overs, reports, texts, erasures, payments, payments, purchases, drafts, drafts
)


class Clients:
    """Clients, carrier and workers of two accounts, with two desks as two processes have them."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self.pool = services.database.pool
        self.acceptors = (
            services.acceptor,
            SendAcceptor(self.pool, services.clock, services.notify, services.connections),
        )
        handoff = services.handoff
        connections = opened(handoff, sandbox=SandboxCarrier(self.pool, b"secret", delay=0, timeout=30))
        pace = replace(handoff.pace, window=4, timeout=30, lease=90)
        self.handoff = replace(handoff, connections=connections, pace=pace)
        self.accounts: list[Opened] = []
        self.ids = count()

    async def open(self) -> None:
        """Open two accounts on an empty database."""
        await self.pool.execute(EMPTY)
        self.accounts = [await self._open_one(f"{name}@example.com") for name in ("ann", "bob")]

    async def rush(self, acts: list[tuple[Any, ...]]) -> list[Any]:
        """Do all of this at once; return what went wrong beyond what the rules refuse."""
        answers = await asyncio.gather(*(self._do(*act) for act in acts), return_exceptions=True)
        return [answer for answer in answers if isinstance(answer, Exception) and not is_refusal(answer)]

    async def finish(self) -> None:
        """Hand everything over that is left, however often the carrier puts it off."""
        for hours in (1, 2, 3):
            later = self._after(timedelta(hours=hours))
            while await later.due() or await later.lapsed():
                await asyncio.gather(hand_over(later), reconcile(later))

    def _do(self, kind: str, *details: Any) -> Awaitable[Any]:
        return getattr(self, f"_{kind}")(*details)

    async def _send(self, client: int, to: str, body: str, key: str | None) -> None:
        actor = Actor(self._account(client).account_id, frozenset(), f"client:{client}")
        await self.acceptors[client // 4].accept(actor, Send(to, body, consent_attested=True, idempotency_key=key))

    async def _grant(self, client: int, credits: int) -> None:
        async with self._unit(self._account(client).account_id) as unit:
            await billing.grant(unit, credits, "Machine")

    async def _pay(self, client: int, place: int, refunded: int, disputed: int) -> None:
        """Book a state of one of three payments of the account, of which a part is refunded, and a part disputed."""
        id = self._account(client).account_id
        async with self._unit(id) as unit:
            own, now = await get_installation(unit), unit.clock.now()
        facts = f"top-up/{id}/{place}", f"pi_{id}_{place}", id, 20, "20 credits", 100, "USD", True, now, own, None
        state = PaymentState(*facts, refunded=refunded, disputed=disputed)
        await self.services.payments.book(Notice([state]), now)

    async def _buy(self, client: int) -> None:
        """Request a purchase, and confirm it twice at once."""
        id = self._account(client).account_id
        async with self._unit(id) as unit:
            payment = await purchasing.top_up(unit, self.services.payments, MIN_AMOUNT)
        await asyncio.gather(*(self._confirm(id, payment.id) for _ in range(2)))

    async def _confirm(self, account_id: int, payment_id: int) -> None:
        async with self._unit(account_id) as unit:
            await purchasing.confirm(unit, payment_id)

    async def _generate(self, client: int, status: str, is_late: bool) -> None:
        """Have a text written; a late writer answers after all calls of the account were refunded as lapsed."""
        id = self._account(client).account_id
        answers = [[GOOD]] if status == "done" else [Failure.unavailable]
        late = partial(self._refund_lapsed, id) if is_late else None
        async with self._unit(id) as unit:
            await writing.generate(unit, writers(Typist(answers, before=late)), BRIEF, None)

    async def _refund_lapsed(self, account_id: int) -> None:
        async with self._unit(account_id) as unit:
            unit.clock = Later(timedelta(hours=1))
            await calls.refund_lapsed(unit)

    async def _hand_over(self, seconds: int) -> None:
        later = self._after(timedelta(seconds=seconds))
        await asyncio.gather(hand_over(later), reconcile(later))

    async def _report(self, place: int, status: str) -> None:
        references = sorted(await SANDBOX_MESSAGES.read(self.pool, "reference"), reverse=True)
        if references:
            id = references[place % len(references)]
            code = FailureCode.filtered if status == "failed" else None
            receipt = Receipt(f"sbx_{id}", ReceiptStatus(status), status, code, reference=id)
            await asyncio.gather(*(self.services.receipts.receive("sandbox", receipt) for _ in range(2)))

    async def _text(self, client: int, sender: str, body: str) -> None:
        inbound = InboundMessage(f"in-{next(self.ids)}", sender, self._account(client).phone_number, body)
        await self.services.inbox.receive("sandbox", inbound)

    async def _erase(self, place: int) -> None:
        contacts = (await CONTACTS.read(self.pool, "account_id", "id"))[::-1]
        if contacts:
            account_id, id = contacts[place % len(contacts)]
            async with self._unit(account_id) as unit:
                await erasure.erase(unit, id)

    async def _open_one(self, email: str) -> Opened:
        opening = Opening("Blue Door", email, Decimal("0.01"), CREDITS, b"secret")
        async with self._unit(0) as unit:
            return await open_account(unit, opening)

    def _account(self, client: int) -> Opened:
        return self.accounts[client % 2]

    def _after(self, ahead: timedelta) -> Handoff:
        return replace(self.handoff, clock=Later(ahead))

    def _unit(self, account_id: int) -> Any:
        actor = Actor(account_id, frozenset(), "machine")
        return open_unit(self.services.database.sessions, actor, self.services.clock, self.services.notify)


def is_refusal(answer: Exception) -> bool:
    """Tell a rule's refusal from a defect; no statement may be lost to another's locks either."""
    return isinstance(answer, DomainError) and not isinstance(answer, Unavailable)


class MoneyMachine(RuleBasedStateMachine):
    """Rushes of eight clients; after each, the books are audited."""

    def __init__(self, loop: asyncio.Runner, clients: Clients) -> None:
        super().__init__()
        self.loop = loop
        self.clients = clients

    @initialize()
    def open(self) -> None:
        self.loop.run(self.clients.open())

    @rule(acts=st.lists(actions, min_size=1, max_size=CLIENTS))
    def rush(self, acts: list[tuple[Any, ...]]) -> None:
        assert self.loop.run(self.clients.rush(acts)) == []

    @rule(status=st.sampled_from(["delivered", "failed"]))
    def report_all(self, status: str) -> None:
        assert self.loop.run(self.clients.rush([("report", place, status) for place in range(CLIENTS)])) == []

    @invariant()
    def every_credit_is_accounted_for(self) -> None:
        self.loop.run(audit(self.clients.pool))
        self.loop.run(audit_calls(self.clients.pool))

    def teardown(self) -> None:
        self.loop.run(self._finish())

    async def _finish(self) -> None:
        pool = self.clients.pool
        await self.clients.finish()
        await audit(pool)
        await audit_calls(pool)
        assert await MESSAGES.where(status="pending").count(pool) == 0
        handed_over = await SANDBOX_MESSAGES.read(pool, "to_number", "calls")
        assert [times for to, times in handed_over if times > (3 if to == RATE_LIMITED else 1)] == []


def test_money_is_neither_lost_nor_made_by_eight_clients_at_once(settings: Settings) -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as loop:
        opening = open_services(settings)
        services = loop.run(opening.__aenter__())
        try:
            clients = Clients(services)
            run_state_machine_as_test(
                lambda: MoneyMachine(loop, clients),
                settings=limits(
                    max_examples=12,
                    stateful_step_count=10,
                    database=None,
                    phases=[Phase.generate],
                    suppress_health_check=list(HealthCheck),
                ),
            )
        finally:
            loop.run(services.database.pool.execute(EMPTY))
            loop.run(opening.__aexit__(None, None, None))
