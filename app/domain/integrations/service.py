"""Add, change, pause, resume and remove integrations, and rotate their secrets."""

import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, TypedDict, cast

from app.domain.accounts import audit, credentials, scopes
from app.domain.accounts import queries as accounts
from app.domain.accounts.audit import AuditAction
from app.domain.accounts.scopes import Scope
from app.domain.integrations import endings, hook_actions, leftovers, queries, texts
from app.domain.integrations.errors import IntegrationSecretReused
from app.domain.integrations.hook_actions import Actions
from app.domain.integrations.models import WEBHOOK, EventStatus, Integration, IntegrationEvent, IntegrationStatus
from app.domain.integrations.receiver import Receiver
from app.domain.integrations.scheduling import SchedulingTool
from app.domain.kernel import overlap
from app.domain.kernel.errors import Conflict, InvalidInput, NotFound
from app.domain.kernel.sealing import Seal
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.numbers import queries as numbers

MAX_OWN, MAX_NAME, MAX_QUESTION = 50, 100, 500
MIN_SECRET, MAX_SECRET = 6, 200
TOPICS = ("integrations", "booking_texts", "crm", "crm_sends")
SENDING = (Scope.contacts_write, Scope.messages_send)
"""The scopes of the contacts that an integration adds, and of its texts, in the place of an actor."""


@dataclass(frozen=True, slots=True)
class Ports:
    """The scheduling tools and the receivers by the names of their kinds, and the seal that encrypts secrets."""

    tools: Mapping[str, SchedulingTool]
    seal: Seal
    receivers: Mapping[str, Receiver] = field(default_factory=dict)


class IntegrationFields(TypedDict, total=False):
    """The fields of an integration to change; omitted fields keep their values.

    Of the texts only those named change: an empty one is not sent, and null restores the text of the service.
    """

    name: str
    phone_number_id: int | None
    consent_question: str
    texts: Mapping[str, str | None]


async def add(unit: UnitOfWork, ports: Ports, kind: str, secret: str, fields: IntegrationFields) -> Integration:
    """Connect a scheduling tool, whose webhooks the secret signs.

    Raises `InvalidInput`, `Conflict`, and `InsufficientScope` for an actor that may not send texts.
    """
    if kind not in ports.tools:
        raise InvalidInput(reason=f"kind must be one of: {', '.join(sorted(ports.tools))}.", field="kind")
    scopes.require(unit.actor, SENDING)
    checked_secret = _check_secret(secret)
    name = fields.get("name") or ports.tools[kind].title
    values = await _checked(unit, {**fields, "name": name}, {})
    return await insert(unit, ports, kind, checked_secret, values)


async def insert(
    unit: UnitOfWork, ports: Ports, kind: str, secret: str, values: Mapping[str, Any], address: str = ""
) -> Integration:
    """Store an integration of checked values under a new address, unless one is given.

    Raises `Conflict` at the maximum of 50.
    """
    await accounts.lock_own(unit)
    if await queries.count_own(unit) >= MAX_OWN:
        raise Conflict(reason=f"An account has at most {MAX_OWN} integrations. Remove one first.")
    integration = Integration(
        account_id=unit.actor.account_id,
        kind=kind,
        address=address or secrets.token_urlsafe(24),
        creator_id=await credentials.record_creator(unit),
        secret=ports.seal.close(secret),
        **values,
    )
    await unit.save(integration)
    await record(unit, AuditAction.integration_added, integration)
    return integration


async def add_webhook(
    unit: UnitOfWork, ports: Ports, name: str, actions: Actions, secret: str = ""
) -> tuple[Integration, str]:
    """Add an inbound webhook; return it with its secret, which is made unless it is given."""
    secret = _check_secret(secret or secrets.token_urlsafe(32))
    values = {"name": check_name(name), "actions": await hook_actions.check(unit, actions)}
    return await insert(unit, ports, WEBHOOK, secret, values), secret


