"""Drip sequences, as the contract shows them."""

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any

import strawberry

from app.domain.contacts import queries as contacts
from app.domain.contacts import service as contact_service
from app.domain.kernel import idempotency
from app.domain.kernel.events import timestamp
from app.domain.kernel.paging import Page
from app.domain.messages.errors import ConsentNotAttested
from app.domain.quiet_hours.rules import clock
from app.domain.sequences import models, queries, service
from app.domain.sequences.models import EnrollmentStatus, SequenceStatus
from app.domain.sequences.service import NewStep
from app.graphql.actors import Actor, actor_of
from app.graphql.contacts import PHONE, Contact
from app.graphql.core.context import Info
from app.graphql.core.directives import guarded
from app.graphql.core.enums import describe
from app.graphql.core.idempotency import IdempotencyKey, once
from app.graphql.core.paging import After, Before, Connection, First, Last, Offset, window
from app.graphql.core.scalars import BigInt
from app.graphql.texts import TextFinding, find_findings

describe(
    SequenceStatus,
    "Whether a drip sequence sends.",
    {
        "active": "It sends what is due.",
        "paused": "It sends nothing until it is active again; contacts can be enrolled, and wait.",
        "archived": "It takes no contacts, and has ended the enrollments it had.",
    },
)
describe(
    EnrollmentStatus,
    "The state of an enrollment.",
    {
        "active": "Under way.",
        "completed": "The last step was sent.",
        "exited": "Ended before the last step; exit_reason says why.",
    },
)

SequenceId = Annotated[BigInt, strawberry.argument(description="The drip sequence's id.")]


@strawberry.type(description="One text of a drip sequence.")
class SequenceStep:
    """A step."""

    account_id: strawberry.Private[int]
    position: int = strawberry.field(description="The step's place, from 1.")
    delay_days: int = strawberry.field(
        description="The days of the recipient's calendar after the step before, or after the enrollment."
    )
    delay_minutes: int = strawberry.field(description="The minutes after these days.")
    at_minute: strawberry.Private[int | None]
    body: str = strawberry.field(description="The text, with its placeholders.")

    @strawberry.field(
        description="The time of the recipient's day, such as 10:00, that it waits for after that; null for none."
    )
    def at(self) -> str | None:
        """Return the time of the day."""
        return None if self.at_minute is None else clock(self.at_minute)

    @strawberry.field(description="Advice about the text, the most severe first.")
    async def findings(self, info: Info) -> list[TextFinding]:
        """Return the findings; the first step is the first promotional text to a person."""
        return await find_findings(info, self.account_id, self.body, is_first_promotional=self.position == 1)


@strawberry.type(description="Texts that follow one another by themselves. The steps do not change once it is made.")
class Sequence:
    """A drip sequence."""

    id: BigInt = strawberry.field(description="The drip sequence's id.")
    name: str = strawberry.field(description="The name of the drip sequence.")
    status: SequenceStatus = strawberry.field(description="Whether it sends.")
    created_at: datetime = strawberry.field(description="The time at which it was created.")

    @strawberry.field(graphql_type=list[SequenceStep], description="The texts, in their order.")
    async def steps(self, info: Info) -> Any:
        """Return the steps."""
        return await info.context.load_rows(queries.find_steps, "sequence_id", self.id)


@strawberry.type(description="The progress of a contact through a drip sequence.")
class Enrollment:
    """An enrollment."""

    id: BigInt = strawberry.field(description="The enrollment's id.")
    sequence_id: BigInt = strawberry.field(description="The drip sequence.")
    contact_id: BigInt = strawberry.field(description="The id of the enrolled contact.")
    status: EnrollmentStatus = strawberry.field(description="The state of the enrollment.")
    exit_reason: str = strawberry.field(
        description=(
            "The reason for an end before the last step, such as replied, contact_opted_out, contact_dnd, removed, "
            "sequence_archived or the code of the error that the step met; empty otherwise."
        )
    )
    position: int = strawberry.field(description="The step that is sent next; one more than there are at the end.")
    next_send_at: datetime | None = strawberry.field(
        description="The time at which the next step is due; null once it has ended."
    )
    enrolled_by: strawberry.Private[str]
    created_at: datetime = strawberry.field(description="The time of the enrollment.")
    ended_at: datetime | None = strawberry.field(description="The time of its completion or end.")

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
    async def contact(self, info: Info) -> Any:
        """Return the contact."""
        return await info.context.load(contacts.find_many, self.contact_id)


