"""Descriptions of the failures of messages: what happened, then what to do."""

import enum

from app.domain.carriers.carrier import FailureCode


class OwnCode(enum.StrEnum):
    """The cause of a failure before the hand-off."""

    canceled = enum.auto()
    contact_opted_out = enum.auto()
    contact_dnd = enum.auto()
    contact_held = enum.auto()
    account_suspended = enum.auto()
    account_deleted = enum.auto()
    number_released = enum.auto()


DESCRIPTIONS: dict[str, str] = {
    FailureCode.invalid_number: (
        "The number does not exist or is no longer in service. Correct the contact's phone, or delete the contact."
    ),
    FailureCode.landline: "The number is a landline, which takes no texts. Ask the contact for a mobile number.",
    FailureCode.unreachable: "The phone was switched off or out of reach. Send again later.",
    FailureCode.blocked: (
        "The carrier or the phone blocks texts from this sending number. "
        "Make sure that the contact wants your texts before you try another number."
    ),
    FailureCode.filtered: (
        "The carrier filtered the text as unwanted. "
        "Name your business, avoid shortened links and words of spam, and send only to people who agreed to it."
    ),
    FailureCode.opted_out: (
        "The contact has told the carrier to stop your texts. Nothing more can be sent until they reply START."
    ),
    FailureCode.unregistered_sender: (
        "The sending number is not registered for business texts. "
        "Finish its registration with the carrier, or send from another number."
    ),
    FailureCode.rate_limited: (
        "The carrier took no more texts from this number at that moment. Send it again in some minutes."
    ),
    FailureCode.daily_cap: (
        "The sending number has reached the carrier's limit for the day. "
        "Send it again tomorrow, and register for a higher limit to send more."
    ),
    FailureCode.expired: (
        "The text could not be delivered in the time that the carrier keeps it, or in the 72 hours for which quiet "
        "hours and frequency caps may put it off. Send again if it still matters."
    ),
    FailureCode.destination_not_allowed: (
        "Your carrier account may not text that country. Allow the country in the carrier's settings."
    ),
    FailureCode.sender_invalid: (
        "The carrier does not know the sending number as yours, or it cannot text. "
        "Check the number in the carrier's settings, or send from another."
    ),
    FailureCode.message_rejected: (
        "The carrier refused the text itself, for its length or its characters. Shorten or simplify it."
    ),
    FailureCode.quiet_hours_carrier: (
        "The carrier takes no such texts at that hour. Send it again in the daytime of the recipient."
    ),
    FailureCode.account_problem: (
        "The carrier refused your account: its credentials, funds or standing. "
        "Settle that with the carrier, then send it again."
    ),
    FailureCode.carrier_error: (
        "The carrier failed without naming a cause. Send again; ask the carrier if it goes on."
    ),
    OwnCode.canceled: "The text was canceled before it left. Send it again if that was a mistake.",
    OwnCode.contact_opted_out: "The contact has opted out. Nothing more can be sent until they reply START.",
    OwnCode.contact_dnd: "The contact is set to do not disturb. Turn that off for the contact to send again.",
    OwnCode.contact_held: (
        "The contact may have asked to stop, and automated texts wait for a person to decide. "
        "Read the conversation, then clear it or opt the contact out."
    ),
    OwnCode.account_suspended: (
        "The account was suspended before the text left. Send it again once the account is active."
    ),
    OwnCode.account_deleted: "The account was deleted before the text left. It sends nothing any more.",
    OwnCode.number_released: (
        "The sending number was released, or moved to another account, before the text left. "
        "Send it again from an active number."
    ),
}


def describe(code: str) -> str:
    """Return the cause and the advised action, for a code of ours; raise `KeyError` for any other."""
    return DESCRIPTIONS[code]
