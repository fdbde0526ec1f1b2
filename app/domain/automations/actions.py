"""Actions of automations: their checks, their words, and the effect of each on a contact."""

import enum
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, cast

from app.domain.accounts import users
from app.domain.accounts.scopes import Scope
from app.domain.automations.events import AutomationWebhook
from app.domain.automations.shapes import Action, ChangeAction, GivenAction
from app.domain.contacts import service as contacts
from app.domain.contacts.events import contact_keys
from app.domain.contacts.models import PipelineStage
from app.domain.conversations import queries as conversations
from app.domain.conversations import review
from app.domain.conversations import service as conversation_service
from app.domain.events import outbox
from app.domain.kernel.errors import InvalidInput, NotFound
from app.domain.kernel.events import timestamp
from app.domain.kernel.placeholders import Vocabulary
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.notices.events import OwnersNotified
from app.domain.notices.models import NoticeKind
from app.domain.sequences import enrollments
from app.domain.sequences import queries as sequence_queries
from app.domain.templates import checking, vocabulary

MAX_ACTIONS, MAX_WAIT, MAX_NOTE = 20, 365 * 24 * 60, 500


class ActionKind(enum.StrEnum):
    """The kind of an action."""

    send = enum.auto()
    add_tag = enum.auto()
    remove_tag = enum.auto()
    set_stage = enum.auto()
    assign = enum.auto()
    enroll = enum.auto()
    exit_drips = enum.auto()
    notify = enum.auto()
    webhook = enum.auto()
    ai_on = enum.auto()
    ai_off = enum.auto()
    wait = enum.auto()


VALUES = {
    ActionKind.send: "body",
    ActionKind.add_tag: "tag",
    ActionKind.remove_tag: "tag",
    ActionKind.set_stage: "stage",
    ActionKind.assign: "user_id",
    ActionKind.enroll: "sequence_id",
    ActionKind.notify: "text",
    ActionKind.webhook: "text",
    ActionKind.wait: "minutes",
}
"""The field that an action of each kind needs."""

WORDS: Mapping[str, str] = {
    ActionKind.send: "send “{body}”",
    ActionKind.add_tag: "add the tag {tag}",
    ActionKind.remove_tag: "remove the tag {tag}",
    ActionKind.set_stage: "set the stage to {stage}",
    ActionKind.assign: "assign the contact to user {user_id}",
    ActionKind.enroll: "enroll in drip sequence {sequence_id}",
    ActionKind.exit_drips: "end all drip sequences",
    ActionKind.notify: "notify the owners “{text}”",
    ActionKind.webhook: "report “{text}” to webhooks",
    ActionKind.ai_on: "let AI agents answer",
    ActionKind.ai_off: "pause AI agents",
    ActionKind.wait: "wait {minutes} minutes",
    "ask_opt_in": "ask to confirm {keyword} with YES",
}

SCOPES = {
    ActionKind.send: Scope.messages_send,
    ActionKind.add_tag: Scope.contacts_write,
    ActionKind.remove_tag: Scope.contacts_write,
    ActionKind.set_stage: Scope.contacts_write,
    ActionKind.assign: Scope.contacts_write,
    ActionKind.enroll: Scope.campaigns_send,
    ActionKind.exit_drips: Scope.campaigns_send,
    ActionKind.webhook: Scope.webhooks_manage,
    ActionKind.ai_on: Scope.conversations_write,
    ActionKind.ai_off: Scope.conversations_write,
}
"""The scope that the author of an action of a kind needs: that of the same change by hand."""


class ActingRun(Protocol):
    """The run that an action belongs to."""

    @property
    def id(self) -> int:
        """Return its id."""
        ...

    @property
    def automation_id(self) -> int | None:
        """Return its automation; None for the reply of a keyword."""
        ...

    @property
    def contact_id(self) -> int:
        """Return its contact."""
        ...


Act = Callable[[UnitOfWork, int, Any], Awaitable[object]]


async def check(unit: UnitOfWork, given: Sequence[GivenAction]) -> list[Action]:
    """Return actions as they are stored; raise `InvalidInput`, `MessageTooLong` and `NotFound`."""
    if not 1 <= len(given) <= MAX_ACTIONS:
        raise InvalidInput(reason=f"An automation has 1 to {MAX_ACTIONS} actions.", field="actions")
    known = await vocabulary.find(unit)
    return [await _check(unit, each, known, f"actions[{place}]") for place, each in enumerate(given)]


def scopes_of(actions: Sequence[Action]) -> frozenset[str]:
    """Return the scopes that actions need of the actor that has them executed."""
    return frozenset(SCOPES[kind] for each in actions if (kind := ActionKind(each["kind"])) in SCOPES)


async def _check(unit: UnitOfWork, given: GivenAction, known: Vocabulary, place: str) -> Action:
    kind = ActionKind(given["kind"])
    name = VALUES.get(kind)
    if name is None:
        return cast("Action", {"kind": kind})
    value = given.get(name)
    if value is None:
        raise InvalidInput(reason=f"{kind} needs {name}.", field=f"{place}.{name}")
    checked = await _checked(unit, kind, value, known, f"{place}.{name}")
    return cast("Action", {"kind": kind, name: checked})


