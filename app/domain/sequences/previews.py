"""Preview a drip sequence for a contact: which texts it would get, and when."""

from collections.abc import Sequence as List
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from app.domain.accounts.models import Account
from app.domain.billing import prices
from app.domain.consent import queries as consents
from app.domain.contacts import placeholders
from app.domain.contacts import queries as contacts
from app.domain.contacts.models import Contact
from app.domain.kernel import smart_encoding, sms_parts
from app.domain.kernel.sms_parts import Encoding
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.sequences import definition, queries
from app.domain.sequences.definition import NewStep, SendWindow
from app.domain.sequences.enrollments import Plan, find_refusal, planned, require_open
from app.domain.sequences.models import EnrollmentStatus, Sequence, Step
from app.domain.templates import queries as templates
from app.domain.templates.rendering import Fallbacks, compiled


class PlannedText(NamedTuple):
    """The text of a step as a contact would get it, at a time that no cap is part of.

    `missing` are its placeholders without a value.
    """

    key: int
    position: int
    send_at: datetime
    body: str
    encoding: Encoding
    segments: int
    credits: int
    missing: List[str]


async def preview(unit: UnitOfWork, sequence_id: int, contact_id: int) -> list[PlannedText]:
    """Return the texts that a contact would get if it were enrolled now; of one under way, those that are left.

    Raises the errors of `enrollments.enroll` for a contact that cannot be enrolled. Nothing is written.
    """
    sequence, contact = await queries.get(unit, sequence_id), await contacts.get(unit, contact_id)
    plan = await Plan.of(unit, sequence)
    steps, at = await _find_steps(unit, sequence, contact, plan)
    return await _plan_texts(unit, plan, contact, steps, at)


async def preview_draft(
    unit: UnitOfWork, steps: List[NewStep], window: SendWindow | None, contact_id: int
) -> list[PlannedText]:
    """Return the texts that a contact would get of steps that are not saved, if it were enrolled now.

    Raises `NotFound`, `InvalidInput` and `MessageTooLong`, but no refusal of an enrollment. Nothing is written.
    """
    rows = await definition.read_steps(unit, [replace(step, key=None) for step in steps])
    contact = await contacts.get(unit, contact_id)
    plan = await Plan.of(unit, Sequence(**definition.read({"window": window})))
    drafted = [Step(**row) for row in rows]
    return await _plan_texts(unit, plan, contact, drafted, plan.find_due_at(drafted[0], contact, unit.clock.now()))


async def _plan_texts(
    unit: UnitOfWork, plan: Plan, contact: Contact, steps: List[Step], at: datetime
) -> list[PlannedText]:
    """Return the texts of steps, the first of which has a time."""
    fallbacks = tuple(sorted((await templates.find_fallbacks(unit)).items()))
    texts = list[PlannedText]()
    for step in steps:
        at = plan.find_due_at(step, contact, at) if texts else at
        texts.append(_render(step, at, contact, plan.account, fallbacks))
    return texts


async def _find_steps(
    unit: UnitOfWork, sequence: Sequence, contact: Contact, plan: Plan
) -> tuple[List[Step], datetime]:
    """Return the steps that a contact has before it, and the time of the first of them."""
    now = unit.clock.now()
    last = (await queries.find_latest_enrollments(unit, sequence.id, [contact.id])).get(contact.id)
    if last is not None and last.status == EnrollmentStatus.active:
        version = sequence.id, last.steps_version
        steps = (await queries.find_steps_of_versions(unit, [version]))[version]
        return [step for step in steps if step.position >= last.position], planned(last, now)
    require_open(sequence)
    is_suppressed = contact.phone in await consents.find_suppressed(unit, [contact.phone])
    if refused := find_refusal(unit, sequence, contact, last, is_suppressed=is_suppressed):
        raise refused
    steps = await queries.find_steps(unit, [sequence.id])
    return steps, plan.find_due_at(steps[0], contact, now)


def _render(step: Step, at: datetime, contact: Contact, account: Account, fallbacks: Fallbacks) -> PlannedText:
    values = {**placeholders.of_contact(contact), "company_name": account.company_name}
    rendering = compiled(step.body, fallbacks).render(values)
    text = rendering.text
    body = smart_encoding.encode(text, fold_accents=account.fold_accents) if account.smart_encoding else text
    parts = sms_parts.count(body)
    credits = parts.segments * prices.credits_per_segment(contact.phone, account.region)
    known = step.key, step.position, at, body, parts.encoding, parts.segments, credits
    return PlannedText(*known, list(rendering.missing))
