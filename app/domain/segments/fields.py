"""The fields of contacts that segments filter by, and the operators of each kind of field."""

import enum
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.domain.consent import sql as consent
from app.domain.contacts.models import ContactStatus, CustomField, CustomFieldType, PipelineStage
from app.domain.conversations import sql as conversations
from app.domain.quiet_hours.area_codes import STATES

CUSTOM = "custom."


class Operator(enum.StrEnum):
    """The comparison of a condition."""

    eq = enum.auto()
    ne = enum.auto()
    in_ = "in"
    not_in = enum.auto()
    contains = enum.auto()
    starts_with = enum.auto()
    gt = enum.auto()
    gte = enum.auto()
    lt = enum.auto()
    lte = enum.auto()
    between = enum.auto()
    before = enum.auto()
    after = enum.auto()
    within_last = enum.auto()
    not_within_last = enum.auto()
    has_any = enum.auto()
    has_all = enum.auto()
    has_none = enum.auto()
    is_set = enum.auto()
    is_empty = enum.auto()


class Kind(enum.StrEnum):
    """The kind of the values of a field."""

    text = enum.auto()
    tags = enum.auto()
    choice = enum.auto()
    state = enum.auto()
    number = enum.auto()
    date = enum.auto()
    time = enum.auto()
    boolean = enum.auto()
    id = enum.auto()
    ids = enum.auto()


EQUALITY = (Operator.eq, Operator.ne, Operator.in_, Operator.not_in)
PRESENCE = (Operator.is_set, Operator.is_empty)
RELATIVE = (Operator.within_last, Operator.not_within_last)

OPERATORS: Mapping[Kind, tuple[Operator, ...]] = {
    Kind.text: (*EQUALITY, Operator.contains, Operator.starts_with, *PRESENCE),
    Kind.tags: (Operator.has_any, Operator.has_all, Operator.has_none, *PRESENCE),
    Kind.choice: (*EQUALITY, *PRESENCE),
    Kind.state: EQUALITY,
    Kind.number: (
        *EQUALITY,
        Operator.gt,
        Operator.gte,
        Operator.lt,
        Operator.lte,
        Operator.between,
        *PRESENCE,
    ),
    Kind.date: (*EQUALITY, Operator.before, Operator.after, Operator.between, *RELATIVE, *PRESENCE),
    Kind.time: (Operator.before, Operator.after, Operator.between, *RELATIVE, *PRESENCE),
    Kind.boolean: (Operator.eq, Operator.ne, *PRESENCE),
    Kind.id: (*EQUALITY, *PRESENCE),
    Kind.ids: (Operator.has_any, Operator.has_all, Operator.has_none, *PRESENCE),
}

NEGATED = {
    Operator.ne: Operator.in_,
    Operator.not_in: Operator.in_,
    Operator.has_none: Operator.has_any,
    Operator.not_within_last: Operator.within_last,
    Operator.is_empty: Operator.is_set,
}
"""The operators that are true where another is not, also for a contact without a value."""

NO_VALUES = frozenset(PRESENCE)
MANY_VALUES = frozenset({Operator.in_, Operator.not_in, Operator.has_any, Operator.has_all, Operator.has_none})


def _plain(condition: str) -> str:
    return condition


@dataclass(frozen=True, slots=True)
class Field:
    """A field of the contact `c`: the SQL expression of its value, and the condition around a comparison of that.

    `choices` are the values of a field that has only some. With `counts_messages`, the conditions of the field may say
    which messages are counted.
    """

    name: str
    kind: Kind
    expression: str
    description: str = ""
    choices: Sequence[str] = ()
    around: Callable[[str], str] = _plain
    counts_messages: bool = False

    @property
    def is_elsewhere(self) -> bool:
        """Return whether the expression is about a row of another table, which `around` finds."""
        return self.around is not _plain

    @property
    def operators(self) -> tuple[Operator, ...]:
        """Return the operators of the field."""
        return OPERATORS[self.kind]


