"""Assigns sending numbers to accounts, and sets their paces."""

from app.domain.kernel.errors import InvalidInput, NotFound
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.numbers import paces, queries
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


async def set_pace(unit: UnitOfWork, id: int, parts_per_second: float | None) -> PhoneNumber:
    """Set how many SMS parts a second may leave from an active number; None stands for the default of its kind.

    Raises `NotFound`, and `InvalidInput` for a pace beyond `SLOWEST` or `FASTEST`.
    """
    if parts_per_second is not None and not paces.SLOWEST <= parts_per_second <= paces.FASTEST:
        reason = f"parts_per_second must be from {paces.SLOWEST:g} to {paces.FASTEST:g}."
        raise InvalidInput(reason=reason, field="parts_per_second")
    number = await queries.find(unit, id)
    if number is None:
        raise NotFound(kind="active phone number", id=id)
    default = paces.default_pace(number.phone_number, number.carrier)
    number.parts_per_second = default if parts_per_second is None else parts_per_second
    await unit.save(number)
    unit.notify("messages")
    return number
