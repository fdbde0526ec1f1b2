"""Making and changing drip sequences, as the contract shows it."""

from typing import Annotated, Any, cast

import strawberry

from app.domain.contacts.models import PipelineStage
from app.domain.kernel import idempotency
from app.domain.kernel.sms_parts import MAX_LENGTH
from app.domain.quiet_hours.rules import EVERY_DAY
from app.domain.sequences import definition, models, previews, queries, service
from app.domain.sequences.definition import Exits, NewStep, SendWindow, SequenceFields
from app.domain.sequences.models import SequenceStatus
from app.domain.sequences.previews import PlannedText
from app.graphql.core import versions
from app.graphql.core.context import Info, given
from app.graphql.core.directives import Constraint, guarded
from app.graphql.core.idempotency import IdempotencyKey, once
from app.graphql.core.scalars import BigInt
from app.graphql.quiet_hours import Weekday
from app.graphql.sequences import Sequence, SequenceId, SequenceText

NAME = f"The name of the drip sequence, {definition.MAX_NAME} characters at most."
DAYS = Constraint(minimum=0, maximum=definition.MAX_DAYS)
STEPS = f"Its texts, 1 to {definition.MAX_STEPS}, in order."
RE_ENROLL = (
    "The days after the end of an enrollment from which its contact can be enrolled again; 0 for at once, null for "
    "never."
)
SKIPS = "True to skip a text that is refused for a day; false to end the enrollment then."
WINDOW = "The part of the recipient's day in which its texts leave; null for all of it."


@strawberry.input(description="A text of a drip sequence.")
class NewSequenceStep:
    """Fields of a step."""

    delay_minutes: int = strawberry.field(
        description="Minutes after the last step or the enrollment.",
        directives=[Constraint(minimum=0, maximum=definition.MAX_DELAY)],
    )
    delay_days: int = strawberry.field(
        default=0,
        description="Days of the recipient's calendar, added before the minutes.",
        directives=[DAYS],
    )
    at: str | None = strawberry.field(
        default=None,
        description="A time of the recipient's day, such as 10:00, for which the step then waits.",
    )
    body: str = strawberry.field(
        description=(
            "The text. Placeholders such as {first_name|friend} are filled in; an unknown value "
            "leaves no gap. Write braces to send twice."
        ),
        directives=[Constraint(min_length=1, max_length=MAX_LENGTH)],
    )
    key: int | None = strawberry.field(
        default=None,
        description=("The key of the present step that it continues, in the present order; none for a new step."),
    )


@strawberry.input(description="The causes that end an enrollment before its last text, beside an opt-out.")
class SequenceExitsInput:
    """The exits of a sequence."""

    on_reply: bool = strawberry.field(default=True, description="Whether a reply of the contact does.")
    stages: list[PipelineStage] | None = strawberry.field(default=None, description="Stages of contacts that do.")
    tags: list[str] | None = strawberry.field(
        default=None,
        description=f"Tags of contacts that do, {definition.MAX_EXITS} at most.",
        directives=[Constraint(max_items=definition.MAX_EXITS)],
    )

    def read(self) -> Exits:
        """Return the exits of the domain."""
        return Exits(self.on_reply, self.stages or [], self.tags or [])


@strawberry.input(description="The part of the recipient's day in which the texts of a drip sequence leave.")
class SequenceWindowInput:
    """The window of a sequence."""

    start: str = strawberry.field(description="The local time at which it opens, such as 09:00.")
    end: str = strawberry.field(description="The local time at which it closes, later on that day, up to 24:00.")
    weekdays: list[Weekday] | None = strawberry.field(default=None, description="The days; all of them if none.")

    def read(self) -> SendWindow:
        """Return the window of the domain."""
        return SendWindow(self.start, self.end, EVERY_DAY if self.weekdays is None else self.weekdays)


@strawberry.input(description="The fields to change; fields that are left out keep their values.")
class SequenceChanges:
    """The fields of a sequence to change."""

    name: strawberry.Maybe[str | None] = strawberry.field(
        description=f"{NAME} Not null.", directives=[Constraint(max_length=definition.MAX_NAME)]
    )
    steps: strawberry.Maybe[list[NewSequenceStep] | None] = strawberry.field(
        description=f"{STEPS} Other ones than the present are a new version. Not null.",
        directives=[Constraint(min_items=1, max_items=definition.MAX_STEPS)],
    )
    exits: strawberry.Maybe[SequenceExitsInput | None] = strawberry.field(
        description="The causes that end an enrollment early, those under way too. Not null."
    )
    window: strawberry.Maybe[SequenceWindowInput | None] = strawberry.field(description=WINDOW)
    re_enroll_after_days: strawberry.Maybe[int | None] = strawberry.field(description=RE_ENROLL, directives=[DAYS])
    skips_refused: strawberry.Maybe[bool | None] = strawberry.field(description=f"{SKIPS} Not null.")