async def update_webhook(unit: UnitOfWork, id: int, name: str | None, actions: Actions | None) -> Integration:
    """Change the name of an inbound webhook, or all of its actions. Raises `NotFound` and `InvalidInput`.

    An actor that changes the actions becomes the webhook's creator; one whose creator had ended is then paused.
    """
    integration = await get_webhook(unit, id, lock=True)
    if name is not None:
        integration.name = check_name(name)
    if actions is not None:
        integration.actions = await hook_actions.check(unit, actions)
        await endings.bind(unit, integration)
    await unit.save(integration)
    return integration


async def get_webhook(unit: UnitOfWork, id: int, *, lock: bool = False) -> Integration:
    """Return an inbound webhook of the account; raise `NotFound`, also for an integration of another kind."""
    integration = await queries.get(unit, id, lock=lock)
    if integration.kind != WEBHOOK:
        raise NotFound(kind="inbound webhook", id=id)
    return integration


async def update(unit: UnitOfWork, id: int, fields: IntegrationFields) -> Integration:
    """Change an integration; texts that wait leave with the new wording. Raises as `add` does, and `NotFound`."""
    scopes.require(unit.actor, SENDING)
    integration = await queries.get(unit, id, lock=True)
    for name, value in (await _checked(unit, fields, integration.texts)).items():
        setattr(integration, name, value)
    await unit.save(integration)
    return integration


async def pause(unit: UnitOfWork, id: int) -> Integration:
    """Have the events and the texts of an integration wait. Idempotent."""
    return await _set_status(unit, id, IntegrationStatus.paused)


async def resume(unit: UnitOfWork, ports: Ports, id: int) -> Integration:
    """Apply the events that waited, and send the texts that are still of use. Idempotent.

    An actor that resumes an integration whose creator has ended takes it over.
    """
    integration = await queries.get(unit, id, lock=True)
    if await endings.has_ended(unit, integration):
        await _take_over(unit, ports, integration)
    for topic in TOPICS:
        unit.notify(topic)
    return await _set_status(unit, id, IntegrationStatus.active)


async def take_over(unit: UnitOfWork, ports: Ports, id: int) -> Integration:
    """Make the actor's credential the creator of an integration, so that it ends with that credential.

    One whose creator has ended is paused until it is resumed. Raises `NotFound`, and `InsufficientScope` when the actor
    lacks the scopes of its work.
    """
    integration = await queries.get(unit, id, lock=True)
    await _take_over(unit, ports, integration)
    await record(unit, AuditAction.integration_taken_over, integration)
    return integration


async def rotate(unit: UnitOfWork, ports: Ports, id: int, secret: str, overlap_hours: int) -> Integration:
    """Replace the secret; the former one is accepted for some hours more. Raises `NotFound` and `InvalidInput`.

    A sender with the secret can do the work of the integration: the actor needs the scopes for it, and becomes the
    creator of the integration, which is then paused if its creator had ended.
    """
    until = overlap.end(unit.clock.now(), overlap_hours)
    integration = await queries.get(unit, id, lock=True)
    if integration.kind in ports.receivers:
        raise Conflict(reason="A CRM signs with its own key: there is no secret to rotate.")
    scopes.require(unit.actor, await _find_scopes(unit, ports, integration))
    new = _check_secret(secret)
    if ports.seal.open(integration.secret) == new:
        raise IntegrationSecretReused()
    integration.previous_secret, integration.secret = integration.secret, ports.seal.close(new)
    integration.previous_until = until
    await endings.bind(unit, integration)
    await unit.save(integration)
    await record(unit, AuditAction.integration_rotated, integration)
    return integration


async def replay(unit: UnitOfWork, event_id: int) -> IntegrationEvent:
    """Apply a failed event once more; raise `NotFound`, and `Conflict` for one that has not failed or has no body."""
    event = await queries.lock_event(unit, event_id)
    if event.status != EventStatus.failed or not event.body:
        reason = f"The event is {event.status}. Only failed events whose body is still kept can be replayed."
        raise Conflict(reason=reason)
    event.status, event.attempts, event.due_at, event.applied_at = EventStatus.waiting, 0, unit.clock.now(), None
    await unit.save(event)
    unit.notify("integrations")
    return event


