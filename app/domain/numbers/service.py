"""Assigns sending numbers to accounts, and sets their paces, labels and the primary one."""

from sqlalchemy import update

from app.domain.accounts import users
from app.domain.carriers.models import CarrierConnection
from app.domain.kernel.errors import Conflict, InvalidInput, NotFound
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.numbers import paces, queries
from app.domain.numbers.models import PhoneNumber

MAX_LABEL = 100
SANDBOX_RANGE = 15_002_000_000
"""The sandbox's senders are +1500 200 0000 and up, a range of personal numbers that no carrier routes texts to."""


async def assign_sandbox_number(unit: UnitOfWork, label: str = "Sandbox") -> PhoneNumber:
    """Assign the account a number at the sandbox carrier; the first one becomes the primary."""
    number = PhoneNumber(
        account_id=unit.actor.account_id, phone_number="", label=label, carrier="sandbox", status="released"
    )
    await unit.save(number)
    number.phone_number, number.status = f"+{SANDBOX_RANGE + number.id}", "active"
    await unit.save(number)
    await keep_primary(unit)
    return number


async def keep_primary(unit: UnitOfWork) -> None:
    """Choose the primary number after a change of the numbers; the account is locked, or new.

    It stays the same, except that a number of the sandbox gives way to the oldest one that reaches phones.
    """
    primary = await queries.find_primary(unit)
    if primary is None or primary.is_primary:
        return
    own = PhoneNumber.account_id == unit.actor.account_id, PhoneNumber.is_primary
    await unit.execute(update(PhoneNumber).where(*own).values(is_primary=False))
    primary.is_primary = True
    await unit.save(primary)


async def set_primary(unit: UnitOfWork, id: int) -> PhoneNumber:
    """Choose the number that is used when none is named; raise `NotFound`, or `Conflict` for one of the sandbox.

    A number of the sandbox can be chosen only while the account has no other, and a paused one never.
    """
    await users.lock_account(unit)
    number = await _get_active(unit, id)
    if number.is_paused:
        raise Conflict(reason="The number is paused. Resume it, or choose another one.", field="id")
    if number.id not in {each.id for each in await queries.list_usual(unit)}:
        reason = "A number of the sandbox reaches no phones. Choose a number at a carrier."
        raise Conflict(reason=reason, field="id")
    own = PhoneNumber.account_id == unit.actor.account_id, PhoneNumber.is_primary
    await unit.execute(update(PhoneNumber).where(*own).values(is_primary=False))
    number.is_primary = True
    await unit.save(number)
    return number


async def set_paused(unit: UnitOfWork, id: int, *, paused: bool) -> PhoneNumber:
    """Pause or resume an active number; raise `NotFound`.

    No new text is accepted from a paused number: texts that name it are refused, others leave from another number, and
    another one becomes the primary, if there is one. Accepted texts leave, and texts that come in are received.
    """
    await users.lock_account(unit)
    number = await _get_active(unit, id)
    number.is_paused = paused
    if not paused:
        number.refusals = 0
    await unit.save(number)
    await keep_primary(unit)
    return number


async def rename(unit: UnitOfWork, id: int, label: str) -> PhoneNumber:
    """Give an active number another label, which only the account sees; raise `InvalidInput` or `NotFound`."""
    label = " ".join(label.split())
    if not 1 <= len(label) <= MAX_LABEL:
        raise InvalidInput(reason=f"label must have from 1 to {MAX_LABEL} characters.", field="label")
    number = await _get_active(unit, id)
    number.label = label
    await unit.save(number)
    return number


async def move(unit: UnitOfWork, number: PhoneNumber, connection: CarrierConnection) -> None:
    """Serve a number by another connection. The account is locked; `messages.connections` moves the texts that wait."""
    number.carrier = connection.key
    if number.parts_per_second is None:
        number.parts_per_second = paces.default_pace(number.phone_number, connection.kind)
    await unit.save(number)
    await keep_primary(unit)


async def set_pace(unit: UnitOfWork, id: int, parts_per_second: float | None) -> PhoneNumber:
    """Set how many SMS parts a second may leave from an active number; None stands for the default of its kind.

    Raises `NotFound`, and `InvalidInput` for a pace beyond `SLOWEST` or `FASTEST`.
    """
    if parts_per_second is not None and not paces.SLOWEST <= parts_per_second <= paces.FASTEST:
        reason = f"parts_per_second must be from {paces.SLOWEST:g} to {paces.FASTEST:g}."
        raise InvalidInput(reason=reason, field="parts_per_second")
    number = await _get_active(unit, id)
    default = paces.default_pace(number.phone_number, number.carrier)
    number.parts_per_second = default if parts_per_second is None else parts_per_second
    await unit.save(number)
    unit.notify("messages")
    return number


async def _get_active(unit: UnitOfWork, id: int) -> PhoneNumber:
    number = await queries.find(unit, id)
    if number is None:
        raise NotFound(kind="active phone number", id=id)
    return number
