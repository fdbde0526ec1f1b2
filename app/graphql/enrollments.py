"""Enrollments in drip sequences, as the contract shows them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

import strawberry

from app.domain.contacts import queries as contacts
from app.domain.contacts import service as contact_service
from app.domain.kernel import idempotency
from app.domain.kernel.errors import DomainError, InvalidInput
from app.domain.kernel.events import timestamp
from app.domain.kernel.paging import Page
from app.domain.messages.errors import ConsentNotAttested
from app.domain.sequences import enrollments, models, queries
from app.domain.sequences.models import EnrollmentStatus
from app.graphql.actors import Actor, actor_of
from app.graphql.contacts import PHONE, Contact
from app.graphql.core.context import Info, row_of
from app.graphql.core.directives import Constraint, guarded
from app.graphql.core.enums import describe
from app.graphql.core.idempotency import IdempotencyKey
from app.graphql.core.loading import Load
from app.graphql.core.paging import After, Before, Connection, First, Last, Offset, window
from app.graphql.core.scalars import BigInt
from app.graphql.sequences import SequenceId

describe(
    EnrollmentStatus,
    "The state of an enrollment.",
    {
        "active": "Under way.",
        "finishing": "The last text waits for the carrier.",
        "completed": "The carrier took the last text.",
        "exited": "Ended before: see exit_reason.",
    },
)

EnrollmentId = Annotated[BigInt, strawberry.argument(description="The enrollment's id.")]


@strawberry.type(description="The progress of a contact through a drip sequence.")
class Enrollment:
    """An enrollment."""

    id: BigInt = strawberry.field(description="The enrollment's id.")
    sequence_id: BigInt = strawberry.field(description="The drip sequence.")
    contact_id: BigInt = strawberry.field(description="The id of the enrolled contact.")
    status: EnrollmentStatus = strawberry.field(description="The state of the enrollment.")
    exit_reason: str = strawberry.field(
        description=(
            "The reason for an end before the last step, such as replied, contact_opted_out, contact_dnd, "
            "contact_stage, contact_tag, removed, merged, sequence_archived, or the code of the error that a step met; "
            "empty otherwise."
        )
    )
    steps_version: int = strawberry.field(description="The version of the texts that it is under way in.")
    position: int = strawberry.field(description="The step that is sent next; one more than there are at the end.")
    next_send_at: datetime | None = strawberry.field(
        description="The time at which the next step is due; null while it is paused without an end, and once no step "
        "is left."
    )
    enrolled_by: strawberry.Private[str]
    created_at: datetime = strawberry.field(description="The time of the enrollment.")
    ended_at: datetime | None = strawberry.field(description="The time of its completion or end.")

    @strawberry.field(description="Whether it is paused by itself; a pause of its drip sequence is not shown here.")
    def is_paused(self, info: Info) -> bool:
        """Return whether it is paused."""
        return row_of(self, models.Enrollment).is_paused_at(info.context.unit.clock.now())

    @strawberry.field(description="The time at which its pause ends; null without an end, and while it is not paused.")
    def paused_until(self, info: Info) -> datetime | None:
        """Return the end of the pause."""
        row = row_of(self, models.Enrollment)
        return row.paused_until if row.is_paused_at(info.context.unit.clock.now()) else None

    @strawberry.field(description="The user, key or application that enrolled the contact.")
    def creator(self) -> Actor:
        """Return the actor."""
        return actor_of(self.enrolled_by)

    @strawberry.field(description="The name of the drip sequence.")
    async def sequence_name(self, info: Info) -> str:
        """Return the sequence's name."""
        sequence = await info.context.load(queries.find_many, self.sequence_id)
        assert sequence
        return sequence.name

    @strawberry.field(graphql_type=Contact, description="The enrolled contact.", directives=guarded("contacts:read"))
    def contact(self, info: Info) -> Load[Any]:
        """Return the contact."""
        return info.context.load(contacts.find_many, self.contact_id)


