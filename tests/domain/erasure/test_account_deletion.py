"""Deleting an account: nothing is left but what is named, others keep every byte, and workers may die anywhere."""

import asyncio
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from sqlalchemy.exc import DBAPIError

from app.bootstrap import METADATA
from app.db.engine import Pool
from app.domain.erasure import accounts
from app.domain.erasure.accounts import AFTER_DEFECT, AFTER_LOCK, AGAIN_AFTER
from app.domain.erasure.tables import DELETED
from app.domain.kernel.clock import Clock
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.erasure.deletions import ask, deletions, forget_at_carriers, run_out
from tests.factories.accounts import ACCOUNTS, API_KEYS, AUDIT_ENTRIES, USERS
from tests.factories.billing import LEDGER_ENTRIES
from tests.factories.clocks import Later
from tests.factories.contacts import CONTACTS
from tests.factories.conversations import CONVERSATIONS
from tests.factories.messages import CARRIER_IDS, MESSAGES, RECEIPTS
from tests.factories.planting import MADE_ELSEWHERE, OF_THE_SERVICE, plant
from tests.factories.search import find_in_redis, find_places
from tests.factories.snapshots import rows
from tests.factories.tables import Rows
from tests.factories.traps import column_gone, locked, lost_at_commit

WORD = "Quackenbush"
KEPT = {("suppressions", "phone"), ("suppressions", "reason")}
"""Places with words of the account after its deletion: suppressed phones and reasons."""

LEFT = Counter({"accounts": 1, "ledger_entries": 3, "suppressions": 1})
"""The rows of an account afterwards: itself, its ledger, and what was opted out of."""


@pytest.fixture
async def before(pool: Pool, new_account: Callable[..., Any]) -> dict[str, list[str]]:
    """Give every row of another tenant, which has some in every table."""
    other: Opened = await new_account(company_name="Red Door")
    await plant(pool, other.account_id, "Wombat")
    return await rows(pool)


@pytest.fixture
async def mine(pool: Pool, before: dict[str, list[str]], new_account: Callable[..., Any]) -> int:
    """Give the id of the account that is deleted, which has rows in every table."""
    opened: Opened = await new_account()
    await plant(pool, opened.account_id, WORD)
    return opened.account_id


async def owned(pool: Pool, others: dict[str, list[str]]) -> Counter[str]:
    """Count the rows that are there beside those of others; fail where one of those is not as it was."""
    found = Counter[str]()
    for name, each in (await rows(pool)).items():
        assert Counter(others[name]) <= Counter(each), f"rows of others in {name} changed"
        found[name] = len(each) - len(others[name])
    return +found


def planted() -> Collection[str]:
    return {table.name for table in METADATA.sorted_tables} - OF_THE_SERVICE - MADE_ELSEWHERE


async def test_only_the_named_rows_of_a_deleted_account_are_left_and_others_keep_every_byte(
    services: Services, pool: Pool, mine: int, before: dict[str, list[str]]
) -> None:
    for _ in range(2):
        await plant(pool, mine, WORD)
    found = await find_places(pool, [WORD])
    without_texts = {"balance_alerts", "creators", "erased_calls", "job_keys", "scheduled_texts", "status_queries"}
    without_texts |= {"webhook_hours"}
    assert {table for table, _ in found} | without_texts >= planted()

    await ask(services, mine)
    await run_out(deletions(services))
    await forget_at_carriers(services)
    await run_out(deletions(services, minutes=61))

    assert await owned(pool, before) == LEFT + Counter({"ledger_entries": 2, "suppressions": 2})
    assert {*await find_places(pool, [WORD])} == KEPT
    assert await find_in_redis(services.settings.redis_url or "", [WORD]) == []


def test_every_table_of_an_account_is_a_part_of_its_deletion_or_kept() -> None:
    of_accounts = {table.name for table in METADATA.sorted_tables if "account_id" in table.c}

    assert of_accounts - {table.name for table in DELETED} == set()


async def test_the_ledger_keeps_its_figures_and_the_account_its_id(
    services: Services, pool: Pool, mine: int, before: dict[str, list[str]]
) -> None:
    await ask(services, mine)
    await run_out(deletions(services))

    entries = await LEDGER_ENTRIES.where(account_id=mine).read(pool, "type", "amount", "description", "actor")
    [account] = await ACCOUNTS.where(id=mine).read(pool, "company_name", "support_contact", "balance", "status")
    assert entries == [
        ("adjustment", 1000, "", ""),
        ("debit", 0, "", ""),
        ("forfeiture", -1000, "", ""),
    ]
    assert account == ("", "", 0, "deleted")


