"""The placeholders of every text to a contact, joined from the areas that supply them."""

from app.domain.accounts.placeholders import PLACEHOLDERS as ACCOUNT_PLACEHOLDERS
from app.domain.contacts.placeholders import PLACEHOLDERS as CONTACT_PLACEHOLDERS
from app.domain.kernel.placeholders import Vocabulary

OF_CONTACTS = Vocabulary((*CONTACT_PLACEHOLDERS, *ACCOUNT_PLACEHOLDERS))
"""Areas above this one extend it with their own names for their own texts, as those of a booking."""
