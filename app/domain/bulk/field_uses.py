"""Find the records that use a custom field, so that it is not deleted."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from sqlalchemy import Text, cast, exists, or_, select

from app.domain.automations.models import Automation, WatchedKeyword
from app.domain.campaigns.models import Campaign, CampaignStatus
from app.domain.contacts.models import CustomField
from app.domain.integrations import queries as integrations
from app.domain.jobs.models import UNFINISHED, AccountJob, JobKind
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.segments import queries as segments
from app.domain.sequences.models import Enrollment, EnrollmentStatus, SequenceStatus, Step
from app.domain.sequences.models import Sequence as Drip
from app.domain.templates import grammar
from app.domain.templates.models import Template

R = TypeVar("R", Template, Campaign, Automation)
ENDED = (CampaignStatus.completed, CampaignStatus.canceled, CampaignStatus.failed)


async def find(unit: UnitOfWork, field: CustomField) -> list[str]:
    """Return the records that use a field, each as a text such as `the segment VIP (id 7)`."""
    name, own = f"custom.{field.key}", unit.actor.account_id
    uses = [
        f"the segment {each.name} (id {each.id})" for each in await segments.find_with_custom_field(unit, field.key)
    ]
    saved = await unit.all(select(Template).where(Template.account_id == own, Template.body.contains(name)))
    uses += _texts(name, "the template", saved, lambda each: each.body)
    uses += await _find_steps(unit, name)
    unsent = Campaign.account_id == own, Campaign.status.not_in(ENDED), Campaign.deleted_at.is_(None)
    campaigns = await unit.all(select(Campaign).where(*unsent).order_by(Campaign.id))
    uses += _texts(name, "the campaign", campaigns, lambda each: f"{each.body} {each.audience}")
    rules = await unit.all(select(Automation).where(Automation.account_id == own).order_by(Automation.id))
    uses += _texts(name, "the automation", rules, lambda each: f"{each.filter} {each.actions}")
    born = [each for each in rules if each.trigger.get("field") == field.key]
    uses += [f"the automation {each.name} (id {each.id})" for each in born]
    replies = await unit.all(select(WatchedKeyword).where(WatchedKeyword.account_id == own))
    uses += [f"the keyword {each.keyword} (id {each.id})" for each in replies if _names(name, each.reply)]
    return list(dict.fromkeys([*uses, *await _find_hooks(unit, field.key), *await _find_jobs(unit, name, field.key)]))


async def _find_steps(unit: UnitOfWork, name: str) -> list[str]:
    live = Drip.account_id == unit.actor.account_id, Drip.status != SequenceStatus.archived
    of_version = Enrollment.sequence_id == Drip.id, Enrollment.steps_version == Step.version
    under_way = exists().where(*of_version, Enrollment.status == EnrollmentStatus.active)
    steps = select(Drip.name, Drip.id, Step.position, Step.body).join(Step, Step.sequence_id == Drip.id).where(*live)
    used = steps.where(or_(Step.version == Drip.steps_version, under_way))
    rows = await unit.rows(used.order_by(Drip.id, Step.version, Step.position))
    return [f"step {row.position} of the sequence {row.name} (id {row.id})" for row in rows if _names(name, row.body)]


async def _find_hooks(unit: UnitOfWork, key: str) -> list[str]:
    used = [each for each in await integrations.list_own(unit) if key in each.actions.get("custom_fields", {})]
    return [f"the integration {each.name} (id {each.id})" for each in used]


async def _find_jobs(unit: UnitOfWork, name: str, key: str) -> list[str]:
    """Return the jobs under way that read the field: imports into it, and jobs that choose their contacts by it.

    A job that goes on without the values would take the contacts that have none, whichever they had before.
    """
    named = cast(AccountJob.arguments, Text).contains(f'"{name}"', autoescape=True)
    chosen = AccountJob.arguments["filter"]["custom"].has_key(key)
    own = AccountJob.account_id == unit.actor.account_id, AccountJob.status.in_(UNFINISHED)
    rows = await unit.rows(select(AccountJob.id, AccountJob.kind).where(*own, or_(named, chosen)))
    words = {JobKind.import_contacts: "the import with the job"}
    return [f"{words.get(JobKind(row.kind), 'the job')} {row.id}" for row in rows]


def _texts(name: str, kind: str, rows: Iterable[R], text_of: Callable[[R], str]) -> Sequence[str]:
    return [f"{kind} {each.name} (id {each.id})" for each in rows if _names(name, text_of(each))]


def _names(name: str, text: str) -> bool:
    """Return whether a text has a placeholder, or a stored filter a condition, of the name."""
    return f"'{name}'" in text or any(each.name == name for each in grammar.parse(text).placeholders)
