"""Why messages fail: what each code means, what to do about it, and what the service does by itself."""

import enum
from dataclasses import dataclass

from app.domain.messages.carrier import FailureCode


class OwnCode(enum.StrEnum):
    """Why a message ended before any carrier had it."""

    canceled = enum.auto()
    contact_opted_out = enum.auto()
    contact_dnd = enum.auto()
    contact_held = enum.auto()
    account_suspended = enum.auto()


class Kind(enum.StrEnum):
    """What a failure is about, which says whether sending again can help."""

    permanent = enum.auto()
    temporary = enum.auto()
    route = enum.auto()
    content = enum.auto()
    sender = enum.auto()
    config = enum.auto()
    policy = enum.auto()
    canceled = enum.auto()


class Effect(enum.StrEnum):
    """What the service does about a failure besides the refund."""

    none = enum.auto()
    mark_invalid = enum.auto()
    mark_landline = enum.auto()
    count_unreachable = enum.auto()
    lower_health = enum.auto()
    opt_out = enum.auto()
    stop_sender = enum.auto()
    requeue = enum.auto()
    defer_to_next_day = enum.auto()
    defer_to_window = enum.auto()
    pause_sending = enum.auto()


@dataclass(frozen=True, slots=True)
class Failure:
    """One way to fail. `description` is the `status_description` of events: what happened, then what to do."""

    kind: Kind
    effect: Effect
    description: str


FAILURES: dict[str, Failure] = {
    FailureCode.invalid_number: Failure(
        Kind.permanent,
        Effect.mark_invalid,
        "The number does not exist or is no longer in service. Correct the contact's phone, or delete the contact.",
    ),
    FailureCode.landline: Failure(
        Kind.permanent,
        Effect.mark_landline,
        "The number is a landline, which takes no texts. Ask the contact for a mobile number.",
    ),
    FailureCode.unreachable: Failure(
        Kind.temporary,
        Effect.count_unreachable,
        "The phone was switched off or out of reach. Send again later.",
    ),
    FailureCode.blocked: Failure(
        Kind.route,
        Effect.none,
        "The carrier or the phone blocks texts from this sending number. "
        "Make sure that the contact wants your texts before you try another number.",
    ),
    FailureCode.filtered: Failure(
        Kind.content,
        Effect.lower_health,
        "The carrier filtered the text as unwanted. "
        "Name your business, avoid shortened links and words of spam, and send only to people who agreed to it.",
    ),
    FailureCode.opted_out: Failure(
        Kind.permanent,
        Effect.opt_out,
        "The contact has told the carrier to stop your texts. Nothing more can be sent until they reply START.",
    ),
    FailureCode.unregistered_sender: Failure(
        Kind.sender,
        Effect.stop_sender,
        "The sending number is not registered for business texts. "
        "Finish its registration with the carrier, or send from another number.",
    ),
    FailureCode.rate_limited: Failure(
        Kind.temporary,
        Effect.requeue,
        "The carrier took no more texts from this number at that moment. Send it again in some minutes.",
    ),
    FailureCode.daily_cap: Failure(
        Kind.temporary,
        Effect.defer_to_next_day,
        "The sending number has reached the carrier's limit for the day. "
        "Send it again tomorrow, and register for a higher limit to send more.",
    ),
    FailureCode.expired: Failure(
        Kind.temporary,
        Effect.none,
        "The text could not be delivered in the time that the carrier keeps it. Send again if it still matters.",
    ),
    FailureCode.destination_not_allowed: Failure(
        Kind.config,
        Effect.none,
        "Your carrier account may not text that country. Allow the country in the carrier's settings.",
    ),
    FailureCode.sender_invalid: Failure(
        Kind.config,
        Effect.none,
        "The carrier does not know the sending number as yours, or it cannot text. "
        "Check the number in the carrier's settings, or send from another.",
    ),
    FailureCode.message_rejected: Failure(
        Kind.permanent,
        Effect.none,
        "The carrier refused the text itself, for its length or its characters. Shorten or simplify it.",
    ),
    FailureCode.quiet_hours_carrier: Failure(
        Kind.policy,
        Effect.defer_to_window,
        "The carrier takes no such texts at that hour. Send it again in the daytime of the recipient.",
    ),
    FailureCode.account_problem: Failure(
        Kind.config,
        Effect.pause_sending,
        "The carrier refused your account: its credentials, funds or standing. "
        "Settle that with the carrier, then send it again.",
    ),
    FailureCode.carrier_error: Failure(
        Kind.temporary,
        Effect.none,
        "The carrier failed without naming a cause. Send again; ask the carrier if it goes on.",
    ),
    OwnCode.canceled: Failure(
        Kind.canceled,
        Effect.none,
        "The text was canceled before it left. Send it again if that was a mistake.",
    ),
    OwnCode.contact_opted_out: Failure(
        Kind.policy,
        Effect.none,
        "The contact has opted out. Nothing more can be sent until they reply START.",
    ),
    OwnCode.contact_dnd: Failure(
        Kind.policy,
        Effect.none,
        "The contact is set to do not disturb. Turn that off for the contact to send again.",
    ),
    OwnCode.contact_held: Failure(
        Kind.policy,
        Effect.none,
        "The contact may have asked to stop, and automated texts wait for a person to decide. "
        "Read the conversation, then clear it or opt the contact out.",
    ),
    OwnCode.account_suspended: Failure(
        Kind.policy,
        Effect.none,
        "The account was suspended before the text left. Send it again once the account is active.",
    ),
}


def describe(code: str) -> str:
    """Return what happened and what to do, for a code of ours; raise `KeyError` for any other."""
    return FAILURES[code].description