@strawberry.type(description="A contact that is enrolled in a drip sequence, by this request or an earlier one.")
class Enrolled:
    """The result of an enrollment."""

    enrollment_id: BigInt = strawberry.field(description="The enrollment's id.")
    contact_id: BigInt = strawberry.field(description="The id of the enrolled contact.")
    sequence_id: BigInt = strawberry.field(description="The drip sequence.")
    sequence_name: str = strawberry.field(description="The name of the drip sequence.")
    next_send_at: datetime = strawberry.field(description="The time at which the next step is due.")
    already_enrolled: bool = strawberry.field(description="True if the contact already had an active enrollment in it.")

    @classmethod
    def of(cls, done: enrollments.Enrolled) -> "Enrolled":
        """Return an enrollment as it is shown."""
        return cls(
            enrollment_id=BigInt(done.enrollment_id),
            contact_id=BigInt(done.contact_id),
            sequence_id=BigInt(done.sequence_id),
            sequence_name=done.sequence_name,
            next_send_at=done.next_send_at,
            already_enrolled=done.already,
        )


@strawberry.type(description="Enrollments in a drip sequence, and the reasons for which other contacts have none.")
class EnrolledContacts:
    """The result of the enrollment of several contacts."""

    enrollments: list[Enrolled] = strawberry.field(description="The enrollments.")
    problems: list[str] = strawberry.field(description="For each contact that is not enrolled, the reason.")


@strawberry.type
class EnrollmentQuery:
    """Reading enrollments."""

    @strawberry.field(
        graphql_type=Connection[Enrollment] | None,
        description="The enrollments of a drip sequence, the newest first; null beside the error not_found.",
        directives=guarded("campaigns:read", "not_found"),
    )
    async def enrollments(
        self,
        info: Info,
        sequence_id: SequenceId,
        status: Annotated[EnrollmentStatus | None, strawberry.argument(description="Only this status.")] = None,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
        offset: Offset = 0,
    ) -> Page[models.Enrollment]:
        """Return one page of enrollments."""
        wanted = window(info, "enrollments", first, after, last, before, offset)
        return await queries.find_enrollments(info.context.unit, sequence_id, status, wanted)


