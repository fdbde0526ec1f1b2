"""The text with placeholders as one contact would get it, before it is saved or sent."""

from typing import NamedTuple

from app.domain.accounts import queries as accounts
from app.domain.billing import prices
from app.domain.campaigns import content
from app.domain.campaigns.content import Content
from app.domain.contacts import placeholders
from app.domain.contacts import queries as contacts
from app.domain.kernel import sms_parts
from app.domain.kernel.sms_parts import Encoding
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.templates import queries as templates


class Sample(NamedTuple):
    """The text that one contact would get; `missing` are the placeholders that have no value for it."""

    contact_id: int
    phone: str
    body: str
    encoding: Encoding
    segments: int
    credits: int
    missing: tuple[str, ...]


async def render(unit: UnitOfWork, body: str, contact_id: int, *, is_smart_encoded: bool | None = None) -> Sample:
    """Return the text that a contact would get, whether or not it may be texted.

    With `is_smart_encoded` None it is encoded as the account sets it.

    Raises `InvalidInput` or `MessageTooLong` for a text that cannot be saved, and `NotFound` for the contact.
    """
    await content.check(unit, body)
    contact, account = await contacts.get(unit, contact_id), await accounts.get_own(unit)
    written = Content(
        body,
        account.company_name,
        await templates.find_fallbacks(unit),
        is_smart_encoded=account.smart_encoding if is_smart_encoded is None else is_smart_encoded,
        fold_accents=account.fold_accents,
    )
    rendering = written.render(placeholders.of_contact(contact))
    text = written.encode(rendering.text)
    parts = sms_parts.count(text)
    credits = parts.segments * prices.credits_per_segment(contact.phone, account.region)
    return Sample(contact.id, contact.phone, text, parts.encoding, parts.segments, credits, rendering.missing)
