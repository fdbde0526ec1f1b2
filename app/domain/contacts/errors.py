"""Errors of sending to a contact."""

from app.domain.kernel.errors import DomainError


class ContactDnd(DomainError):
    """The account has set do-not-disturb for this contact."""

    code = "contact_dnd"
    status = 422
    message = "{phone} is set to do-not-disturb. Set dnd_sms to false on the contact to text it."
