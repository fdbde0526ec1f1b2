"""Explanations of sends, as the contract shows them."""

from datetime import datetime
from typing import Annotated

import strawberry

from app.domain.accounts.scopes import Scope, require
from app.domain.contacts import queries as contacts
from app.domain.kernel.errors import InvalidInput
from app.domain.messages.models import Purpose
from app.domain.messages.requests import Send
from app.domain.messages.sending.explanation import Explanation
from app.graphql.core.context import Info
from app.graphql.core.directives import guarded
from app.graphql.core.scalars import BigInt
from app.graphql.gates import CheckedGate
from app.graphql.messages import FromNumber
from app.graphql.quiet_hours import ZoneReason


@strawberry.type(description="Whether a text would be accepted now. Nothing is sent, debited or recorded.")
class SendExplanation:
    """The verdicts of all gates on a text."""

    is_allowed: bool = strawberry.field(description="True when no gate refuses.")
    deferred_until: datetime | None = strawberry.field(
        description="The time to which a frequency cap or quiet hours put the text off; it leaves up to 20 minutes "
        "later. Null if it leaves at once, or never."
    )
    deferral_rule: str | None = strawberry.field(description="The id of the rule that puts it off; null if none does.")
    time_zones: list[str] = strawberry.field(
        description="The zones (IANA) in which the recipient may be; empty for a text that obeys no quiet hours."
    )
    time_zone_reason: ZoneReason | None = strawberry.field(
        description="The reason for these zones; null for a text that obeys no quiet hours."
    )
    blocked_by: CheckedGate | None = strawberry.field(
        description="The first gate that refuses, whose error a send would get; null when every gate passes."
    )
    gates: list[CheckedGate] = strawberry.field(description="Every gate, in the order in which a send is checked.")
    to: str | None = strawberry.field(description="The recipient's phone in E.164 form; null where it cannot be read.")
    segments: int = strawberry.field(description="The SMS parts of the text; of its first 1600 characters if longer.")
    credits: BigInt | None = strawberry.field(description="The credits that it costs; null without a readable phone.")

    @classmethod
    def of(cls, found: Explanation) -> "SendExplanation":
        """Return an explanation as the contract shows it."""
        blocked, known = found.blocked_by, found.facts
        timing = known.timing
        deferral = timing.deferral if timing else None
        return cls(
            is_allowed=blocked is None,
            deferred_until=deferral.until if deferral else None,
            deferral_rule=deferral.rule if deferral else None,
            time_zones=list(timing.place.zones) if timing else [],
            time_zone_reason=timing.place.reason if timing else None,
            blocked_by=CheckedGate.of(*blocked) if blocked else None,
            gates=[CheckedGate.of(*each) for each in found.verdicts],
            to=known.phone,
            segments=known.segments,
            credits=BigInt(known.credits) if known.phone else None,
        )


@strawberry.type
class SendExplanationQuery:
    """Explaining sends."""

    @strawberry.field(
        graphql_type=SendExplanation | None,
        description=(
            "Explain whether a text would be accepted now: the verdict of every gate, the one that refuses, and what "
            "to do about it. Give to or contact_id, which needs the scope contacts:read as well. Null beside the "
            "error not_found."
        ),
        directives=guarded("messages:send", "not_found"),
    )
    async def explain_send(
        self,
        info: Info,
        body: Annotated[str, strawberry.argument(description="The text.")],
        to: Annotated[
            str | None,
            strawberry.argument(description="The recipient's phone, such as +12025550143, or give contact_id."),
        ] = None,
        contact_id: Annotated[BigInt | None, strawberry.argument(description="The contact's id, or give to.")] = None,
        consent_attested: Annotated[
            bool, strawberry.argument(description="Whether the send would certify the recipient's consent.")
        ] = True,
        from_phone_number_id: FromNumber = None,
        is_promotional: Annotated[
            bool,
            strawberry.argument(description="Whether to explain it as promotional, such as a step of a drip sequence."),
        ] = False,
    ) -> SendExplanation:
        """Explain a send."""
        if (to is None) == (contact_id is None):
            raise InvalidInput(reason="Give the recipient's phone or the id of a contact, one of the two.", field="to")
        phone = to if contact_id is None else await _find_phone(info, contact_id)
        purpose = Purpose.promotional if is_promotional else Purpose.transactional
        send = Send(phone or "", body, consent_attested, from_phone_number_id, contact_id=contact_id, purpose=purpose)
        return SendExplanation.of(await info.context.services.acceptor.explain(info.context.unit.actor, send))


async def _find_phone(info: Info, contact_id: int) -> str:
    """Return the phone of a contact, which the answer tells."""
    unit = info.context.unit
    require(unit.actor, [Scope.contacts_read])
    phone = (await contacts.get(unit, contact_id)).phone
    await unit.pause()
    return phone
