"""Opt-outs and consents that were given by other means, as the contract shows them."""

from datetime import datetime
from typing import Annotated

import strawberry

from app.domain.consent import evidence
from app.domain.consent.service import MAX_LENGTHS, Evidence
from app.domain.contacts import models
from app.domain.contacts import service as contacts
from app.domain.conversations import review
from app.graphql.consents import PATH, ConsentLink, Phone, PhoneConsent
from app.graphql.contacts import Contact, ContactId
from app.graphql.core.context import Info
from app.graphql.core.directives import Constraint, guarded

Method = Annotated[
    str,
    strawberry.argument(
        description="The way in which it was given, such as letter, verbal, email or web_form.",
        directives=[Constraint(max_length=MAX_LENGTHS["method"])],
    ),
]
Words = Annotated[
    str,
    strawberry.argument(
        description="The words of the person.", directives=[Constraint(max_length=MAX_LENGTHS["text"])]
    ),
]
Source = Annotated[
    str,
    strawberry.argument(
        description="Where the evidence is, such as the address of a form or the number of a letter.",
        directives=[Constraint(max_length=MAX_LENGTHS["source"])],
    ),
]
Note = Annotated[
    str,
    strawberry.argument(description="Further facts about it.", directives=[Constraint(max_length=MAX_LENGTHS["note"])]),
]
OccurredAt = Annotated[
    datetime | None, strawberry.argument(description="The time at which the person said so; now where it is left out.")
]


@strawberry.type
class OptOutMutation:
    """Recording opt-outs and consents."""

    @strawberry.mutation(
        graphql_type=Contact,
        description="Record an opt-out that came by mail, on the phone or in person. It holds at once.",
        directives=guarded("contacts:write", "not_found"),
    )
    async def record_opt_out(
        self,
        info: Info,
        id: ContactId,
        method: Method,
        text: Words = "",
        source: Source = "",
        note: Note = "",
        occurred_at: OccurredAt = None,
    ) -> models.Contact:
        """Record an opt-out."""
        given = Evidence(method, text, None, source, note, occurred_at)
        return await review.record_opt_out(info.context.unit, id, given)

    @strawberry.mutation(
        graphql_type=Contact,
        description="Record a new written consent of a person who had opted out, with its evidence.",
        directives=guarded("contacts:write", "not_found"),
    )
    async def record_opt_in(
        self,
        info: Info,
        id: ContactId,
        method: Method,
        text: Annotated[
            str,
            strawberry.argument(
                description="The words that the person agreed to.",
                directives=[Constraint(max_length=MAX_LENGTHS["text"])],
            ),
        ],
        source: Source = "",
        note: Note = "",
        occurred_at: OccurredAt = None,
    ) -> models.Contact:
        """Record a consent."""
        given = Evidence(method, text, None, source, note, occurred_at)
        return await review.record_opt_in(info.context.unit, id, given)

    @strawberry.mutation(
        description="Record that the owner of a phone took consent back by mail, on the phone or in person, whether or "
        "not a contact has the phone. It holds at once, and for contacts that are added later.",
        directives=guarded("contacts:write", "invalid_phone"),
    )
    async def revoke_consent(
        self,
        info: Info,
        phone: Phone,
        method: Method,
        text: Words = "",
        source: Source = "",
        note: Note = "",
        occurred_at: OccurredAt = None,
    ) -> PhoneConsent:
        """Record a revocation."""
        unit = info.context.unit
        normal = await review.revoke(unit, phone, Evidence(method, text, None, source, note, occurred_at))
        return PhoneConsent.of(await evidence.find(unit, normal))

    @strawberry.mutation(
        description="Make links to the evidence of a phone's consent: a page that can be printed, and a JSON file. "
        "They work for ten minutes, as long as the key or the user that makes them may read it.",
        directives=guarded("messages:read", "invalid_phone"),
    )
    async def create_consent_link(self, info: Info, phone: Phone) -> ConsentLink:
        """Make links to the evidence."""
        unit, services = info.context.unit, info.context.services
        normal = await contacts.normalize(unit, phone)
        token, expires_at = await evidence.make_link(unit, services.exports, normal)
        url = f"{services.settings.public_url}{PATH}/{token}"
        return ConsentLink(url=url, json_url=f"{url}.json", expires_at=expires_at)
