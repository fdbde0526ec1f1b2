"""Texts that no gate refuses are accepted in one statement, with the results of the acceptance of each."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from app.db.engine import Connection, Pool
from app.domain.campaigns import enqueue
from app.domain.campaigns.runner import CampaignRunner
from app.domain.messages.acceptor import SendAcceptor
from app.domain.messages.sending.bulk import BulkAcceptance
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.campaigns.conftest import Accept, Make, Run
from tests.factories.accounts import ACCOUNTS
from tests.factories.billing import LEDGER_ENTRIES, audit
from tests.factories.campaigns import CAMPAIGN_RECIPIENTS, add_people, audit_counts, states
from tests.factories.clocks import At
from tests.factories.contacts import CONSENTS, CONTACTS
from tests.factories.conversations import CONVERSATIONS, open_conversations
from tests.factories.events import EVENTS
from tests.factories.messages import MESSAGES, OUTGOING
from tests.factories.numbers import add_number
from tests.factories.plans import plan, statistics_of_an_empty_table
from tests.factories.quiet_hours import CAPPED_TEXTS, obey_the_law

pytestmark = pytest.mark.anyio

Add = Callable[..., Awaitable[int]]

DAY, NIGHT = datetime(2030, 1, 15, 18, tzinfo=UTC), datetime(2030, 1, 15, 8, tzinfo=UTC)
"""Times at which it is noon, and night, in the whole of North America."""

WRITTEN = (
    (
        MESSAGES,
        "account_id contact_id direction from_number to_number body status purpose segments encoding"
        " credits cost carrier actor request_id original_body created_at deferral_rule deferral_zones",
    ),
    (OUTGOING, "account_id lane number carrier segments claimed_until expires_at attempts"),
    (LEDGER_ENTRIES, "account_id type amount balance_after actor created_at"),
    (CONSENTS, "account_id phone kind method text actor recorded_at"),
    (CAPPED_TEXTS, "account_id phone has_left"),
    (CONVERSATIONS, "contact_id sending_number version last_outbound_at last_message_at ai_state"),
    (
        CAMPAIGN_RECIPIENTS,
        "contact_id phone state reason body original_body segments credits number due_at settled_at",
    ),
    (ACCOUNTS, "balance"),
    (EVENTS, "account_id name contact_id"),
)
"""The rows that an acceptance writes, without ids and the times that are spread by them."""


class Undone(Exception):
    """The batch is rolled back, after it wrote some rows."""

    def __init__(self, rows: dict[str, list[Any]]) -> None:
        self.rows = rows


async def read_rows(connection: Connection) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for rows, columns in WRITTEN:
        values = await rows.read(connection, *columns.split())
        found[rows.table] = sorted(map(repr, values))
    return found


async def accept_and_undo(worker: CampaignRunner) -> dict[str, list[Any]]:
    """Return the rows after a batch, which is rolled back."""
    try:
        async with worker._due() as (connection, campaign):
            assert campaign
            await worker._step(connection, campaign)
            raise Undone(await read_rows(connection))
    except Undone as undone:
        return undone.rows


@pytest.fixture
async def sent(pool: Pool, account: Opened, add: Add, send: Make, accept: Accept) -> None:
    """Send a campaign to contacts some of which change after it was read."""
    await obey_the_law(pool)
    await add_number(pool, account.account_id, "+13125550199")
    for number, name in enumerate(("Ann", "Zoë", "Łukasz", "Łukasz", "李", "Cy", "Dee", "Eve", "Flo")):
        await add(f"+1202555014{number}", first_name=name)
    await add("+13125550140", first_name="Gil", time_zone="America/Los_Angeles")
    await add("+14155550143", first_name="Hal")
    await open_conversations(pool)
    ann = await CONTACTS.where(phone="+12025550140").only(pool, "id")
    await CONVERSATIONS.where(contact_id=ann).change(pool, sending_number="+13125550199")
    await add("+14155550150", first_name="Ivy")  # without a conversation
    await send(body="Hi {first_name}, our “sale” begins today.")
    await accept(1)
    await CONTACTS.where(phone="+12025550145").change(pool, dnd_sms=True)
    await CONTACTS.where(phone="+12025550146").change(pool, status="opted_out")
    await CONTACTS.where(phone="+12025550147").change(pool, phone="+12025550157")


@pytest.mark.usefixtures("sent")
@pytest.mark.parametrize(("now", "reason"), [(DAY, ""), (NIGHT, "deferred")])
async def test_a_batch_writes_the_same_rows_as_the_acceptance_of_each_text(
    services: Services, pool: Pool, runner: CampaignRunner, monkeypatch: pytest.MonkeyPatch, now: datetime, reason: str
) -> None:
    await cap(pool, "+12025550148", now)
    acceptor = SendAcceptor(pool, At(now), services.notify, services.connections)
    worker = replace(runner, acceptor=acceptor, clock=At(now))

    in_bulk = await accept_and_undo(worker)
    monkeypatch.setattr(BulkAcceptance, "decide", lambda *_: None)
    one_by_one = await accept_and_undo(worker)

    assert in_bulk == one_by_one
    assert sum(f"state='claimed' reason={reason!r}" in row for row in in_bulk["campaign_recipients"]) == 8


async def cap(pool: Pool, phone: str, now: datetime) -> None:
    """Let a phone have got all texts that the cap of the account allows."""
    account_id = await ACCOUNTS.only(pool, "id")
    for id in range(-6, 0):
        await CAPPED_TEXTS.insert(pool, message_id=id, account_id=account_id, phone=phone, at=now)


async def audit_conversations(pool: Pool) -> None:
    """Check that each contact has one conversation, with its one text."""
    linked = await MESSAGES.read(pool, "contact_id", "conversation_id")
    assert sorted(linked) == sorted(await CONVERSATIONS.read(pool, "contact_id", "id"))
    assert set(await CONVERSATIONS.read(pool, "version")) == {1}


@pytest.mark.parametrize("have_conversations", [True, False])
async def test_texts_that_no_gate_refuses_are_accepted_in_one_statement(
    pool: Pool, send: Make, accept: Accept, run: Run, monkeypatch: pytest.MonkeyPatch, *, have_conversations: bool
) -> None:
    await add_people(pool, 5)
    if have_conversations:
        await open_conversations(pool)
    await send()
    await accept(1)
    monkeypatch.delattr(SendAcceptor, "accept_all")

    await run()

    assert await CAMPAIGN_RECIPIENTS.read(pool, "state", "credits") == [("delivered", 1)] * 5
    assert await LEDGER_ENTRIES.where(type="debit").read(pool, "balance_after") == [999, 998, 997, 996, 995]
    await audit_conversations(pool)
    await audit(pool)
    await audit_counts(pool)


def suppress(pool: Pool) -> Awaitable[None]:
    suppressed = {"state": "suppressed", "reason": "contact_deleted", "segments": 0, "credits": 0}
    return CAMPAIGN_RECIPIENTS.where(phone="+12022000003").change(pool, **suppressed)


def delete(pool: Pool) -> Awaitable[None]:
    return CONTACTS.where(phone="+12022000003").delete(pool)


@pytest.mark.parametrize("have_conversations", [True, False])
@pytest.mark.parametrize("change", [suppress, delete])
async def test_a_recipient_that_changes_while_its_batch_is_written_gets_no_text_of_it(
    pool: Pool,
    send: Make,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[Pool], Awaitable[None]],
    *,
    have_conversations: bool,
) -> None:
    await add_people(pool, 5)
    if have_conversations:
        await open_conversations(pool)
    await send()
    meanwhile(monkeypatch, lambda: change(pool))

    await run()

    assert await states(pool) == {"delivered": 4, "suppressed": 1}
    assert "+12022000003" not in await MESSAGES.read(pool, "to_number")
    assert await ACCOUNTS.only(pool, "balance") == 996
    await audit(pool)
    await audit_counts(pool)


async def test_a_text_in_bulk_that_opens_a_conversation_tells_of_it(pool: Pool, add: Add, send: Make, run: Run) -> None:
    contact = await add("+12025550143", first_name="Ann", last_name="Lee", email="ann@example.com")
    await send(body="Hi {first_name}, our sale begins today.")

    await run()

    [opened] = await EVENTS.where(name="new_conversation").read(pool, "payload")
    told = {name: value for name, value in opened.items() if name not in ("from_number", "started_at")}
    assert told == {
        "conversation_id": await CONVERSATIONS.where(contact_id=contact).only(pool, "id"),
        "contact_id": contact,
        "first_name": "Ann",
        "last_name": "Lee",
        "phone": "+12025550143",
        "email": "ann@example.com",
        "first_message": "Hi Ann, our sale begins today.",
        "to_number": "+12025550143",
    }


def meanwhile(monkeypatch: pytest.MonkeyPatch, change: Callable[[], Awaitable[None]]) -> None:
    """Let a change be committed once, after the facts about a batch are read and before it is written."""
    read = BulkAcceptance.of

    async def changed(*given: Any) -> BulkAcceptance:
        monkeypatch.setattr(BulkAcceptance, "of", read)
        await change()
        return await read(*given)

    monkeypatch.setattr(BulkAcceptance, "of", changed)


async def test_a_conversation_that_begins_while_a_batch_is_written_gets_the_text(
    pool: Pool, send: Make, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    await add_people(pool, 5)
    await send()
    meanwhile(monkeypatch, lambda: open_conversations(pool))

    await run()

    assert await states(pool) == {"delivered": 5}
    await audit_conversations(pool)
    assert await EVENTS.where(name="new_conversation").count(pool) == 0
    await audit(pool)
    await audit_counts(pool)


async def test_a_batch_in_one_statement_finds_each_recipient_by_its_whole_key(
    pool: Pool, send: Make, accept: Accept
) -> None:
    async with statistics_of_an_empty_table(pool, CAMPAIGN_RECIPIENTS):
        await add_people(pool, 500)
        await open_conversations(pool)
        campaign = await send()
        await accept(1)
        queued = await CAMPAIGN_RECIPIENTS.where(state="queued").read(pool, "id", "account_id")
        ids, account_id = [row["id"] for row in queued][:10], queued[0]["account_id"]
        common = account_id, "campaign:1", DAY, DAY, 0.01
        columns = ids, ids, ids, [], [], [], ["+12025550143"], ["sandbox"], []
        found = await plan(pool, enqueue.WRITE, *common, *columns, campaign.id)

    assert "AND (id = d.id)" in found, found
    assert "TID Cond" in found, found
