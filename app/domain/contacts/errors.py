"""Errors of sending to a contact."""

from app.domain.kernel.errors import DomainError


class ContactDnd(DomainError):
    """The account has set do-not-disturb for this contact."""

    code = "contact_dnd"
    status = 422
    message = "The contact is set to do-not-disturb. Set its dnd_sms to false to text it."
