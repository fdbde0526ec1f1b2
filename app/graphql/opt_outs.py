"""Opt-outs and consents that were given by other means, as the contract shows them."""

from datetime import datetime
from typing import Annotated

import strawberry
from strawberry.types.arguments import StrawberryArgumentAnnotation

from app.domain.consent import evidence
from app.domain.consent.service import MAX_LENGTHS, Evidence
from app.domain.contacts import models, queries
from app.domain.contacts import service as contacts
from app.domain.conversations import review
from app.graphql.consents import PATH, ConsentLink, Phone, PhoneConsent
from app.graphql.contacts import Contact, ContactId
from app.graphql.core.context import Info
from app.graphql.core.directives import Constraint, guarded


def _limited(name: str, description: str) -> StrawberryArgumentAnnotation:
    """Return the description of an argument of evidence, and the limit of its length."""
    return strawberry.argument(description=description, directives=[Constraint(max_length=MAX_LENGTHS[name])])


Method = Annotated[str, _limited("method", "The way in which it was given, such as letter, verbal, email or web_form.")]
Words = Annotated[str, _limited("text", "The words of the person.")]
AgreedWords = Annotated[str, _limited("text", "The words that the person agreed to.")]
Source = Annotated[
    str, _limited("source", "Where the evidence is, such as the address of a form or the number of a letter.")
]
Note = Annotated[str, _limited("note", "Further facts about it.")]
OccurredAt = Annotated[
    datetime | None, strawberry.argument(description="The time of the person's statement; by default now.")
]
IpAddress = Annotated[
    str, _limited("ip_address", "The IP address from which the person filled in the form, such as 203.0.113.9.")
]
UserAgent = Annotated[str, _limited("user_agent", "The `User-Agent` header of the person's browser.")]


@strawberry.type
class OptOutMutation:
    """Recording opt-outs and consents."""

    @strawberry.mutation(
        graphql_type=Contact,
        description=(
            "Record an opt-out that came by mail, on the phone or in person, and return the contact. It holds at once."
        ),
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
        ip_address: IpAddress = "",
        user_agent: UserAgent = "",
    ) -> models.Contact:
        """Record an opt-out."""
        given = Evidence(method, text, None, source, note, occurred_at, ip_address, user_agent)
        return await review.record_opt_out(info.context.unit, id, given)

    @strawberry.mutation(
        graphql_type=Contact,
        description=(
            "Record a new written consent of a person who had opted out, with its evidence, and return the contact."
        ),
        directives=guarded("contacts:write", "not_found"),
    )
    async def record_opt_in(
        self,
        info: Info,
        id: ContactId,
        method: Method,
        text: AgreedWords,
        source: Source = "",
        note: Note = "",
        occurred_at: OccurredAt = None,
        ip_address: IpAddress = "",
        user_agent: UserAgent = "",
    ) -> models.Contact:
        """Record a consent."""
        given = Evidence(method, text, None, source, note, occurred_at, ip_address, user_agent)
        return await review.record_opt_in(info.context.unit, id, given)

    @strawberry.mutation(
        description=(
            "Record that the owner of a phone took consent back by mail, on the phone or in person, whether or not a "
            "contact has the phone, and return the state of the phone. It holds at once, and for contacts that are "
            "added later."
        ),
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
        ip_address: IpAddress = "",
        user_agent: UserAgent = "",
    ) -> PhoneConsent:
        """Record a revocation."""
        unit = info.context.unit
        normal = await review.revoke(
            unit, phone, Evidence(method, text, None, source, note, occurred_at, ip_address, user_agent)
        )
        return PhoneConsent.of(await evidence.find(unit, normal))

    @strawberry.mutation(
        description=(
            "Create and return links to the evidence of a phone's consent: a page that can be printed, and a JSON "
            "file. They work for ten minutes, as long as the key or the user that makes them may read it."
        ),
        directives=guarded("messages:read", "invalid_phone"),
    )
    async def create_consent_link(self, info: Info, phone: Phone) -> ConsentLink:
        """Make links to the evidence."""
        unit, services = info.context.unit, info.context.services
        normal = await contacts.normalize(unit, phone)
        contact = await queries.find_by_phone(unit, normal)
        token, expires_at = await evidence.make_link(unit, services.exports, normal, contact.id if contact else None)
        url = f"{services.settings.public_url}{PATH}/{token}"
        return ConsentLink(url=url, json_url=f"{url}.json", expires_at=expires_at)