async def _checked(unit: UnitOfWork, kind: ActionKind, value: Any, known: Vocabulary, place: str) -> Any:
    """Return the value of an action; raise the errors of its check."""
    match kind:
        case ActionKind.send:
            checking.check(value, known, place)
            return value
        case ActionKind.assign:
            return (await users.get(unit, value)).id
        case ActionKind.enroll:
            return (await sequence_queries.get(unit, value)).id
        case _:
            return PLAIN[kind](value, place)


def _tag(value: str, place: str) -> str:
    try:
        tags = contacts.clean_tags([value])
    except InvalidInput as fault:
        raise InvalidInput(reason=str(fault), field=place) from None
    if not tags:
        raise InvalidInput(reason="A tag must not be empty.", field=place)
    return tags[0]


def _stage(value: str, _: str) -> str:
    return str(PipelineStage(value))


def _note(value: str, place: str) -> str:
    if not 1 <= len(value.strip()) <= MAX_NOTE:
        raise InvalidInput(reason=f"text must have 1 to {MAX_NOTE} characters.", field=place)
    return value.strip()


def _minutes(value: int, place: str) -> int:
    if not 1 <= value <= MAX_WAIT:
        raise InvalidInput(reason=f"minutes must be from 1 to {MAX_WAIT}.", field=place)
    return value


PLAIN: Mapping[ActionKind, Callable[[Any, str], Any]] = {
    ActionKind.add_tag: _tag,
    ActionKind.remove_tag: _tag,
    ActionKind.set_stage: _stage,
    ActionKind.notify: _note,
    ActionKind.webhook: _note,
    ActionKind.wait: _minutes,
}
"""The checks of values that need no query."""


def describe(action: Action) -> str:
    """Return an action in words."""
    return WORDS[action["kind"]].format(**action)


async def perform(unit: UnitOfWork, run: ActingRun, action: ChangeAction) -> None:
    """Change a contact as an action says, in the transaction of the caller; raise the errors of its verb."""
    kind = ActionKind(action["kind"])
    value = action.get(VALUES.get(kind, ""))
    if kind is ActionKind.webhook:
        await _report(unit, run, str(value))
    else:
        await ACTS[kind](unit, run.contact_id, value)


async def _report(unit: UnitOfWork, run: ActingRun, text: str) -> None:
    """Record the event that webhooks subscribe to, which the sender of webhooks signs and posts."""
    contact = await contacts.get(unit, run.contact_id, None)
    event = AutomationWebhook(
        **contact_keys(contact),
        automation_id=run.automation_id or 0,
        run_id=run.id,
        text=text,
        acted_at=timestamp(unit.clock.now()),
    )
    outbox.record(unit, event, contact.id)


async def _set_ai(unit: UnitOfWork, contact_id: int, change: Callable[[UnitOfWork, int], Awaitable[object]]) -> None:
    conversation = await conversations.find_by_contact(unit, contact_id)
    if conversation is None:
        raise NotFound(kind="conversation", id=contact_id, by="contact")
    await change(unit, conversation.id)


async def _ai_on(unit: UnitOfWork, contact_id: int, _: None) -> None:
    await _set_ai(unit, contact_id, conversation_service.release_ai)


async def _ai_off(unit: UnitOfWork, contact_id: int, _: None) -> None:
    await _set_ai(unit, contact_id, conversation_service.pause_ai)


async def _set_stage(unit: UnitOfWork, contact_id: int, stage: str) -> None:
    await review.update_contact(unit, contact_id, {"pipeline_stage": PipelineStage(stage)})


async def _enroll(unit: UnitOfWork, contact_id: int, sequence_id: int) -> None:
    await enrollments.enroll(unit, sequence_id, contact_id)


async def _exit_drips(unit: UnitOfWork, contact_id: int, _: None) -> None:
    await enrollments.unenroll_contact(unit, contact_id)


async def _notify(unit: UnitOfWork, contact_id: int, text: str) -> None:
    contact = await contacts.get(unit, contact_id, None)
    name = " ".join(filter(None, (contact.first_name, contact.last_name))) or contact.phone
    body = f"{text} ({name}, {contact.phone})"
    outbox.record(unit, OwnersNotified(kind=NoticeKind.automation, title=f"Automation: {name}", body=body), contact.id)


ACTS: Mapping[ActionKind, Act] = {
    ActionKind.add_tag: contacts.add_tag,
    ActionKind.remove_tag: contacts.remove_tag,
    ActionKind.set_stage: _set_stage,
    ActionKind.assign: contacts.assign,
    ActionKind.enroll: _enroll,
    ActionKind.exit_drips: _exit_drips,
    ActionKind.notify: _notify,
    ActionKind.ai_on: _ai_on,
    ActionKind.ai_off: _ai_off,
}
"""The verbs of the actions that change rows; texts and waits are the work of the runner."""
