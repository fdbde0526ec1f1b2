"""Errors of sending to a phone that has opted out, or may have."""

from app.domain.kernel.errors import DomainError


class ContactOptedOut(DomainError):
    """The recipient has opted out. Only their START, or a new written consent that you record, lifts it."""

    code = "contact_opted_out"
    status = 422
    message = "{phone} has opted out and cannot be texted. Only their reply START or a new recorded consent lifts this."


class ContactHeld(DomainError):
    """The last reply may have been an opt-out; texts wait until a person has decided, for 24 hours at most."""

    code = "contact_held"
    status = 422
    message = "The last reply of {phone} may have been an opt-out. Decide on it in the conversation before texting."
