"""Decide by a contact alone whether it may be sent a text."""

from app.domain.accounts.models import AccountStatus
from app.domain.contacts.models import Contact
from app.domain.kernel import phone as phones
from app.domain.kernel.errors import DomainError
from app.domain.messages.eligibility import facts, gates
from app.domain.messages.eligibility.facts import RecipientFacts
from app.domain.messages.eligibility.gates import Gate
from app.domain.messages.models import Purpose


def find_refusal(contact: Contact) -> tuple[Gate[RecipientFacts], DomainError] | None:
    """Return the gate that refuses any transactional text to a contact, and its error; None where none does.

    Nothing is read: the status of a contact follows the opt-outs of its phone.
    """
    refused = phones.find_fault(contact.phone) and facts.read_phone_of_contact(contact.phone).refusal
    known = RecipientFacts(
        purpose=Purpose.transactional,
        account_status=AccountStatus.active,
        phone=contact.phone,
        contact_status=contact.status,
        dnd_sms=contact.dnd_sms,
        held_until=contact.held_until,
        suppressed=False,
        phone_refusal=refused or None,
        reach=contact.reach,
    )
    return gates.find_refusal(gates.RECIPIENT_GATES, known)