async def test_the_ids_of_the_parts_of_its_messages_end_with_it(services: Services, pool: Pool, mine: int) -> None:
    message_id = await MESSAGES.where(account_id=mine).only(pool, "id")
    part = {"carrier": "sandbox", "provider_message_id": "part", "direction": "outbound", "part": 2, "parts": 2}
    await CARRIER_IDS.insert(pool, message_id=message_id, **part)
    await ask(services, mine)

    await run_out(deletions(services))

    assert await CARRIER_IDS.where(provider_message_id="part").count(pool) == 0


async def test_a_worker_may_die_after_every_batch(
    services: Services, pool: Pool, mine: int, before: dict[str, list[str]]
) -> None:
    await ask(services, mine)

    batches = 0
    while await deletions(services, batch=1).run():
        batches += 1
    await forget_at_carriers(services)

    assert batches > len(DELETED)
    assert await owned(pool, before) == LEFT


async def test_a_failed_batch_is_rolled_back_alone_and_retried_later(
    services: Services, pool: Pool, mine: int, before: dict[str, list[str]]
) -> None:
    await ask(services, mine)
    job = deletions(services)

    async with column_gone(pool, "receipts", "message_id"):
        with pytest.raises(Exception, match="message_id"):
            await run_out(job)
        between = await MESSAGES.where(account_id=mine).count(pool), await job.run()
    await run_out(deletions(services, seconds=AFTER_DEFECT.total_seconds()))
    await forget_at_carriers(services, minutes=10)

    assert between == (1, False)
    assert await owned(pool, before) == LEFT


async def test_a_lost_connection_puts_a_deletion_off_for_no_longer_than_it_is_away(
    services: Services, pool: Pool, mine: int, before: dict[str, list[str]]
) -> None:
    await ask(services, mine)
    due_at = await ACCOUNTS.where(id=mine).only(pool, "deletion_at")
    job = deletions(services)

    async with lost_at_commit(pool, "accounts"):
        with pytest.raises(DBAPIError):
            await job.run()
    between = await ACCOUNTS.where(id=mine).only(pool, "status", "deletion_at")
    await run_out(job)
    await forget_at_carriers(services)

    assert between == ("active", due_at)
    assert await owned(pool, before) == LEFT


class SetBack(Clock):
    """A clock that is set back an hour after it was asked once, as if a deletion was put off meanwhile."""

    def __init__(self) -> None:
        self._back = timedelta()

    def now(self) -> datetime:
        now, self._back = super().now() - self._back, timedelta(hours=1)
        return now


async def test_an_account_that_is_due_no_longer_when_it_is_locked_stays_as_it_is(
    services: Services, pool: Pool, account: Opened
) -> None:
    await ask(services, account.account_id)
    due_at = await ACCOUNTS.only(pool, "deletion_at")

    closed = await replace(deletions(services), clock=SetBack()).run()

    assert closed is False
    assert await ACCOUNTS.only(pool, "status", "deletion_at") == ("active", due_at)


async def test_an_empty_account_that_is_due_no_longer_when_it_is_locked_is_finished_later(
    services: Services, pool: Pool, account: Opened
) -> None:
    await ask(services, account.account_id)
    due_at = await ACCOUNTS.only(pool, "deletion_at")
    job = deletions(services)
    await job.run()

    while await replace(job, clock=SetBack()).run():
        pass
    between = await ACCOUNTS.only(pool, "deletion_at")
    await run_out(job)

    assert between == due_at
    assert await ACCOUNTS.only(pool, "deletion_at") == await ACCOUNTS.only(pool, "deleted_at") + AGAIN_AFTER


async def test_an_account_that_cannot_be_deleted_holds_up_no_other(
    services: Services, pool: Pool, mine: int, new_account: Callable[..., Any]
) -> None:
    other: Opened = await new_account()
    await ask(services, mine)
    await ask(services, other.account_id)
    job = deletions(services)

    async with column_gone(pool, "receipts", "message_id"):
        with pytest.raises(Exception, match="message_id"):
            await run_out(job)
        await run_out(job)

    assert await ACCOUNTS.where(id=other.account_id).only(pool, "deletion_at") > await ACCOUNTS.where(id=mine).only(
        pool, "deletion_at"
    )
    assert await MESSAGES.where(account_id=mine).count(pool) == 1