@strawberry.type
class EnrollmentMutation:
    """Enrolling contacts, and changing their enrollments."""

    @strawberry.mutation(
        description=(
            "Enroll a contact in a drip sequence, and return the enrollment; an active one does not change. The caller "
            "certifies that the person gave prior express written consent to be texted, which is recorded."
        ),
        directives=guarded(
            "campaigns:send",
            "api_consent_attested_required",
            "conflict",
            "contact_dnd",
            "contact_opted_out",
            "idempotency_key_reused",
            "invalid_phone",
            "not_found",
        ),
    )
    async def enroll(
        self,
        info: Info,
        sequence_id: SequenceId,
        contact_id: Annotated[
            BigInt | None, strawberry.argument(description="The contact's id, or give phone.")
        ] = None,
        phone: Annotated[
            str | None, strawberry.argument(description=f"The contact's phone, or give contact_id. {PHONE}")
        ] = None,
        consent_attested: Annotated[
            bool, strawberry.argument(description="False refuses: surfaces that ask for the certification pass it on.")
        ] = True,
        idempotency_key: IdempotencyKey = None,
    ) -> Enrolled:
        """Enroll a contact."""
        unit = info.context.unit
        if not consent_attested:
            raise ConsentNotAttested()

        async def act() -> dict[str, Any]:
            contact = await contact_service.get(unit, contact_id, phone, id_field="contact_id")
            done = await enrollments.enroll(unit, sequence_id, contact.id)
            return {
                "enrollment_id": done.enrollment_id,
                "contact_id": done.contact_id,
                "sequence_id": done.sequence_id,
                "sequence_name": done.sequence_name,
                "next_send_at": timestamp(done.next_send_at),
                "already_enrolled": done.already,
            }

        digest = idempotency.fingerprint("enroll", sequence_id=sequence_id, contact_id=contact_id, phone=phone)
        done = await idempotency.once(unit, idempotency_key, digest, act)
        info.context.replayed = done.replayed
        answer: dict[str, Any] = {**done.answer, "next_send_at": datetime.fromisoformat(done.answer["next_send_at"])}
        return Enrolled(**answer)

    @strawberry.mutation(
        description=(
            "Enroll up to 100 contacts in a drip sequence, and return their enrollments; active ones do not change. "
            "One contact, by contact_id or phone, is refused as by enroll; of several, refused ones are problems. The "
            "caller certifies that each person gave prior express written consent to be texted, which is recorded. "
            "For more contacts use bulk_enroll."
        ),
        directives=guarded(
            "campaigns:send",
            "api_consent_attested_required",
            "conflict",
            "contact_dnd",
            "contact_opted_out",
            "invalid_phone",
            "not_found",
        ),
    )
    async def enroll_contacts(
        self,
        info: Info,
        sequence_id: SequenceId,
        consent_attested: Annotated[
            bool | None, strawberry.argument(description="True certifies the consent of each person; needed.")
        ] = None,
        contact_id: Annotated[
            BigInt | None, strawberry.argument(description="The contact's id, or give phone or contact_ids.")
        ] = None,
        phone: Annotated[str | None, strawberry.argument(description=f"The contact's phone. {PHONE}")] = None,
        contact_ids: Annotated[
            list[BigInt] | None,
            strawberry.argument(
                description="The ids of several contacts.",
                directives=[Constraint(min_items=1, max_items=enrollments.MAX_AT_ONCE)],
            ),
        ] = None,
    ) -> EnrolledContacts:
        """Enroll contacts."""
        unit = info.context.unit
        if consent_attested is not True:
            raise ConsentNotAttested()
        if contact_ids is None:
            contact = await contact_service.get(unit, contact_id, phone, id_field="contact_id")
            done = await enrollments.enroll(unit, sequence_id, contact.id)
            return EnrolledContacts(enrollments=[Enrolled.of(done)], problems=[])
        if contact_id is not None or phone is not None:
            raise InvalidInput(reason="Give contact_ids, contact_id or phone, not two of them.", field="contact_ids")
        return _shown(await enrollments.enroll_many(unit, sequence_id, list(dict.fromkeys(contact_ids))))

    @strawberry.mutation(
        graphql_type=Enrollment,
        description="End an enrollment before its last step, and return it. One that has ended stays as it is.",
        directives=guarded("campaigns:send", "not_found"),
    )
    async def unenroll(
        self,
        info: Info,
        enrollment_id: EnrollmentId,
    ) -> models.Enrollment:
        """End an enrollment."""
        return await enrollments.unenroll(info.context.unit, enrollment_id)

    @strawberry.mutation(
        graphql_type=Enrollment,
        description=(
            "Pause an enrollment, until a time or until it is resumed, and return it; the rest of its delay follows "
            "then. A reply or an opt-out ends it meanwhile all the same."
        ),
        directives=guarded("campaigns:send", "conflict", "not_found"),
    )
    async def pause_enrollment(
        self,
        info: Info,
        enrollment_id: EnrollmentId,
        until: Annotated[
            datetime | None,
            strawberry.argument(description="The end of the pause, at most a year away; null for none."),
        ] = None,
    ) -> models.Enrollment:
        """Pause an enrollment."""
        return await enrollments.pause(info.context.unit, enrollment_id, until)

    @strawberry.mutation(
        graphql_type=Enrollment,
        description="Resume a paused enrollment, and return it. One that is not paused stays as it is.",
        directives=guarded("campaigns:send", "conflict", "not_found"),
    )
    async def resume_enrollment(self, info: Info, enrollment_id: EnrollmentId) -> models.Enrollment:
        """Resume an enrollment."""
        return await enrollments.resume(info.context.unit, enrollment_id)


def _shown(outcomes: Mapping[int, enrollments.Enrolled | DomainError]) -> EnrolledContacts:
    done = [each for each in outcomes.values() if not isinstance(each, DomainError)]
    problems = [f"Contact {id}: {each}" for id, each in outcomes.items() if isinstance(each, DomainError)]
    return EnrolledContacts(enrollments=[Enrolled.of(each) for each in done], problems=problems)
