"""Changes that concern queued texts: removing a connection, and moving or releasing a number."""

from app.domain.billing import service as billing
from app.domain.carriers import queries as carriers
from app.domain.carriers import service as connections
from app.domain.carriers.errors import ConnectionInUse
from app.domain.carriers.models import CarrierConnection
from app.domain.carriers.service import Ports
from app.domain.kernel.errors import NotFound
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages import outgoing
from app.domain.numbers import queries as numbers
from app.domain.numbers import senders, service
from app.domain.numbers.models import PhoneNumber
from app.domain.numbers.senders import NewNumber


async def remove(unit: UnitOfWork, ports: Ports, connection: CarrierConnection) -> None:
    """Remove a connection; raise `ConnectionInUse` while it has active numbers, or texts that have not left."""
    connection = await carriers.lock(unit, connection.id)
    held, waiting = await numbers.count_at(unit, connection.key), await outgoing.count_at(unit, connection.key)
    if held or waiting:
        raise ConnectionInUse(key=connection.key, numbers=held, texts=waiting)
    await connections.remove(unit, ports, connection)


async def move_number(
    unit: UnitOfWork, ports: Ports, number_id: int, connection: CarrierConnection, *, is_vouched: bool = False
) -> PhoneNumber:
    """Move an active number of the account to another connection; raise `NotFound`, or as `senders.verify` does.

    Texts that no carrier was called for leave through the new one; those in flight end on the old one. Sends of the
    account wait meanwhile, so that each text is accepted for one of the two.
    """
    wanted = (await _get_number(unit, number_id)).phone_number
    await senders.verify(unit, ports, connection, NewNumber(wanted, is_vouched=is_vouched))
    await billing.lock(unit)
    await carriers.lock(unit, connection.id)
    number = await _get_number(unit, number_id)
    await service.move(unit, number, connection)
    await outgoing.move(unit, number.phone_number, connection.key)
    unit.notify("messages")
    return number


async def release_number(unit: UnitOfWork, number_id: int) -> PhoneNumber:
    """Release an active number of the account, and have workers fail and refund its waiting texts at once.

    Those in flight end with the answer of the carrier. Raises `NotFound`.
    """
    await billing.lock(unit)
    number = await senders.release(unit, number_id)
    await outgoing.release(unit, number.phone_number)
    unit.notify("messages")
    return number


async def _get_number(unit: UnitOfWork, id: int) -> PhoneNumber:
    number = await numbers.find(unit, id)
    if number is None:
        raise NotFound(kind="active phone number", id=id)
    return number