async def remove(unit: UnitOfWork, ports: Ports, id: int) -> Integration:
    """Remove an integration, and return it; raise `NotFound`. Texts that were sent stay.

    Its address, which may be that of an account of a CRM, is free at once. Its events, bookings and waiting texts are
    deleted after the commit: there may be a million.
    """
    integration = await queries.get(unit, id, lock=True)
    if receiver := ports.receivers.get(integration.kind):
        await receiver.disconnect(unit, integration)
    integration.status, integration.address = IntegrationStatus.removed, f"removed:{integration.id}"
    integration.secret, integration.previous_secret, integration.previous_until = b"", None, None
    await unit.save(integration)
    unit.notify(leftovers.TOPIC)
    await record(unit, AuditAction.integration_removed, integration)
    return integration


async def record(unit: UnitOfWork, action: AuditAction, integration: Integration) -> None:
    """Add an audit entry about an integration."""
    await audit.record(unit, action, integration.name, id=integration.id, kind=integration.kind)


async def _take_over(unit: UnitOfWork, ports: Ports, integration: Integration) -> None:
    scopes.require(unit.actor, await _find_scopes(unit, ports, integration))
    await endings.bind(unit, integration)
    await unit.save(integration)


async def _find_scopes(unit: UnitOfWork, ports: Ports, integration: Integration) -> Collection[str]:
    """Return the scopes of the work of an integration."""
    if integration.kind == WEBHOOK:
        return await hook_actions.find_scopes(unit, cast("Actions", integration.actions))
    receiver = ports.receivers.get(integration.kind)
    return receiver.scopes if receiver else SENDING


async def _set_status(unit: UnitOfWork, id: int, status: IntegrationStatus) -> Integration:
    integration = await queries.get(unit, id, lock=True)
    if integration.status != status:
        integration.status = status
        await unit.save(integration)
        is_paused = status is IntegrationStatus.paused
        action = AuditAction.integration_paused if is_paused else AuditAction.integration_resumed
        await record(unit, action, integration)
    return integration


def _check_secret(secret: str) -> str:
    secret = secret.strip()
    if not MIN_SECRET <= len(secret) <= MAX_SECRET or not secret.isprintable():
        reason = f"secret must be {MIN_SECRET} to {MAX_SECRET} printable characters, as the tool signs with it."
        raise InvalidInput(reason=reason, field="secret")
    return secret


def check_name(name: str) -> str:
    """Return a trimmed name; raise `InvalidInput`."""
    name = name.strip()
    if not 1 <= len(name) <= MAX_NAME or not name.isprintable():
        raise InvalidInput(reason=f"name must be 1 to {MAX_NAME} printable characters.", field="name")
    return name


async def _checked(unit: UnitOfWork, fields: IntegrationFields, present: Mapping[str, Any]) -> dict[str, Any]:
    values = dict[str, Any]()
    if "name" in fields:
        values["name"] = check_name(fields["name"])
    if "phone_number_id" in fields:
        values["phone_number_id"] = await _check_number(unit, fields["phone_number_id"])
    if "consent_question" in fields:
        values["consent_question"] = _check_question(fields["consent_question"])
    if "texts" in fields:
        restored = {kind for kind, body in fields["texts"].items() if body is None}
        written = {kind: body for kind, body in fields["texts"].items() if body is not None}
        kept = {kind: body for kind, body in present.items() if kind not in restored}
        values["texts"] = kept | await texts.check(unit, written)
    return values


def _check_question(question: str) -> str:
    question = question.strip()
    if len(question) > MAX_QUESTION:
        reason = f"consent_question must have at most {MAX_QUESTION} characters."
        raise InvalidInput(reason=reason, field="consent_question")
    return question


async def _check_number(unit: UnitOfWork, id: int | None) -> int | None:
    if id is not None and await numbers.find(unit, id) is None:
        raise InvalidInput(reason="phone_number_id must be that of an active number.", field="phone_number_id")
    return id
