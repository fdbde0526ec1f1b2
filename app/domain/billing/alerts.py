"""Warns the owners of an account once when its balance falls below their threshold."""

from sqlalchemy import delete, select, update
from sqlalchemy.dialects.postgresql import insert

from app.domain.accounts import sql as accounts
from app.domain.accounts.models import Account
from app.domain.billing.events import LowBalance
from app.domain.billing.models import BalanceAlert
from app.domain.events import outbox
from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.unit_of_work import UnitOfWork

MAX_THRESHOLD = 10**9

FIND_LOW = f"""
SELECT w.account_id FROM balance_alerts w {accounts.join("w.account_id")}
WHERE w.warned_at IS NULL AND a.balance < w.threshold AND a.status <> 'deleted' AND $1::timestamptz IS NOT NULL
"""
"""Find the accounts to warn, whatever the instant `$1`."""


async def find_threshold(unit: UnitOfWork) -> int | None:
    """Return the balance below which the account's owners are warned; None if they are not."""
    return await unit.one(select(BalanceAlert.threshold).where(BalanceAlert.account_id == unit.actor.account_id))


async def set_threshold(unit: UnitOfWork, threshold: int | None) -> None:
    """Set the balance below which the owners are warned, or None for no warnings; raise `InvalidInput`.

    A balance that is below a new threshold is warned of at once.
    """
    if threshold is None:
        await unit.execute(delete(BalanceAlert).where(BalanceAlert.account_id == unit.actor.account_id))
        return
    if not 1 <= threshold <= MAX_THRESHOLD:
        raise InvalidInput(reason=f"credits must be from 1 to {MAX_THRESHOLD:,}.", field="credits")
    row = insert(BalanceAlert).values(account_id=unit.actor.account_id, threshold=threshold)
    changed = {"threshold": threshold, "warned_at": None}
    await unit.execute(
        row.on_conflict_do_update(
            index_elements=["account_id"], set_=changed, where=BalanceAlert.threshold != threshold
        )
    )


async def rearm(unit: UnitOfWork, balance: int) -> None:
    """Warn again at the next fall below the threshold, once added credits have raised the balance to it."""
    own = BalanceAlert.account_id == unit.actor.account_id, BalanceAlert.warned_at.is_not(None)
    await unit.execute(update(BalanceAlert).where(*own, BalanceAlert.threshold <= balance).values(warned_at=None))


async def warn(unit: UnitOfWork) -> int:
    """Record the event of a low balance, of which owners get notices, unless it was recorded; return 1 if so.

    The balance is locked, so that credits which are added meanwhile re-arm the warning after it.
    """
    account = select(Account.balance).where(Account.id == unit.actor.account_id)
    balance = await unit.one(account.with_for_update(key_share=True)) or 0
    own = select(BalanceAlert).where(BalanceAlert.account_id == unit.actor.account_id)
    alert = await unit.one(own.with_for_update().execution_options(populate_existing=True))
    if alert is None or alert.warned_at or balance >= alert.threshold:
        return 0
    alert.warned_at = unit.clock.now()
    await unit.save(alert)
    outbox.record(unit, LowBalance(balance=balance, threshold=alert.threshold))
    return 1
