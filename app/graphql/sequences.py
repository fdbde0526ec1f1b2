"""Drip sequences, as the contract shows them."""

from datetime import datetime
from typing import Annotated, Any

import strawberry

from app.domain.contacts.models import PipelineStage
from app.domain.kernel.paging import Page
from app.domain.kernel.sms_parts import Encoding
from app.domain.quiet_hours.rules import clock
from app.domain.sequences import counts, models, previews, queries
from app.domain.sequences.counts import Counts, StepCounts
from app.domain.sequences.definition import MAX_STEPS
from app.domain.sequences.models import EnrollmentStatus, SequenceStatus
from app.domain.sequences.previews import PlannedText
from app.graphql.actors import Actor, actor_of
from app.graphql.core.context import Info, row_of
from app.graphql.core.directives import guarded
from app.graphql.core.enums import describe
from app.graphql.core.loading import Load
from app.graphql.core.paging import After, Before, Connection, First, Last, Offset, window
from app.graphql.core.scalars import BigInt
from app.graphql.quiet_hours import Weekday
from app.graphql.texts import TextFinding, find_findings

describe(
    SequenceStatus,
    "Whether a drip sequence sends.",
    {
        "active": "It sends the due steps.",
        "paused": "It sends nothing; contacts can be enrolled, and wait.",
        "archived": "It sends nothing and enrolls no contact.",
    },
)

MAX_OLDER = 10
"""The number of earlier versions that are shown; each may have as many texts as a sequence."""

SequenceId = Annotated[BigInt, strawberry.argument(description="The drip sequence's id.")]


@strawberry.type(description="One text of a drip sequence.")
class SequenceStep:
    """A step."""

    account_id: strawberry.Private[int]
    sequence_id: strawberry.Private[int]
    key: int = strawberry.field(description="Identifies the step within its drip sequence, in all versions.")
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

    @strawberry.field(description="Number of contacts under way whose next text this is, in any version.")
    async def waiting_count(self, info: Info) -> BigInt:
        """Return the number of contacts that wait for the step."""
        return BigInt((await _counts_of(info, self.sequence_id, self.key)).waiting)

    @strawberry.field(description="Number of contacts that it was sent to, in any version.")
    async def sent_count(self, info: Info) -> BigInt:
        """Return the number of contacts that got the step."""
        return BigInt((await _counts_of(info, self.sequence_id, self.key)).sent)

    @strawberry.field(description="Advice about the text, the most severe first.")
    async def findings(self, info: Info) -> list[TextFinding]:
        """Return the findings; the first step is the first promotional text to a person."""
        return await find_findings(info, self.account_id, self.body, is_first_promotional=self.position == 1)


async def _counts_of(info: Info, sequence_id: int, key: int) -> StepCounts:
    return await info.context.load(counts.find_of_steps, (sequence_id, key)) or StepCounts()


@strawberry.type(description="The causes that end an enrollment before its last text, beside an opt-out.")
class SequenceExits:
    """The exits of a sequence."""

    on_reply: bool = strawberry.field(description="Whether a reply of the contact does.")
    stages: list[PipelineStage] = strawberry.field(description="The stages of contacts that do.")
    tags: list[str] = strawberry.field(description="The tags of contacts that do.")


@strawberry.type(
    description=(
        "The part of the recipient's day in which the texts of a drip sequence leave, in every time zone where the "
        "recipient may be. Quiet hours narrow it."
    )
)
class SequenceWindow:
    """The window of a sequence."""

    start: str = strawberry.field(description="The local time at which it opens, such as 09:00.")
    end: str = strawberry.field(description="The local time at which it closes, such as 17:00.")
    weekdays: list[Weekday] = strawberry.field(description="The days on which it opens.")


@strawberry.type(description="Number of enrollments that ended early for one reason.")
class ExitCount:
    """A count of exits."""

    reason: str = strawberry.field(description="The reason, as in Enrollment.exit_reason.")
    count: BigInt = strawberry.field(description="The number of enrollments.")


@strawberry.type(description="Numbers of the enrollments of a drip sequence.")
class SequenceCounts:
    """The counts of a sequence."""

    active: BigInt = strawberry.field(description="Under way, the paused ones among them.")
    paused: BigInt = strawberry.field(description="Under way, and paused one by one.")
    finishing: BigInt = strawberry.field(description="Waiting for the carrier to take the last text.")
    completed: BigInt = strawberry.field(description="Completed.")
    exited: BigInt = strawberry.field(description="Ended before the last text.")
    exits: list[ExitCount] = strawberry.field(description="These by their reason, the most frequent first.")

    @classmethod
    def of(cls, found: Counts) -> "SequenceCounts":
        """Return counts as the contract shows them."""
        by, status = found.by_status, EnrollmentStatus
        exits = [ExitCount(reason=reason, count=BigInt(count)) for reason, count in found.by_exit_reason.most_common()]
        return cls(
            active=BigInt(by[status.active]),
            paused=BigInt(found.paused),
            finishing=BigInt(by[status.finishing]),
            completed=BigInt(by[status.completed]),
            exited=BigInt(by[status.exited]),
            exits=exits,
        )


