"""Numbers of connections: import them, add one by hand, release one."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlalchemy import select, text
from sqlalchemy.dialects.postgresql import insert

from app.domain.accounts import queries as accounts
from app.domain.carriers import queries as carriers
from app.domain.carriers.carrier import Capabilities, CarrierNumber
from app.domain.carriers.errors import refusals
from app.domain.carriers.models import CarrierConnection
from app.domain.carriers.service import Ports
from app.domain.kernel import phone
from app.domain.kernel.errors import Conflict, InvalidInput, NotFound
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.numbers import paces, queries, service
from app.domain.numbers.models import NumberStatus, PhoneNumber

SHORT_CODE = re.compile(r"[0-9]{3,8}")
ALPHANUMERIC = re.compile(r"(?=.*[A-Za-z])[A-Za-z0-9 &-]{1,11}")
MAX_LABEL = 100


@dataclass(slots=True)
class ImportedNumbers:
    """The result of an import: the numbers that were added, those known before, and those that are in use elsewhere."""

    added: list[PhoneNumber] = field(default_factory=list)
    known: list[PhoneNumber] = field(default_factory=list)
    in_use: list[str] = field(default_factory=list)


async def sync(unit: UnitOfWork, ports: Ports, connection: CarrierConnection) -> ImportedNumbers:
    """Add to the account the numbers that the carrier lists for a connection.

    A number that is active at another connection is left where it is. Raises `CarrierConnectionRefused` and
    `CarrierUnreachable`.
    """
    listed = await list_at_carrier(unit, ports, connection)
    await accounts.get_own(unit, lock=True)
    await carriers.lock(unit, connection.id)
    imported = ImportedNumbers()
    for each in listed:
        known = await queries.find_active(unit, each.number)
        if known is None and (added := await _insert(unit, connection, each.number, each.label)):
            imported.added.append(added)
        elif known and (known.account_id, known.carrier) == (unit.actor.account_id, connection.key):
            imported.known.append(known)
        else:
            imported.in_use.append(each.number)
    await service.keep_primary(unit)
    return imported


@dataclass(frozen=True, slots=True)
class NewNumber:
    """A number to add by hand: in E.164, or a short code or a name where the connection sends from those.

    `is_vouched` leaves out the question to the carrier; for the operator only, because an account could take the
    numbers of others with it.
    """

    number: str
    label: str = ""
    is_vouched: bool = False


async def add(unit: UnitOfWork, ports: Ports, connection: CarrierConnection, new: NewNumber) -> PhoneNumber:
    """Add a number by hand; where the carrier lists its numbers, one in E.164 must be among them.

    Raises `InvalidInput`, `InvalidPhone`, `Conflict` for a number in use, `NotFound` for a connection that was removed
    meanwhile, `CarrierConnectionRefused` and `CarrierUnreachable`.
    """
    if len(new.label) > MAX_LABEL or not (new.label.isprintable() or not new.label):
        raise InvalidInput(reason=f"label must be at most {MAX_LABEL} printable characters.", field="label")
    number = await verify(unit, ports, connection, new)
    await accounts.get_own(unit, lock=True)
    await carriers.lock(unit, connection.id)
    added = await _insert(unit, connection, number, new.label)
    if added is None:
        raise Conflict(reason=f"{number} is in use. Release it first.", field="phone_number")
    await service.keep_primary(unit)
    return added


async def verify(unit: UnitOfWork, ports: Ports, connection: CarrierConnection, new: NewNumber) -> str:
    """Return a number in the form in which it is stored, once the carrier of a connection lists it; raise as `add`."""
    capabilities = await _find_capabilities(ports, connection)
    number = _read(new.number, capabilities)
    if capabilities.lists_numbers and number.startswith("+") and not new.is_vouched:
        listed = {each.number for each in await list_at_carrier(unit, ports, connection)}
        if number not in listed:
            reason = f"The carrier of {connection.key} does not list {number} among the numbers of this connection."
            raise InvalidInput(reason=reason, field="phone_number")
    return number


async def release(unit: UnitOfWork, id: int) -> PhoneNumber:
    """Release an active number: nothing is sent from it or received on it any more. The account is locked.

    `messages.connections.release_number` ends its queued texts. Raises `NotFound`.
    """
    number = await queries.find(unit, id)
    if number is None:
        raise NotFound(kind="active phone number", id=id)
    number.status, number.is_primary = NumberStatus.released, False
    await unit.save(number)
    await service.keep_primary(unit)
    return number


async def list_at_carrier(unit: UnitOfWork, ports: Ports, connection: CarrierConnection) -> Sequence[CarrierNumber]:
    """Ask the carrier for the numbers of a connection, with no transaction open."""
    await unit.pause()
    await ports.connections.learn([connection.key])
    opened = ports.connections.find(connection.key)
    if opened is None:
        raise NotFound(kind="carrier connection", id=connection.id)
    async with opened:
        with refusals():
            return await opened.carrier.list_numbers()


async def _find_capabilities(ports: Ports, connection: CarrierConnection) -> Capabilities:
    await ports.connections.refresh()
    await ports.connections.learn([connection.key])
    opened = ports.connections.find(connection.key)
    return opened.carrier.capabilities if opened else Capabilities()


def _read(number: str, capabilities: Capabilities) -> str:
    number = number.strip()
    if capabilities.takes_short_codes and SHORT_CODE.fullmatch(number):
        return number
    if capabilities.takes_alphanumeric and ALPHANUMERIC.fullmatch(number):
        return number
    return phone.normalize(number)


async def _insert(unit: UnitOfWork, connection: CarrierConnection, number: str, label: str) -> PhoneNumber | None:
    """Insert a number; return None for one that is in use. The account is locked."""
    values = {
        "account_id": unit.actor.account_id,
        "phone_number": number,
        "label": label.strip()[:MAX_LABEL] or number,
        "carrier": connection.key,
        "parts_per_second": paces.default_pace(number, connection.kind),
    }
    added = insert(PhoneNumber).values(**values)
    added = added.on_conflict_do_nothing(index_elements=["phone_number"], index_where=text("status = 'active'"))
    id = (await unit.execute(added.returning(PhoneNumber.id))).scalar_one_or_none()
    return await unit.one(select(PhoneNumber).where(PhoneNumber.id == id)) if id else None