def _read(changes: SequenceChanges) -> SequenceFields:
    """Return the fields of the domain that the caller wrote."""
    fields: dict[str, Any] = {**given(vars(changes), SequenceFields)}
    for name, value in fields.items():
        if isinstance(value, SequenceExitsInput | SequenceWindowInput):
            fields[name] = value.read()
    if "steps" in fields:
        fields["steps"] = _steps(fields["steps"])
    return cast("SequenceFields", fields)


def _steps(given: list[NewSequenceStep]) -> list[NewStep]:
    return [NewStep(step.delay_minutes, step.body, step.delay_days, step.at, step.key) for step in given]


@strawberry.type
class SequenceDraftQuery:
    """Previews of drip sequences that are not saved."""

    @strawberry.field(
        graphql_type=list[SequenceText] | None,
        description="The texts of a drip sequence that is not saved as one contact would get them if it were enrolled "
        f"now, and when; at most {definition.MAX_STEPS}. Keys of steps are ignored. Nothing is sent or written. Null "
        "beside an error.",
        directives=guarded("contacts:read", "message_too_long", "not_found"),
    )
    async def preview_sequence_draft(
        self,
        info: Info,
        steps: Annotated[
            list[NewSequenceStep],
            strawberry.argument(
                description=STEPS, directives=[Constraint(min_items=1, max_items=definition.MAX_STEPS)]
            ),
        ],
        contact_id: Annotated[BigInt, strawberry.argument(description="The contact.")],
        window: Annotated[SequenceWindowInput | None, strawberry.argument(description=WINDOW)] = None,
    ) -> list[PlannedText]:
        """Return the planned texts."""
        return await previews.preview_draft(
            info.context.unit, _steps(steps), window.read() if window else None, contact_id
        )


@strawberry.type
class SequenceMutation:
    """Changing drip sequences."""

    @strawberry.mutation(
        graphql_type=Sequence,
        description="Create a drip sequence, and return it. It is active at once.",
        directives=guarded("campaigns:write", "idempotency_key_reused", "message_too_long"),
    )
    async def create_sequence(
        self,
        info: Info,
        name: Annotated[
            str, strawberry.argument(description=NAME, directives=[Constraint(max_length=definition.MAX_NAME)])
        ],
        steps: Annotated[
            list[NewSequenceStep],
            strawberry.argument(
                description=STEPS, directives=[Constraint(min_items=1, max_items=definition.MAX_STEPS)]
            ),
        ],
        exits: Annotated[
            SequenceExitsInput | None,
            strawberry.argument(description="The causes that end an enrollment; a reply if none."),
        ] = None,
        window: Annotated[SequenceWindowInput | None, strawberry.argument(description=WINDOW)] = None,
        re_enroll_after_days: Annotated[int | None, strawberry.argument(description=RE_ENROLL, directives=[DAYS])] = 0,
        skips_refused: Annotated[bool, strawberry.argument(description=SKIPS)] = False,
        idempotency_key: IdempotencyKey = None,
    ) -> models.Sequence:
        """Make a sequence."""
        unit, wanted = info.context.unit, _steps(steps)
        fields: SequenceFields = {
            "exits": (exits or SequenceExitsInput()).read(),
            "window": window.read() if window else None,
            "re_enroll_after_days": re_enroll_after_days,
            "skips_refused": skips_refused,
        }
        digest = idempotency.fingerprint("create_sequence", settings=fields, name=name, steps=wanted)
        made = await once(info, idempotency_key, digest, lambda: service.create(unit, name, wanted, fields))
        return await queries.get(unit, made)

    @strawberry.mutation(
        graphql_type=Sequence,
        description=(
            "Change a drip sequence, and return it. Other texts than the present ones are a new version, which new "
            "enrollments get; contacts under way finish theirs, or move to it with migrate."
        ),
        directives=guarded("campaigns:write", "conflict", "message_too_long", "not_found"),
    )
    async def update_sequence(
        self,
        info: Info,
        id: SequenceId,
        changes: Annotated[SequenceChanges, strawberry.argument(description="The fields to change.")],
        migrate: Annotated[
            bool,
            strawberry.argument(
                description=(
                    "Whether contacts under way in an earlier version move to the present one, each to the step whose "
                    "key its next step has. The delay that is under way stays. Those whose next step is gone finish "
                    "their version."
                )
            ),
        ] = False,
        expected_version: Annotated[int | None, versions.expected("drip sequence")] = None,
    ) -> models.Sequence:
        """Change a sequence."""
        unit, fields = info.context.unit, _read(changes)
        return await service.change(unit, id, fields, migrate=migrate, expected_version=expected_version)

    @strawberry.mutation(
        graphql_type=Sequence,
        description=(
            "Pause a drip sequence, make it active again, or archive it, which ends its enrollments; and return it. "
            "Steps that become due during a pause are sent afterwards, one step of a contact at a time."
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
