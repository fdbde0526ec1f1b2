"""Send the text of a campaign to one phone, to see how it arrives."""

from app.domain.accounts import queries as accounts
from app.domain.campaigns import account_settings, queries
from app.domain.campaigns.content import Content
from app.domain.contacts import placeholders
from app.domain.contacts import queries as contacts
from app.domain.kernel import phone as phones
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages.acceptor import SendAcceptor
from app.domain.messages.requests import Acceptance, Send

REFUSALS = (
    "account_deletion_pending",
    "account_suspended",
    "api_consent_attested_required",
    "contact_dnd",
    "contact_held",
    "contact_opted_out",
    "idempotency_key_reused",
    "insufficient_credits",
    "invalid_phone",
    "landline",
    "message_too_long",
    "no_sending_number",
    "not_found",
)
"""The codes of the errors that refuse such a text."""


async def send(
    unit: UnitOfWork, acceptor: SendAcceptor, id: int, to: str, idempotency_key: str | None, *, consent_attested: bool
) -> Acceptance:
    """Send the text, rendered for the contact with the phone; raise the errors of any send, and `NotFound`."""
    campaign = await queries.get(unit, id)
    account = await accounts.get_own(unit)
    phone = phones.normalize(to.strip(), account.region)
    contact = await contacts.find_by_phone(unit, phone)
    person = placeholders.of_contact(contact) if contact else {"phone": phone}
    content = Content.with_settings(campaign, await account_settings.find(unit, campaign))
    written = content.render(person).text
    body = content.encode(written)
    send = Send(
        phone,
        body,
        consent_attested,
        campaign.phone_number_id,
        idempotency_key,
        has_encoded=True,
        original_body=None if body == written else written,
    )
    await unit.pause()
    return await acceptor.accept(unit.actor, send)