BUILT_IN = (
    Field("phone", Kind.text, "c.phone", "The phone in E.164 form."),
    Field("first_name", Kind.text, "c.first_name", "The first name."),
    Field("last_name", Kind.text, "c.last_name", "The last name."),
    Field("email", Kind.text, "c.email", "The e-mail address."),
    Field("source", Kind.text, "c.source", "The source of the contact, such as api."),
    Field("time_zone", Kind.text, "c.time_zone", "The time zone (IANA) that is known of the person."),
    Field(
        "state",
        Kind.state,
        "CASE WHEN starts_with(c.phone, '+1') THEN substr(c.phone, 3, 3) END",
        "The state of the USA that the area code of the phone is of, such as TX.",
        tuple(STATES),
    ),
    Field("tags", Kind.tags, "c.tags", "The tags."),
    Field("pipeline_stage", Kind.choice, "c.pipeline_stage", "The stage of the pipeline.", tuple(PipelineStage)),
    Field("status", Kind.choice, "c.status", "Whether the contact has opted out.", tuple(ContactStatus)),
    Field("dnd_sms", Kind.boolean, "c.dnd_sms", "Whether the account has set do-not-disturb."),
    Field("is_held", Kind.boolean, "(c.held_until IS NOT NULL)", "Whether an unclear reply waits for a decision."),
    Field("score", Kind.number, "c.score", "The score from 0 to 100."),
    Field("replies", Kind.number, "c.replies", "The number of replies."),
    Field("assignee_id", Kind.id, "c.assignee_id", "The id of the assigned user."),
    Field("created_at", Kind.time, "c.created_at", "The time at which the contact was added."),
    Field("updated_at", Kind.time, "c.updated_at", "The time of the last change of the contact."),
    Field(
        "last_inbound_at",
        Kind.time,
        conversations.LAST_INBOUND,
        "The time of the last message from the contact.",
        around=conversations.has,
    ),
    Field(
        "last_outbound_at",
        Kind.time,
        conversations.LAST_OUTBOUND,
        "The time at which the last message to the contact was accepted.",
        around=conversations.has,
    ),
    Field(
        "message_count",
        Kind.number,
        "",
        "The number of messages from and to the contact; of one direction or status, or of a time, where given.",
        counts_messages=True,
    ),
    Field(
        "opted_out_at",
        Kind.time,
        consent.OPTED_OUT_AT,
        "The time of the opt-out that holds now.",
        around=lambda condition: consent.is_suppressed_with("c.account_id", "c.phone", condition),
    ),
)

CUSTOM_KINDS = {
    CustomFieldType.text: Kind.text,
    CustomFieldType.number: Kind.number,
    CustomFieldType.date: Kind.date,
    CustomFieldType.boolean: Kind.boolean,
    CustomFieldType.choice: Kind.choice,
}

CUSTOM_EXPRESSIONS = {
    Kind.text: "c.custom_fields ->> {key}",
    Kind.choice: "c.custom_fields ->> {key}",
    Kind.date: "c.custom_fields ->> {key}",
    Kind.number: (
        "CASE WHEN jsonb_typeof(c.custom_fields -> {key}) = 'number'"
        " THEN CAST(c.custom_fields ->> {key} AS numeric) END"
    ),
    Kind.boolean: (
        "CASE WHEN jsonb_typeof(c.custom_fields -> {key}) = 'boolean'"
        " THEN CAST(c.custom_fields ->> {key} AS boolean) END"
    ),
}
"""The value of a custom field. `key` is the parameter with the key."""


def of_account(custom: Iterable[CustomField]) -> dict[str, Field]:
    """Return the fields of an account with these custom fields, by name."""
    own = (custom_field(each.key, CUSTOM_KINDS[CustomFieldType(each.type)], each) for each in custom)
    return NAMED | {field.name: field for field in own}


def custom_field(key: str, kind: Kind, declared: CustomField | None = None) -> Field:
    """Return the field of a custom field; without its declaration, for a stored condition."""
    description, choices = (declared.label, declared.choices) if declared else ("", ())
    return Field(CUSTOM + key, kind, CUSTOM_EXPRESSIONS[kind], description, choices)


NAMED = {field.name: field for field in BUILT_IN}
"""The fields of every account by name."""


def declare(*fields: Field) -> None:
    """Add fields about facts of areas that stand above this one."""
    NAMED.update({field.name: field for field in fields})


def stored(name: str, kind: Kind) -> Field:
    """Return the field of a stored condition."""
    return NAMED.get(name) or custom_field(name.removeprefix(CUSTOM), kind)
