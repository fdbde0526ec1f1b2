"""Assigns sending numbers to accounts."""

from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.numbers import queries
from app.domain.numbers.models import PhoneNumber

SANDBOX_RANGE = 15_002_000_000
"""The sandbox's senders are +1500 200 0000 and up, a range of personal numbers that no carrier routes texts to."""


async def assign_sandbox_number(unit: UnitOfWork, label: str = "Sandbox") -> PhoneNumber:
    """Assign the account a number at the sandbox carrier; the first one becomes the primary."""
    first = await queries.find_primary(unit) is None
    number = PhoneNumber(
        account_id=unit.actor.account_id, phone_number="", label=label, carrier="sandbox", status="released"
    )
    await unit.save(number)
    number.phone_number, number.status, number.is_primary = f"+{SANDBOX_RANGE + number.id}", "active", first
    await unit.save(number)
    return number