async def test_two_workers_at_once_delete_it_once(
    services: Services, pool: Pool, mine: int, before: dict[str, list[str]]
) -> None:
    await ask(services, mine)
    workers = deletions(services, batch=1), deletions(services, batch=1)

    while await deletions(services).due():
        await asyncio.gather(*(worker.run() for worker in workers))
    await forget_at_carriers(services)

    assert await owned(pool, before) == LEFT
    assert await LEDGER_ENTRIES.where(account_id=mine, type="forfeiture").read(pool, "amount") == [-1000]


async def test_a_row_that_another_transaction_holds_is_waited_for(
    services: Services, pool: Pool, mine: int, before: dict[str, list[str]]
) -> None:
    await ask(services, mine)
    job = deletions(services)

    async with locked(pool, MESSAGES.where(account_id=mine)):
        await run_out(job)
        between = [await each.where(account_id=mine).count(pool) for each in (MESSAGES, CONVERSATIONS)]
    early = await job.run()
    await run_out(replace(job, clock=Later(AFTER_LOCK)))
    await forget_at_carriers(services, minutes=1)

    assert (between, early) == ([1, 1], False)
    assert await owned(pool, before) == LEFT


@pytest.mark.parametrize("held", [RECEIPTS, USERS], ids=["receipts", "users"])
async def test_an_account_with_locked_rows_holds_up_no_other(
    services: Services,
    pool: Pool,
    mine: int,
    new_account: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    held: Rows,
) -> None:
    monkeypatch.setattr(accounts, "PATIENCE", "50ms")
    other: Opened = await new_account()
    await ask(services, mine)
    await ask(services, other.account_id)

    own = held.where(account_id=mine) if held is USERS else held
    async with locked(pool, own):
        await run_out(deletions(services))

    assert await USERS.where(account_id=other.account_id).count(pool) == 0
    assert await USERS.where(account_id=mine).count(pool) == 2


async def test_rows_written_during_the_deletion_are_deleted_an_hour_later(
    services: Services, pool: Pool, mine: int, before: dict[str, list[str]]
) -> None:
    await ask(services, mine)
    await run_out(deletions(services))
    await CONTACTS.insert(pool, account_id=mine, phone=WORD)

    early = await deletions(services, seconds=AGAIN_AFTER.total_seconds() - 60).due()
    later = deletions(services, seconds=AGAIN_AFTER.total_seconds() + 60)
    await run_out(later)
    await forget_at_carriers(services)

    assert (early, await later.due()) == (False, False)
    assert await owned(pool, before) == LEFT
    assert await ACCOUNTS.where(id=mine).only(pool, "deletion_at") is None


async def test_a_worker_that_helped_before_looks_through_all_of_it_again(
    services: Services, pool: Pool, mine: int, before: dict[str, list[str]]
) -> None:
    await ask(services, mine)
    first, helper = deletions(services, batch=1), deletions(services, batch=1)
    await first.run()
    while await CONTACTS.where(account_id=mine).count(pool):
        await first.run()
    await helper.run()
    await run_out(first)
    await CONTACTS.insert(pool, account_id=mine, phone=WORD)

    again = replace(helper, clock=Later(AGAIN_AFTER + timedelta(seconds=60)))
    await run_out(again)
    await forget_at_carriers(services)

    assert await owned(pool, before) == LEFT


async def test_a_deletion_that_takes_longer_than_an_hour_is_looked_through_again_too(
    services: Services, pool: Pool, mine: int, before: dict[str, list[str]]
) -> None:
    await ask(services, mine)
    job = deletions(services)
    while await AUDIT_ENTRIES.where(account_id=mine).count(pool):
        await job.run()
    await CONTACTS.insert(pool, account_id=mine, phone=WORD)

    await run_out(replace(job, clock=Later(AGAIN_AFTER + timedelta(seconds=60))))
    await forget_at_carriers(services)

    assert await owned(pool, before) == LEFT


async def test_keys_that_follow_one_another_over_several_batches_are_deleted(
    services: Services, pool: Pool, mine: int, before: dict[str, list[str]]
) -> None:
    ids = await API_KEYS.where(account_id=mine).read(pool, "id")
    for number in range(5):
        key = await API_KEYS.where(id=ids[0]).only(pool)
        values = {name: value for name, value in key.items() if name not in {"id", "successor_id"}}
        ids.append(await API_KEYS.insert(pool, **values | {"hash": bytes([number]) * 32}))
    for old, new in pairwise(reversed(ids)):
        await API_KEYS.where(id=new).change(pool, successor_id=old)
    await ask(services, mine)

    await run_out(deletions(services, batch=2))
    await forget_at_carriers(services)

    assert await owned(pool, before) == LEFT
