"""Applies the notices of CRMs: texts to send become rows, changed contacts become checks."""

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import update
from sqlalchemy.dialects.postgresql import insert

from app.domain.contacts import queries as contacts
from app.domain.contacts import service as contact_service
from app.domain.crm import comparing
from app.domain.crm.connector import ContactTouched, CrmConnector, SendRequested
from app.domain.crm.models import CrmConnection, CrmSend
from app.domain.crm.service import SYNCHRONIZING, TOPIC, address_of
from app.domain.integrations.bookings import Applied
from app.domain.integrations.models import Integration
from app.domain.integrations.scheduling import Delivery, Unreadable
from app.domain.kernel.phone import InvalidPhone
from app.domain.kernel.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True)
class CrmReceiver:
    """The receiver of the notices of one kind of CRM. Contacts are read from the CRM itself, in their present state."""

    connector: CrmConnector

    @property
    def title(self) -> str:
        """Return the name that people know."""
        return self.connector.title

    @property
    def scopes(self) -> Collection[str]:
        """Return the scopes of the work of a CRM."""
        return SYNCHRONIZING

    def find_address(self, delivery: Delivery) -> str:
        """Return the address of the integration with the CRM's account that a notice names."""
        return address_of(self.connector.read(delivery.body).location)

    def verify(self, delivery: Delivery) -> None:
        """Raise `BadSignature` for a notice that the CRM has not signed."""
        self.connector.verify(delivery)

    def identify(self, delivery: Delivery) -> tuple[str, str]:
        """Return the name of a notice and the key of its repetitions."""
        notice = self.connector.read(delivery.body)
        return notice.event, notice.key

    def asks_for_text(self, delivery: Delivery) -> bool:
        """Return whether a signed notice asks for a text to be sent."""
        return isinstance(self.connector.read(delivery.body).about, SendRequested)

    async def apply(self, unit: UnitOfWork, integration: Integration, body: str) -> Applied | None:
        """Store the work that a notice asks for; raise `Unreadable` for one of another account of the CRM."""
        notice = self.connector.read(body.encode())
        if address_of(notice.location) != integration.address:
            raise Unreadable("The notice is about another account of the CRM.")
        match notice.about:
            case SendRequested():
                return await _add_send(unit, integration, notice.about)
            case ContactTouched():
                return await _add_check(unit, integration, notice.about)
            case None:
                return None

    async def disconnect(self, unit: UnitOfWork, integration: Integration) -> None:
        """Leave the connection of an integration without it: the next turn revokes the tokens."""
        of_removed = CrmConnection.integration_id == integration.id
        await unit.execute(update(CrmConnection).where(of_removed).values(integration_id=None))
        unit.notify(TOPIC)


async def _add_send(unit: UnitOfWork, integration: Integration, asked: SendRequested) -> Applied:
    now, phone = unit.clock.now(), await _normalize(unit, asked.phone)
    row = {
        "account_id": integration.account_id,
        "integration_id": integration.id,
        "external_id": asked.message_id,
        "contact_external_id": asked.contact_id,
        "phone": phone,
        "body": asked.body,
        "due_at": now,
        "created_at": now,
    }
    added = insert(CrmSend).values(row).on_conflict_do_nothing(index_elements=["integration_id", "external_id"])
    id = (await unit.execute(added.returning(CrmSend.id))).scalar_one_or_none()
    if id is None:
        return Applied(f"The text {asked.message_id} was asked for before.")
    unit.notify("crm_sends")
    known = await contacts.find_by_phone(unit, phone)
    return Applied(f"The text {asked.message_id} is sent.", contact_id=known.id if known else None)


async def _normalize(unit: UnitOfWork, phone: str) -> str:
    """Return a phone as contacts have it, by which an erasure finds it; one that is none stays as it is."""
    try:
        return await contact_service.normalize(unit, phone)
    except InvalidPhone:
        return phone


async def _add_check(unit: UnitOfWork, integration: Integration, touched: ContactTouched) -> Applied:
    await comparing.add_check(unit, integration.id, touched.external_id)
    unit.notify(TOPIC)
    return Applied(f"The contact {touched.external_id} of the CRM is compared.")