@strawberry.type(description="A contact that is enrolled in a drip sequence, now or since before.")
class Enrolled:
    """The result of an enrollment."""

    enrollment_id: BigInt = strawberry.field(description="The enrollment's id.")
    contact_id: BigInt = strawberry.field(description="The id of the enrolled contact.")
    sequence_id: BigInt = strawberry.field(description="The drip sequence.")
    sequence_name: str = strawberry.field(description="The name of the drip sequence.")
    next_send_at: datetime = strawberry.field(description="The time at which the next step is due.")
    already_enrolled: bool = strawberry.field(description="True where the contact was under way in it before.")


@strawberry.input(description="A text of a new drip sequence.")
class NewSequenceStep:
    """Fields of a step."""

    delay_minutes: int = strawberry.field(description="Minutes after the last step or the enrollment.")
    delay_days: int = strawberry.field(
        default=0,
        description=("Days of the recipient's calendar, before the minutes: at the same time of the day."),
    )
    at: str | None = strawberry.field(
        default=None,
        description="A time of the recipient's day, such as 10:00, that the step waits for after days and minutes.",
    )
    body: str = strawberry.field(
        description=(
            "The text, 1 to 1600 characters. Placeholders such as {first_name|friend} are filled in; what is not known "
            "leaves no gap. Write braces to send twice."
        )
    )


@strawberry.type
class SequenceQuery:
    """Reading drip sequences."""

    @strawberry.field(
        graphql_type=Connection[Sequence],
        description="The account's drip sequences, the newest first.",
        directives=guarded("campaigns:read"),
    )
    async def sequences(
        self,
        info: Info,
        status: Annotated[SequenceStatus | None, strawberry.argument(description="Only this status.")] = None,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
        offset: Offset = 0,
    ) -> Page[models.Sequence]:
        """Return one page of sequences."""
        return await queries.find_page(
            info.context.unit, status, window(info, "sequences", first, after, last, before, offset)
        )

    @strawberry.field(
        graphql_type=Sequence | None,
        description="One drip sequence; null beside the error not_found.",
        directives=guarded("campaigns:read", "not_found"),
    )
    async def sequence(self, info: Info, id: SequenceId) -> models.Sequence:
        """Return one sequence."""
        return await queries.get(info.context.unit, id)

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
class SequenceMutation:
    """Changing drip sequences, and enrolling contacts."""

    @strawberry.mutation(
        graphql_type=Sequence,
        description="Make a drip sequence. It is active at once, and its steps do not change any more.",
        directives=guarded("campaigns:write", "idempotency_key_reused", "message_too_long"),
    )
    async def create_sequence(
        self,
        info: Info,
        name: Annotated[str, strawberry.argument(description="The name of the drip sequence, 100 characters at most.")],
        steps: Annotated[list[NewSequenceStep], strawberry.argument(description="Its texts, 1 to 50, in order.")],
        idempotency_key: IdempotencyKey = None,
    ) -> models.Sequence:
        """Make a sequence."""
        unit = info.context.unit
        wanted = [NewStep(step.delay_minutes, step.body, step.delay_days, step.at) for step in steps]
        digest = idempotency.fingerprint("create_sequence", name=name, steps=[asdict(step) for step in wanted])
        return await queries.get(
            unit, await once(info, idempotency_key, digest, lambda: service.create(unit, name, wanted))
        )

    @strawberry.mutation(
        graphql_type=Sequence,
        description=(
            "Pause a drip sequence, make it active again, or archive it, which ends its enrollments. Steps that "
            "become due during a pause are sent afterwards, one step of a contact at a time."
        ),
        directives=guarded("campaigns:write", "not_found"),
    )
    async def update_sequence_status(
        self,
        info: Info,
        id: SequenceId,
        status: Annotated[SequenceStatus, strawberry.argument(description="The new status.")],
    ) -> models.Sequence:
        """Change a sequence's status."""
        return await service.update_status(info.context.unit, id, status)

    @strawberry.mutation(
        description=(
            "Enroll a contact in a drip sequence; one that is under way in it stays where it is. The caller "
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
            done = await service.enroll(unit, sequence_id, contact.id)
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
        graphql_type=Enrollment,
        description="End an enrollment before its last step. One that has ended stays as it is.",
        directives=guarded("campaigns:send", "not_found"),
    )
    async def unenroll(
        self,
        info: Info,
        enrollment_id: Annotated[BigInt, strawberry.argument(description="The enrollment's id.")],
    ) -> models.Enrollment:
        """End an enrollment."""
        return await service.unenroll(info.context.unit, enrollment_id)
