"""The actions of an inbound webhook on a body: create or change a contact, tag it, enroll it, run an automation."""

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypedDict, cast

import orjson

from app.domain.accounts import scopes
from app.domain.accounts.scopes import Scope
from app.domain.automations import actions as automation_actions
from app.domain.automations import queries as automations
from app.domain.automations import runs
from app.domain.contacts import custom_fields
from app.domain.contacts import queries as contacts
from app.domain.contacts import service as contact_service
from app.domain.contacts.models import ContactFields
from app.domain.integrations import paths
from app.domain.integrations.bookings import Applied
from app.domain.integrations.models import Integration
from app.domain.integrations.scheduling import Unreadable
from app.domain.kernel.errors import DomainError, InvalidInput, NotFound
from app.domain.kernel.unit_of_work import UnitOfWork, open_unit
from app.domain.sequences import enrollments
from app.domain.sequences import queries as sequences

PATHS = ("phone", "first_name", "last_name", "email")
MAX_CUSTOM = 50


class Actions(TypedDict, total=False):
    """The actions of an inbound webhook: paths of the contact's fields, tags to add, and further actions.

    That is a sequence to enroll in, and an automation to run.
    """

    paths: dict[str, str]
    custom_fields: dict[str, str]
    tags: list[str]
    sequence_id: int | None
    automation_id: int | None


@dataclass(slots=True)
class Outcome:
    """The values that a test picked from a body, and the effect of an event with it, or the error."""

    picked: dict[str, str] = field(default_factory=dict)
    result: str = ""
    error: str = ""


class _Undo(Exception):
    """Rolls a test back."""


async def check(unit: UnitOfWork, actions: Actions) -> dict[str, Any]:
    """Return the actions to store; raise `InvalidInput` or `NotFound`.

    Raises `InsufficientScope` for an enrollment, or an automation, that the actor may not start by hand.
    """
    given = actions.get("paths", {})
    if not given.get("phone"):
        raise InvalidInput(reason="phone must be the path of the contact's phone.", field="phone")
    known = {each.key for each in await custom_fields.list_all(unit)}
    custom = actions.get("custom_fields", {})
    for key in custom:
        if key not in known or len(custom) > MAX_CUSTOM:
            raise InvalidInput(reason=f"custom_fields has {key}, which the account lacks.", field="custom_fields")
    scopes.require(unit.actor, await find_scopes(unit, actions))
    if (sequence_id := actions.get("sequence_id")) is not None:
        await sequences.get(unit, sequence_id)
    if (automation_id := actions.get("automation_id")) is not None:
        await automations.get_automation(unit, automation_id)
    return {
        "paths": {name: paths.check(path, name) for name, path in given.items() if path.strip()},
        "custom_fields": {key: paths.check(path, "custom_fields") for key, path in custom.items()},
        "tags": contact_service.clean_tags(actions.get("tags", [])),
        "sequence_id": sequence_id,
        "automation_id": automation_id,
    }


async def find_scopes(unit: UnitOfWork, actions: Actions) -> frozenset[str]:
    """Return the scopes that the actions of a webhook need by hand; none of an automation that is gone."""
    needed = frozenset[str]({Scope.contacts_write})
    if actions.get("sequence_id") is not None:
        needed |= {Scope.campaigns_send}
    if (automation_id := actions.get("automation_id")) is not None:
        with suppress(NotFound):
            needed |= automation_actions.scopes_of((await automations.get_automation(unit, automation_id)).actions)
    return needed


async def perform(unit: UnitOfWork, integration: Integration, body: str, key: str) -> Applied:
    """Perform the actions of a webhook on a body; raise `Unreadable` or the `DomainError` that refuses it.

    `key` identifies the event, for which an automation runs once.
    """
    actions = cast("Actions", integration.actions)
    fields = _fields(pick(actions, body), actions)
    known = await contacts.find_by_phone(unit, await contact_service.normalize(unit, fields.get("phone") or ""))
    contact = await contact_service.upsert(unit, fields, f"webhook: {integration.name}"[: contact_service.MAX_NAME])
    done = [f"{'Changed' if known else 'Created'} the contact {contact.id}."]
    if missing := [tag for tag in actions.get("tags", []) if tag not in contact.tags]:
        await contact_service.update(unit, contact.id, {"tags": [*contact.tags, *missing]})
        done.append(f"Tagged it {', '.join(missing)}.")
    if (sequence_id := actions.get("sequence_id")) is not None:
        enrolled = await enrollments.enroll(unit, sequence_id, contact.id)
        was = "It was enrolled in" if enrolled.already else "Enrolled it in"
        done.append(f"{was} the drip sequence {enrolled.sequence_name}.")
    if (automation_id := actions.get("automation_id")) is not None:
        is_started = await runs.start_one(unit, automation_id, contact.id, key)
        started = f"Started the automation {automation_id}."
        done.append(started if is_started else "The automation did not start: the contact has had its runs of the day.")
    return Applied(" ".join(done), contact_id=contact.id)


async def test(unit: UnitOfWork, integration: Integration, body: str) -> Outcome:
    """Return the effect of an event with a body; the changes are made in a transaction that is rolled back."""
    outcome = Outcome()
    await unit.pause()
    try:
        outcome.picked = pick(cast("Actions", integration.actions), body)
        async with open_unit(unit.sessions, unit.actor, unit.clock, lambda _: None) as trial:
            outcome.result = (await perform(trial, integration, body, "test")).result
            raise _Undo
    except _Undo:
        pass
    except (DomainError, Unreadable) as refusal:
        outcome.error = str(refusal)
    return outcome


def pick(actions: Actions, body: str) -> dict[str, str]:
    """Return the values at the paths of a webhook; raise `Unreadable` for a body that is not JSON."""
    try:
        source = orjson.loads(body)
    except orjson.JSONDecodeError as fault:
        raise Unreadable(f"The body is not JSON: {fault}.") from None
    picked = {name: paths.pick(source, path) for name, path in actions.get("paths", {}).items()}
    custom = {f"custom.{key}": paths.pick(source, path) for key, path in actions.get("custom_fields", {}).items()}
    return picked | custom


def _fields(picked: dict[str, str], actions: Actions) -> ContactFields:
    """Return the fields of a contact that have a value; raise `Unreadable` without a phone."""
    if not picked.get("phone"):
        raise Unreadable(f"There is no phone at {actions.get('paths', {}).get('phone', '')}.")
    plain = {name: value for name, value in picked.items() if value and not name.startswith("custom.")}
    custom: dict[str, str | None] = {
        name.removeprefix("custom."): value for name, value in picked.items() if value and name.startswith("custom.")
    }
    return cast("ContactFields", {**plain, **({"custom_fields": custom} if custom else {})})
