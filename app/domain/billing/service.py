"""Changes balances: each with its ledger entry in the same transaction.

Only refunded and disputed payments take a balance below zero.
"""

from sqlalchemy import func, select, update

from app.domain.accounts import queries as accounts
from app.domain.accounts.models import Account
from app.domain.billing import alerts
from app.domain.billing.events import BalanceChanged
from app.domain.billing.models import EntryType, LedgerEntry
from app.domain.events import outbox
from app.domain.kernel.errors import DomainError, InvalidInput
from app.domain.kernel.unit_of_work import UnitOfWork

MAX_GRANT = 10**12


class InsufficientCredits(DomainError):
    """The account has too few credits; nothing was sent or debited."""

    code = "insufficient_credits"
    status = 402
    message = "Not enough credits: {needed} needed, {balance} left. Add credits and try again."


async def lock(unit: UnitOfWork) -> None:
    """Lock the account's balance.

    A transaction that changes a balance and other rows must lock the balance first, as sends do; one lock order
    prevents deadlocks.
    """
    await accounts.lock_own(unit)


async def debit(unit: UnitOfWork, credits: int, description: str) -> int:
    """Debit credits from the account; return the balance, or raise `InsufficientCredits`."""
    statement = (
        update(Account)
        .where(Account.id == unit.actor.account_id, Account.balance >= credits)
        .values(balance=Account.balance - credits)
        .returning(Account.balance)
    )
    left = (await unit.execute(statement)).scalar_one_or_none()
    if left is None:
        balance = await unit.one(select(Account.balance).where(Account.id == unit.actor.account_id))
        raise InsufficientCredits(needed=credits, balance=balance)
    await _enter(unit, EntryType.debit, -credits, left, description)
    _record_balance(unit, left)
    return left


async def grant(unit: UnitOfWork, credits: int, note: str, *, is_shown_live: bool = True) -> int:
    """Add credits to the account, or remove them with a negative number; return the balance."""
    if credits == 0 or abs(credits) > MAX_GRANT:
        raise InvalidInput(
            reason=f"credits must be from 1 to {MAX_GRANT:,}, or as many below 0 to take some back.", field="credits"
        )
    least = 0 if credits < 0 else -MAX_GRANT
    statement = (
        update(Account)
        .where(Account.id == unit.actor.account_id, Account.balance + credits >= least)
        .values(balance=Account.balance + credits)
        .returning(Account.balance)
    )
    left = (await unit.execute(statement)).scalar_one_or_none()
    if left is None:
        raise InvalidInput(
            reason=f"Account {unit.actor.account_id} does not hold {-credits:,} credits to take back.", field="credits"
        )
    await _enter(unit, EntryType.adjustment, credits, left, note)
    if is_shown_live:
        _record_balance(unit, left)
    await alerts.rearm(unit, left)
    return left


async def give_back(unit: UnitOfWork, credits: int, description: str) -> int:
    """Refund a service that was not rendered, and return the balance. The caller makes sure that it happens once."""
    own = Account.id == unit.actor.account_id
    statement = update(Account).where(own).values(balance=Account.balance + credits).returning(Account.balance)
    left = (await unit.execute(statement)).scalar_one()
    await _enter(unit, EntryType.refund, credits, left, description)
    _record_balance(unit, left)
    return left


async def read_balance(unit: UnitOfWork) -> int:
    """Return the balance as the unit's transaction sees it."""
    return await unit.one(select(Account.balance).where(Account.id == unit.actor.account_id)) or 0


async def book(unit: UnitOfWork, type: EntryType, credits: int, description: str) -> int:
    """Add credits, or take them away with a negative number even if the balance falls below zero; return the balance.

    For decisions that were made elsewhere: money that was paid, refunded or disputed.
    """
    balance = Account.balance + credits
    statement = (
        update(Account)
        .where(Account.id == unit.actor.account_id)
        .values(balance=balance, overdraft=func.greatest(0, -balance))
        .returning(Account.balance)
    )
    left = (await unit.execute(statement)).scalar_one()
    await _enter(unit, type, credits, left, description)
    _record_balance(unit, left)
    if credits > 0:
        await alerts.rearm(unit, left)
    return left


async def forfeit(unit: UnitOfWork) -> int:
    """Set the balance of a deleted account to zero; return the forfeited credits."""
    await lock(unit)
    balance = await unit.one(select(Account.balance).where(Account.id == unit.actor.account_id)) or 0
    if balance:
        await unit.execute(update(Account).where(Account.id == unit.actor.account_id).values(balance=0))
        await _enter(unit, EntryType.forfeiture, -balance, 0, "")
    return balance


async def refund(unit: UnitOfWork, account_id: int, message_id: int, credits: int, reason: str) -> None:
    """Refund a failed message. The ledger allows one refund per message; a second one violates its unique index."""
    if credits == 0:
        return
    statement = (
        update(Account)
        .where(Account.id == account_id)
        .values(balance=Account.balance + credits)
        .returning(Account.balance)
    )
    left = (await unit.execute(statement)).scalar_one()
    entry = LedgerEntry(
        account_id=account_id,
        type=EntryType.refund,
        amount=credits,
        balance_after=left,
        message_id=message_id,
        description=reason,
        actor=unit.actor.label,
    )
    await unit.save(entry)


async def _enter(unit: UnitOfWork, type: EntryType, amount: int, left: int, description: str) -> None:
    entry = LedgerEntry(
        account_id=unit.actor.account_id,
        type=type,
        amount=amount,
        balance_after=left,
        description=description,
        actor=unit.actor.label,
    )
    await unit.save(entry)


def _record_balance(unit: UnitOfWork, left: int) -> None:
    outbox.record(unit, BalanceChanged(balance=left, actor=unit.actor.label))
