"""Reads and checks the ledger and the balances."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from tests.factories.accounts import ACCOUNTS
from tests.factories.messages import OUTBOUND
from tests.factories.tables import Rows, Source, open_pool
from tests.factories.writing import WRITER_CALLS

BALANCE_ALERTS = Rows("balance_alerts")
LEDGER_DAYS = Rows("ledger_days")
PAYMENTS = Rows("payments")
PAYMENT_CUSTOMERS = Rows("payment_customers")
PAYMENT_INSTALLATIONS = Rows("payment_installations")
PLAN_SUBSCRIPTIONS = Rows("plan_subscriptions")
LEDGER_ENTRIES = Rows("ledger_entries")


async def balance_of(source: Source, account_id: int | None = None) -> int:
    """Return the balance of an account, by default of the only one."""
    which = ACCOUNTS if account_id is None else ACCOUNTS.where(id=account_id)
    return await which.only(source, "balance")


async def entries(source: Source) -> list[tuple[str, int, int]]:
    """Return the debits and refunds of messages: type, amount and balance after it."""
    return await LEDGER_ENTRIES.where_not(message_id=None).read(source, "type", "amount", "balance_after")


async def debit_at(source: Source, account_id: int, credits: int, at: datetime, message_id: int | None) -> None:
    """Insert a past debit."""
    await LEDGER_ENTRIES.insert(
        source,
        account_id=account_id,
        type="debit",
        amount=-credits,
        balance_after=0,
        description="",
        actor="",
        created_at=at,
        message_id=message_id,
    )


async def refund_debits(source: Source, credits: int) -> None:
    """Refund each debit of the given credits, at the time of the debit."""
    refunded = (
        "INSERT INTO ledger_entries"
        " (account_id, type, amount, balance_after, description, actor, created_at, message_id)"
        " SELECT account_id, 'refund', $1::bigint, 0, '', '', created_at, message_id"
        " FROM ledger_entries WHERE amount = -$1::bigint"
    )
    await open_pool(source).execute(refunded, credits)


async def audit(source: Source) -> None:
    """Fail unless the ledger is consistent: balances, one debit for each message, one refund for each failure.

    Only refunded and disputed payments take a balance below zero, as far as the overdraft of the account. The sums of
    the days, and those of the payments, must be those of the ledger.
    """
    chain = await LEDGER_ENTRIES.read(source, "account_id", "type", "amount", "balance_after", "message_id")
    balances = Counter[int]()
    for entry in chain:
        balances[entry["account_id"]] += entry["amount"]
        assert entry["balance_after"] == balances[entry["account_id"]]
        assert entry["balance_after"] >= 0 or entry["amount"] > 0 or entry["type"] in ("reversal", "dispute")
    assert await LEDGER_DAYS.read(source) == await _summed_up(source)
    accounts = await ACCOUNTS.read(source, "id", "balance", "overdraft")
    assert {row["id"]: row["balance"] for row in accounts} == {row["id"]: balances[row["id"]] for row in accounts}
    assert [row for row in accounts if row["balance"] < -row["overdraft"]] == []
    await _audit_payments(source, chain)

    debits = {row["message_id"]: -row["amount"] for row in chain if row["type"] == "debit" and row["message_id"]}
    refunds = {row["message_id"]: row["amount"] for row in chain if row["type"] == "refund" and row["message_id"]}
    assert len(debits) + len(refunds) == sum(row["message_id"] is not None for row in chain)
    assert refunds.items() <= debits.items()

    messages = {row["id"]: row for row in await OUTBOUND.read(source, "id", "status", "credits", "cost")}
    paid = {id for id, row in messages.items() if row["credits"]}
    assert {id: messages[id]["credits"] for id in paid} == {id: debits[id] for id in paid}
    assert paid & refunds.keys() == {id for id in paid if messages[id]["status"] == "failed"}
    assert {id for id in paid if messages[id]["cost"] == 0} == paid & refunds.keys()


async def audit_calls(source: Source) -> None:
    """Fail unless each call of the AI that has ended cost its credits or nothing; other debits are those of texts."""
    spent, expected = Counter[int](), Counter[int]()
    for entry in await LEDGER_ENTRIES.where(message_id=None).read(source, "account_id", "type", "amount"):
        if entry["type"] in ("debit", "refund"):
            spent[entry["account_id"]] -= entry["amount"]
    for row in await WRITER_CALLS.where_not(status="refunded").read(source, "account_id", "credits"):
        expected[row["account_id"]] += row["credits"]
    assert spent == expected


async def _audit_payments(source: Source, chain: Sequence[Any]) -> None:
    """Fail unless the ledger has the credits of each payment, less those of its refunds and disputes."""
    booked, expected = Counter[tuple[int, str]](), Counter[tuple[int, str]]()
    for entry in chain:
        if entry["type"] in ("purchase", "reversal", "dispute"):
            booked[entry["account_id"], entry["type"]] += entry["amount"]
    for row in await PAYMENTS.read(source, "account_id", "purchased", "reversed", "withheld"):
        assert 0 <= row["reversed"] + row["withheld"] <= row["purchased"]
        expected[row["account_id"], "purchase"] += row["purchased"]
        expected[row["account_id"], "reversal"] -= row["reversed"]
        expected[row["account_id"], "dispute"] -= row["withheld"]
    assert booked == expected


async def _summed_up(source: Source) -> list[Any]:
    """Return the rows of `ledger_days` that follow from the ledger."""
    sums = (
        "SELECT account_id, (created_at AT TIME ZONE 'UTC')::date AS day, type, count(*) AS entries,"
        " sum(amount)::bigint AS amount, sum(CASE WHEN message_id IS NULL THEN 0 ELSE amount END)::bigint"
        " AS text_amount, min(CASE WHEN message_id IS NOT NULL THEN created_at END) AS first_text_at"
        " FROM ledger_entries GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
    )
    return await open_pool(source).fetch(sums)
