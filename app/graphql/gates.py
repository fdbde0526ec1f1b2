"""Gates of texts, as the contract shows them."""

from typing import Any

import strawberry

from app.domain.kernel.errors import DomainError
from app.domain.messages.eligibility.gates import Gate, GateName
from app.domain.messages.sending.explanation import Verdict
from app.graphql.core.enums import describe

describe(
    GateName,
    "A check that decides whether a text may be sent. A send is refused with the error of the first that refuses.",
    {
        "account": "The account is active.",
        "consent": "The sender certifies the recipient's consent.",
        "phone": "The recipient's phone is a number that takes texts.",
        "account_deletion": "The deletion of the account was not requested.",
        "contact": "The contact exists and has the phone.",
        "opt_out": "The recipient has not opted out.",
        "dnd": "The contact is not set to do-not-disturb.",
        "hold": "No reply of the contact waits for a person to decide whether it was an opt-out.",
        "line_type": "The phone is not a landline.",
        "sender": "The account has the number to send from.",
        "body": "The text is neither empty nor too long.",
        "frequency_cap": "The recipient has not got as many limited texts as a rule allows for 24 hours or 7 days.",
        "quiet_hours": "The local time of the recipient is within the hours of limited texts, in every possible zone.",
        "credits": "The balance covers the text.",
        "pace": "The pace of the sending number lets the text leave in time, where the caller waits for the carrier.",
    },
    name="SendGate",
)
describe(
    Verdict,
    "The verdict of a gate on a text.",
    {
        "passed": "The text passes.",
        "deferred": "The text is accepted, and leaves at a later time.",
        "refused": "The text is refused.",
        "unknown": "The gate needs the recipient's phone, which cannot be read.",
    },
    name="GateVerdict",
)


@strawberry.type(name="CheckedGate", description="The verdict of one gate on a text.")
class CheckedGate:
    """A gate and its verdict."""

    gate: GateName = strawberry.field(description="The gate.")
    verdict: Verdict = strawberry.field(description="The verdict.")
    error_code: str | None = strawberry.field(description="The code of its error; null unless it refuses.")
    reason: str | None = strawberry.field(description="The text of its error; null unless it refuses.")
    remedy: str | None = strawberry.field(description="The action after which the gate passes; null unless it refuses.")

    @classmethod
    def of(cls, gate: Gate[Any], verdict: Verdict, error: DomainError | None) -> "CheckedGate":
        """Return a verdict as the contract shows it."""
        return cls(
            gate=gate.name,
            verdict=verdict,
            error_code=error.code if error else None,
            reason=str(error) if error else None,
            remedy=gate.remedy if error else None,
        )
