"""Records of consent, as the contract shows them."""

from datetime import datetime
from typing import Annotated

import strawberry

from app.domain.consent import evidence, models, queries
from app.domain.consent.models import ConsentKind, SuppressionReason
from app.domain.contacts import service as contacts
from app.domain.kernel.paging import Page
from app.graphql.actors import Actor, actor_in
from app.graphql.core.context import Info, row_of
from app.graphql.core.directives import guarded
from app.graphql.core.enums import describe
from app.graphql.core.paging import After, Before, Connection, First, Last, window
from app.graphql.core.scalars import BigInt

describe(
    ConsentKind,
    "The statement of a consent record.",
    {
        "opt_in": "The person agreed to texts.",
        "opt_out": "The person texted an opt-out word, such as STOP.",
        "re_opt_in": "The person agreed again after an opt-out.",
        "attested": "The sender of a text certified that the person had agreed.",
        "opt_in_requested": "The person texted a keyword, and was asked to confirm it with YES: no consent yet.",
        "revoked_other": "The person withdrew consent in another way than by an opt-out word.",
    },
)


PATH = "/consents"
Phone = Annotated[
    str, strawberry.argument(description="The phone, in E.164 form such as +12025550143 or as dialled in the country.")
]


@strawberry.type(description="One statement of consent or its withdrawal. Records are only ever added.")
class Consent:
    """A consent record."""

    id: BigInt = strawberry.field(description="The record's id.")
    kind: ConsentKind = strawberry.field(description="The statement of the record.")
    method: str = strawberry.field(
        description="The way in which consent was given or withdrawn, such as keyword or web_form."
    )
    text: str = strawberry.field(
        description="The text that was shown to the person, or that the person sent.",
        directives=guarded("messages:read"),
    )
    message_id: BigInt | None = strawberry.field(description="The id of the message that contained it.")
    source: str = strawberry.field(
        description="Where the evidence is, such as the address of a form or the number of a letter.",
        directives=guarded("messages:read"),
    )
    note: str = strawberry.field(description="The note of the recorder.", directives=guarded("messages:read"))
    ip_address: str = strawberry.field(
        description="The IP address of the person, where a form has recorded it.",
        directives=guarded("messages:read"),
    )
    user_agent: str = strawberry.field(
        description="The browser of the person, where a form has recorded it.", directives=guarded("messages:read")
    )
    recorded_at: datetime = strawberry.field(description="The time at which it was recorded.")

    @strawberry.field(description="The time of the statement; the time of the record, if no earlier one was given.")
    def occurred_at(self) -> datetime:
        """Return the time of the statement."""
        row = row_of(self, models.Consent)
        return row.occurred_at or row.recorded_at

    @strawberry.field(description="The user, key, application or part of the service that recorded it.")
    def actor(self) -> Actor:
        """Return the actor."""
        return actor_in(self)


describe(
    SuppressionReason,
    "The cause of an opt-out.",
    {
        "keyword": "The person texted an opt-out word, such as STOP.",
        "typo": "The person texted a misspelled opt-out word.",
        "intent": "The person asked in other words for no more texts.",
        "carrier": "The carrier refuses texts to the phone, or has answered the opt-out itself.",
        "recorded": "A user, an import or a merge recorded an opt-out that was given elsewhere.",
        "api": "The status of the contact was set.",
        "review": "A user decided that an unclear reply was an opt-out.",
        "review_expired": "No user decided on an unclear reply within 24 hours.",
        "phone_changed": "The contact got another phone while an unclear reply waited for a decision.",
        "contact_deleted": "The contact was deleted while an unclear reply waited for a decision.",
    },
)


@strawberry.type(description="The block of a phone that has opted out, which outlives its contact.")
class Suppression:
    """A suppression."""

    reason: SuppressionReason = strawberry.field(description="The cause.")
    keyword: str = strawberry.field(
        description="The word or the first words of the opt-out.", directives=guarded("messages:read")
    )
    created_at: datetime = strawberry.field(description="The time at which the phone opted out.")


@strawberry.type(description="A person who texted a keyword, and was asked to confirm it with YES.")
class OptInRequest:
    """An open request for an opt-in."""

    keyword: str = strawberry.field(description="The keyword.", directives=guarded("messages:read"))
    question: str = strawberry.field(description="The question that was sent.", directives=guarded("messages:read"))
    expires_at: datetime = strawberry.field(description="The time until which YES confirms it.")


@strawberry.type(description="The consent of a phone, whether or not a contact has it.")
class PhoneConsent:
    """Consent and suppression of a phone."""

    phone: str = strawberry.field(description="The phone, in E.164 form.")
    suppression: Suppression | None = strawberry.field(
        description="The block of a phone that has opted out; null where none holds."
    )
    held_until: datetime | None = strawberry.field(
        description="The time at which an unclear reply becomes an opt-out; null where there is none."
    )

    opt_in_request: OptInRequest | None = strawberry.field(
        description="The opt-in that the person was asked to confirm; null where none is open."
    )

    @strawberry.field(graphql_type=Connection[Consent], description="All its consent records, the oldest first.")
    async def records(
        self, info: Info, first: First = None, after: After = None, last: Last = None, before: Before = None
    ) -> Page[models.Consent]:
        """Return one page of records."""
        wanted = window(info, "consent_records", first, after, last, before, 0)
        return await queries.find_page(info.context.unit, self.phone, wanted)

    @classmethod
    def of(cls, found: evidence.PhoneConsent) -> "PhoneConsent":
        """Return the state and the records of a phone, as the contract shows them."""
        return cls(
            phone=found.phone,
            suppression=_suppression(found.suppression) if found.suppression else None,
            held_until=found.hold.held_until if found.hold else None,
            opt_in_request=_opt_in_request(found.opt_in_request) if found.opt_in_request else None,
        )


def _suppression(blocked: models.Suppression) -> Suppression:
    return Suppression(reason=SuppressionReason(blocked.reason), keyword=blocked.keyword, created_at=blocked.created_at)


def _opt_in_request(asked: models.OptInRequest) -> OptInRequest:
    return OptInRequest(keyword=asked.keyword, question=asked.question, expires_at=asked.expires_at)


@strawberry.type(description="Links to the evidence of a phone's consent. Every holder of a link can read it.")
class ConsentLink:
    """Links to a file of evidence."""

    url: str = strawberry.field(
        description="The address of a page to read and to print, which needs no key.",
        directives=guarded("contacts:read"),
    )
    json_url: str = strawberry.field(
        description="The address of the same as a JSON file.", directives=guarded("contacts:read")
    )
    expires_at: datetime = strawberry.field(
        description="The time until which they can be opened: ten minutes from now."
    )


@strawberry.type
class ConsentQuery:
    """Reading the consent of phones."""

    @strawberry.field(
        description="The consent of a phone, with all its records, also after its contact was deleted.",
        directives=guarded("contacts:read", "invalid_phone"),
    )
    async def phone_consent(self, info: Info, phone: Phone) -> PhoneConsent:
        """Return the consent of a phone."""
        unit = info.context.unit
        return PhoneConsent.of(await evidence.find(unit, await contacts.normalize(unit, phone)))
