"""The placeholders of texts to contacts, joined from the areas that supply them."""

from app.domain.accounts.placeholders import PLACEHOLDERS as ACCOUNT_PLACEHOLDERS
from app.domain.contacts import placeholders as contacts
from app.domain.kernel.placeholders import Vocabulary
from app.domain.kernel.unit_of_work import UnitOfWork

OF_CONTACTS = Vocabulary((*contacts.PLACEHOLDERS, *ACCOUNT_PLACEHOLDERS))
"""The placeholders of every account. Areas above this one extend them for their own texts, as those of a booking."""


async def find(unit: UnitOfWork) -> Vocabulary:
    """Return the placeholders of the actor's account, its custom fields among them."""
    return OF_CONTACTS.extend(await contacts.find_custom(unit))
