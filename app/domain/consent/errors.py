"""Errors of sending to a phone that has opted out, or may have; they do not tell it, as a caller may not read it."""

from app.domain.kernel.errors import DomainError


class ContactOptedOut(DomainError):
    """The recipient has opted out. Only their reply START, or a new recorded written consent, lifts the opt-out."""

    code = "contact_opted_out"
    status = 422
    message = (
        "The recipient has opted out and cannot be texted. Only their reply START or a new recorded consent lifts this."
    )


class ContactHeld(DomainError):
    """The last reply may be an opt-out. Automated messages are refused until a user decides, for 24 hours at most."""

    code = "contact_held"
    status = 422
    message = "The last reply of the contact may have been an opt-out. Decide on it in the conversation before texting."
