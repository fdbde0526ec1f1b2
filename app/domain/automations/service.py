"""Create, change, pause and delete automations."""

from collections.abc import Sequence
from typing import Any, TypedDict

from sqlalchemy import update

from app.domain.accounts import queries as accounts
from app.domain.accounts import scopes
from app.domain.automations import actions, queries, triggers
from app.domain.automations.models import PAUSED, Automation, AutomationRun, AutomationStatus, RunStatus
from app.domain.automations.shapes import Action, GivenAction, GivenTrigger
from app.domain.kernel import versions
from app.domain.kernel.errors import Conflict, InvalidInput
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.segments import filters
from app.domain.segments import service as segments
from app.domain.segments.filters import GivenFilter

MAX_NAME, MAX_AUTOMATIONS = 100, 100


class AutomationFields(TypedDict, total=False):
    """The fields of an automation that may be changed; omitted fields keep their values."""

    name: str
    trigger: GivenTrigger
    filter: GivenFilter | None
    actions: Sequence[GivenAction]


async def create(unit: UnitOfWork, fields: AutomationFields) -> Automation:
    """Create a paused automation.

    Raises `InvalidInput`, `NotFound`, `Conflict` at the maximum of 100, and `InsufficientScope` for actions that the
    actor may not take by hand: an automation acts for the account, and goes on when its creator is removed.
    """
    for name in ("name", "trigger", "actions"):
        if name not in fields:
            raise InvalidInput(reason=f"{name} is required.", field=name)
    values = await _checked(unit, fields)
    _check_scopes(unit, values["actions"])
    await accounts.lock_own(unit)
    if await queries.count_automations(unit) >= MAX_AUTOMATIONS:
        raise Conflict(reason=f"An account has at most {MAX_AUTOMATIONS} automations. Delete one first.")
    automation = Automation(account_id=unit.actor.account_id, created_by=unit.actor.label, **values)
    await unit.save(automation)
    return automation


async def update_automation(
    unit: UnitOfWork, id: int, fields: AutomationFields, expected_version: int | None = None
) -> Automation:
    """Change an automation; its version grows with each change, and runs under way keep their actions.

    Raises as `create` does, `NotFound`, and `Conflict` for a version that is no longer expected.
    """
    values = await _checked(unit, fields)
    zone = await _hold_zone(unit)
    automation = await queries.get_automation(unit, id, lock=True)
    _check_scopes(unit, automation.actions, values.get("actions", []))
    versions.require("automation", automation.version, expected_version)
    former = automation.trigger
    if not versions.change(automation, values):
        return automation
    automation.updated_at = unit.clock.now()
    if automation.status == AutomationStatus.active and automation.trigger != former:
        automation.next_at = triggers.next_at(automation.trigger, unit.clock.now(), zone)
    await unit.save(automation)
    return automation


async def set_status(unit: UnitOfWork, id: int, *, enabled: bool) -> Automation:
    """Activate or pause an automation. Idempotent. A pause cancels the runs that no worker is executing.

    Raises `NotFound`, and `InsufficientScope` for the activation of actions that the actor may not take by hand.
    """
    zone = await _hold_zone(unit) if enabled else None
    automation = await queries.get_automation(unit, id, lock=True)
    if enabled:
        _check_scopes(unit, automation.actions)
    if enabled and automation.status == AutomationStatus.paused:
        automation.status = AutomationStatus.active
        automation.active_since = unit.clock.now()
        automation.next_at = triggers.next_at(automation.trigger, unit.clock.now(), zone)
    elif not enabled:
        automation.status, automation.next_at = AutomationStatus.paused, None
        await _cancel_runs(unit, id)
    await unit.save(automation)
    return automation


async def delete(unit: UnitOfWork, id: int) -> Automation:
    """Delete an automation with its runs, and return it; raise `NotFound`."""
    automation = await queries.get_automation(unit, id, lock=True)
    await unit.delete(automation)
    return automation


async def _cancel_runs(unit: UnitOfWork, id: int) -> None:
    """Cancel the runs that wait. One that a worker has claimed ends at its next wait, or is refused its next text."""
    now = unit.clock.now()
    is_free = AutomationRun.claimed_until.is_(None) | (AutomationRun.claimed_until <= now)
    waiting = AutomationRun.automation_id == id, AutomationRun.ended_at.is_(None), is_free
    ended = {"status": RunStatus.canceled, "reason": PAUSED, "due_at": None, "claimed_until": None, "ended_at": now}
    await unit.execute(update(AutomationRun).where(*waiting).values(ended))


def _check_scopes(unit: UnitOfWork, *given: Sequence[Action]) -> None:
    for each in given:
        scopes.require(unit.actor, actions.scopes_of(each))


async def _hold_zone(unit: UnitOfWork) -> str | None:
    """Return the time zone of the account, which does not change until the end of the transaction."""
    return (await accounts.get_own(unit, lock=True)).time_zone


async def _checked(unit: UnitOfWork, fields: AutomationFields) -> dict[str, Any]:
    values = dict[str, Any]()
    if "name" in fields:
        values["name"] = fields["name"].strip()
        if not 1 <= len(values["name"]) <= MAX_NAME:
            raise InvalidInput(reason=f"name must have 1 to {MAX_NAME} characters.", field="name")
    if "trigger" in fields:
        values["trigger"] = await triggers.check(unit, fields["trigger"])
        values["event"] = values["trigger"].get("event")
    if "filter" in fields:
        given = fields["filter"]
        values["filter"] = None if given is None else filters.store(await segments.check(unit, given))
    if "actions" in fields:
        values["actions"] = await actions.check(unit, fields["actions"])
    return values
