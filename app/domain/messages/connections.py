"""Changes of connections that concern queued texts: removing one, and moving a number to another."""

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
from app.domain.numbers.models import PhoneNumber


async def remove(unit: UnitOfWork, ports: Ports, connection: CarrierConnection) -> None:
    """Remove a connection; raise `ConnectionInUse` while it has active numbers, or texts that have not left."""
    connection = await carriers.lock(unit, connection.id)
    held, waiting = await numbers.count_at(unit, connection.key), await outgoing.count_at(unit, connection.key)
    if held or waiting:
        raise ConnectionInUse(key=connection.key, numbers=held, texts=waiting)
    await connections.remove(unit, ports, connection)


async def move_number(unit: UnitOfWork, number_id: int, connection: CarrierConnection) -> PhoneNumber:
    """Move an active number of the account to another connection; raise `NotFound`.

    Texts that no carrier was called for leave through the new one; those in flight end on the old one. Sends of the
    account wait meanwhile, so that each text is accepted for one of the two.
    """
    await billing.lock(unit)
    await carriers.lock(unit, connection.id)
    number = await numbers.find(unit, number_id)
    if number is None:
        raise NotFound(kind="active phone number", id=number_id)
    number.carrier = connection.key
    await unit.save(number)
    await outgoing.move(unit, number.phone_number, connection.key)
    unit.notify("messages")
    return number
