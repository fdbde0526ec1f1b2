"""Records of the account whose fields the matrix reads, with the mark in their texts."""

from dataclasses import replace
from datetime import timedelta

from app.domain.accounts import queries as accounts
from app.domain.automations import service as automations
from app.domain.automations.models import WatchedKeyword
from app.domain.campaigns import service as campaigns
from app.domain.campaigns.audience import Audience
from app.domain.carriers import service as carriers
from app.domain.carriers.service import NewConnection, Ports
from app.domain.contacts import custom_fields
from app.domain.contacts.custom_fields import NewField
from app.domain.grants.models import Client, Grant
from app.domain.jobs import service as jobs
from app.domain.jobs import uploads
from app.domain.jobs.models import JobKind, JobStatus
from app.domain.kernel.unit_of_work import Actor, UnitOfWork
from app.domain.templates import service as templates
from app.domain.templates.models import Template
from app.providers.registry import KINDS
from app.services import Services
from tests.conftest import unit_of
from tests.graphql.matrix import MARK


async def connect(unit: UnitOfWork, client: Client) -> Grant:
    """Have a user of the account allow a client what nobody is asked for here."""
    user = (await accounts.list_users(unit))[0]
    now = unit.clock.now()
    grant = Grant(
        account_id=user.account_id,
        user_id=user.id,
        client_id=client.id,
        scopes=["account:read"],
        resource="https://example.com",
        last_used_at=now,
        expires_at=now + timedelta(days=1),
    )
    await unit.save(grant)
    return grant


async def make_details(unit: UnitOfWork) -> dict[str, int]:
    """Declare a custom field, and create a job with a problem; return their ids."""
    job = await jobs.create(unit, JobKind.tag_contacts, {})
    job.problems = [MARK]
    await unit.save(job)
    return {"job": job.id, "custom_field": (await custom_fields.create(unit, NewField("mark", MARK))).id}


async def make_files(unit: UnitOfWork) -> dict[str, int]:
    """Upload a file, and create an import that has ended; return their ids."""
    upload = await uploads.create(unit, MARK)
    await uploads.add_part(unit, upload.id, 0, f"phone,{MARK}".encode())
    ended = await jobs.create(unit, JobKind.import_contacts, {})
    await jobs.finish(unit, ended, JobStatus.done)
    return {"upload": upload.id, "ended_job": ended.id}


async def add_texts(unit: UnitOfWork) -> tuple[Template, WatchedKeyword]:
    """Save a template, a fallback and a keyword, with the mark in them."""
    await templates.set_fallback(unit, "last_name", MARK)
    return await templates.create(unit, MARK, MARK), await automations.watch(unit, MARK)


def with_own_carriers(services: Services) -> Services:
    """Return services with a kind that accounts may have connections of."""
    own = replace(KINDS["sandbox"], is_for_accounts=True)
    return replace(services, carriers=Ports({"sandbox": own}, services.connections))


async def add_connections(services: Services, actor: Actor) -> dict[str, int]:
    """Add two connections of the account's own, one of them paused; return their ids."""
    own, ports = NewConnection("sandbox", MARK, {"numbers": ["+14155550100"]}, {}), with_own_carriers(services).carriers
    async with unit_of(services, actor) as unit:
        added = [await carriers.add(unit, ports, actor.account_id, own) for _ in range(2)]
        active, paused = [each.connection for each in added]
        await carriers.pause(unit, ports, paused)
    return {"connection": active.id, "paused_connection": paused.id}


async def make_campaigns(services: Services, actor: Actor) -> dict[str, int]:
    """Create a campaign of each status that others can change; return their ids."""
    ids = dict[str, int]()
    async with unit_of(services, actor) as unit:
        for name, status in (("", None), ("scheduled_", "scheduled"), ("sending_", "sending"), ("paused_", "paused")):
            campaign = await campaigns.create(unit, {"name": MARK, "body": MARK, "audience": Audience(everyone=True)})
            campaign.status = status or campaign.status
            await unit.save(campaign)
            ids[f"{name}campaign"] = campaign.id
    return ids