@strawberry.type(description="An earlier version of the texts of a drip sequence that contacts are under way in.")
class SequenceVersion:
    """An earlier version."""

    sequence_id: strawberry.Private[int]
    steps_version: int = strawberry.field(description="The number of the version.")
    active_count: BigInt = strawberry.field(description="Number of contacts under way in it.")

    @strawberry.field(graphql_type=list[SequenceStep], description="Its texts, in their order.")
    async def steps(self, info: Info) -> Any:
        """Return the steps."""
        return await info.context.load(queries.find_steps_of_versions, (self.sequence_id, self.steps_version)) or []


@strawberry.type(description="Texts that are sent one after the other, with set delays.")
class Sequence:
    """A drip sequence."""

    id: BigInt = strawberry.field(description="The drip sequence's id.")
    name: str = strawberry.field(description="The name of the drip sequence.")
    status: SequenceStatus = strawberry.field(description="Whether it sends.")
    version: int = strawberry.field(description="Grows with each change, for expected_version.")
    steps_version: int = strawberry.field(
        description="Grows with each change of the texts. Contacts under way keep the version they began with, unless "
        "update_sequence moves them."
    )
    re_enroll_after_days: int | None = strawberry.field(
        description="The days after the end of an enrollment from which its contact can be enrolled again; 0 for at "
        "once, null for never. One that left by an opt-out is never enrolled again."
    )
    skips_refused: bool = strawberry.field(
        description="True to skip a text that is refused for a day, such as for lack of credits; false to end the "
        "enrollment then."
    )
    created_by: strawberry.Private[str | None]
    created_at: datetime = strawberry.field(description="The time at which it was created.")

    @strawberry.field(description="The user, key or application that created it; null where that is not known.")
    def creator(self) -> Actor | None:
        """Return the actor."""
        return actor_of(self.created_by) if self.created_by else None

    @strawberry.field(graphql_type=list[SequenceStep], description="The texts, in their order.")
    def steps(self, info: Info) -> Load[Any]:
        """Return the steps."""
        return info.context.load_rows(queries.find_steps, "sequence_id", self.id)

    @strawberry.field(description="The causes that end an enrollment early.")
    def exits(self) -> SequenceExits:
        """Return the exits."""
        row = row_of(self, models.Sequence)
        stages = [PipelineStage(stage) for stage in row.exit_stages]
        return SequenceExits(on_reply=row.exits_on_reply, stages=stages, tags=row.exit_tags)

    @strawberry.field(description="The part of the recipient's day in which its texts leave; null for all of it.")
    def window(self) -> SequenceWindow | None:
        """Return the window."""
        row = row_of(self, models.Sequence)
        if row.window_start is None or row.window_end is None:
            return None
        days = [Weekday(day) for day in row.window_days]
        return SequenceWindow(start=clock(row.window_start), end=clock(row.window_end), weekdays=days)

    @strawberry.field(description="Numbers of its enrollments.")
    async def counts(self, info: Info) -> SequenceCounts:
        """Return the counts."""
        return SequenceCounts.of(await info.context.load(counts.find_many, self.id) or Counts())

    @strawberry.field(
        description=f"The newest {MAX_OLDER} earlier versions of the texts that contacts are under way in, the newest "
        "first."
    )
    async def older_versions(self, info: Info) -> list[SequenceVersion]:
        """Return the versions with their counts."""
        found = await info.context.load(counts.find_many, self.id) or Counts()
        older = sorted((each for each in found.under_way.items() if each[0] < self.steps_version), reverse=True)
        return [
            SequenceVersion(sequence_id=self.id, steps_version=version, active_count=BigInt(count))
            for version, count in older[:MAX_OLDER]
        ]


@strawberry.type(description="A text of a drip sequence as one contact would get it, and its time.")
class SequenceText:
    """A planned text."""

    key: int = strawberry.field(description="The key of its step.")
    position: int = strawberry.field(description="The place of its step, from 1.")
    send_at: datetime = strawberry.field(
        description="The time that delays, quiet hours and the window of the drip sequence give it; where an hour "
        "opens, it may leave up to 20 minutes later, and a frequency cap may put it off."
    )
    body: str = strawberry.field(description="The text as it would be sent.", directives=guarded("contacts:read"))
    encoding: Encoding = strawberry.field(description="The alphabet that it is sent in.")
    segments: int = strawberry.field(description="Its SMS parts.")
    credits: int = strawberry.field(description="Its price in credits.")
    missing: list[str] = strawberry.field(description="The placeholders that have no value for the contact.")


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
        graphql_type=list[SequenceText] | None,
        description=f"The texts that a contact would get if it were enrolled now, and when, at most {MAX_STEPS}; of a "
        "contact under way, those that are left. Nothing is sent or written. Null beside the error that refuses the "
        "enrollment.",
        directives=guarded("campaigns:read", "conflict", "contact_dnd", "contact_opted_out", "not_found"),
    )
    async def preview_sequence(
        self,
        info: Info,
        id: SequenceId,
        contact_id: Annotated[BigInt, strawberry.argument(description="The contact.")],
    ) -> list[PlannedText]:
        """Return the planned texts."""
        return await previews.preview(info.context.unit, id, contact_id)
