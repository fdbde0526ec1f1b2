"""Records of the account whose fields the matrix reads, with the mark in their texts."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import orjson

from app.domain.accounts import queries as accounts
from app.domain.agents import knowledge
from app.domain.agents import service as agents
from app.domain.agents.models import AgentRun, KnowledgeKind, Outcome, RunStatus
from app.domain.automations import service as rules
from app.domain.automations import watching
from app.domain.automations.models import AutomationRun, WatchedKeyword
from app.domain.campaigns import service as campaigns
from app.domain.campaigns.audience import Audience
from app.domain.carriers import service as carriers
from app.domain.carriers.carrier import InboundMessage
from app.domain.carriers.service import NewConnection, Ports
from app.domain.contacts import custom_fields
from app.domain.contacts import service as contacts
from app.domain.contacts.custom_fields import NewField
from app.domain.contacts.models import ContactFields
from app.domain.conversations import queries as conversations
from app.domain.crm import service as crm
from app.domain.crm.models import CrmConnection, CrmPush
from app.domain.erasure import merging
from app.domain.erasure.merging import Merge
from app.domain.grants.models import Client, Grant
from app.domain.integrations import bookings
from app.domain.integrations import service as integrations
from app.domain.integrations.scheduling import Booked, Delivery, Details
from app.domain.jobs import service as jobs
from app.domain.jobs import uploads
from app.domain.jobs.models import JobKind, JobStatus
from app.domain.kernel.unit_of_work import Actor, UnitOfWork
from app.domain.notices.models import Notice, NoticeKind
from app.domain.onboarding.service import Opened
from app.domain.payments.models import Payment, PaymentCustomer, PaymentStatus, PlanStatus, PlanSubscription
from app.domain.segments import service as segments
from app.domain.templates import service as templates
from app.domain.templates.models import Template
from app.providers.registry import KINDS
from app.services import Services
from tests.conftest import unit_of
from tests.factories.integrations import INTEGRATION_EVENTS
from tests.graphql.matrix import MARK, PHONE


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
    """Declare a custom field, and add a notice and a job with a problem; return the ids."""
    job = await jobs.create(unit, JobKind.tag_contacts, {})
    job.problems = [MARK]
    owner = await accounts.get_viewer(unit)
    notice = Notice(account_id=unit.actor.account_id, user_id=owner.id, kind=NoticeKind.campaign, title=MARK)
    await unit.save(job, notice)
    who: ContactFields = {"email": "twin@example.com", "first_name": MARK, "dnd_sms": True}
    twin, other = [await contacts.create(unit, {"phone": f"+1202555014{last}", **who}) for last in (8, 9)]
    confirmation = int((await merging.preview(unit, Merge(twin.id, other.id))).preview_id)
    field = await custom_fields.create(unit, NewField("mark", MARK))
    twins = {"twin": twin.id, "other_twin": other.id, "confirmation": confirmation}
    return {"job": job.id, "custom_field": field.id, **twins}


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
    return await templates.create(unit, MARK, MARK), await watching.watch(unit, MARK)


def with_own_carriers(services: Services) -> Services:
    """Return services with a kind that accounts may have connections of."""
    own = replace(KINDS["sandbox"], is_for_accounts=True)
    return replace(services, carriers=Ports({"sandbox": own}, services.connections))


async def add_connections(services: Services, actor: Actor, number: str) -> dict[str, int]:
    """Add two connections of the account's own that list its number, one of them paused; return their ids."""
    listed = {"numbers": ["+14155550100", number]}
    own, ports = NewConnection("sandbox", MARK, listed, {}), with_own_carriers(services).carriers
    async with unit_of(services, actor) as unit:
        added = [await carriers.add(unit, ports, actor.account_id, own) for _ in range(2)]
        active, paused = [each.connection for each in added]
        await carriers.pause(unit, ports, paused)
    return {"connection": active.id, "paused_connection": paused.id}


async def add_segment(unit: UnitOfWork) -> dict[str, int]:
    """Save a segment; return its id."""
    segment = await segments.create(unit, MARK, {"field": "tags", "op": "has_any", "value": [MARK]})
    return {"segment": segment.id}


async def add_integrations(services: Services, actor: Actor) -> dict[str, int]:
    """Add two integrations, one of them paused, and an event and a booking of the first; return their ids."""
    ports = services.intake.ports
    async with unit_of(services, actor) as unit:
        made = [
            await integrations.add(unit, ports, "calcom", MARK, {"name": MARK, "consent_question": MARK})
            for _ in range(2)
        ]
        await integrations.pause(unit, made[1].id)
        hook, _ = await integrations.add_webhook(unit, ports, MARK, {"paths": {"phone": MARK}})
        details = Details(unit.clock.now() + timedelta(days=2), name=MARK, title=MARK, phone=PHONE, consent=MARK)
        booked = await bookings.apply(unit, made[0], [Booked(MARK, unit.clock.now(), details)])
    delivery = Delivery({}, orjson.dumps({"triggerEvent": MARK, "payload": {}}))
    address = await services.intake.find("calcom", made[0].address)
    event_id = await services.intake.receive(address, delivery)
    await INTEGRATION_EVENTS.where(id=event_id).change(services, status="failed", result=MARK)
    assert booked.booking_id
    assert event_id
    return {
        "integration": made[0].id,
        "paused_integration": made[1].id,
        "inbound_webhook": hook.id,
        "failed_event": event_id,
        "booking": booked.booking_id,
    }


async def add_crm(services: Services, actor: Actor, integration_id: int) -> dict[str, Any]:
    """Make an integration one with a CRM, with a failed push, and begin to connect another; return what names them."""
    now = services.clock.now()
    own: dict[str, Any] = {"account_id": actor.account_id, "integration_id": integration_id}
    async with unit_of(services, actor) as unit:
        connection = CrmConnection(
            **own, kind="crm", location=MARK, tokens=b"", expires_at=now, sync="done", fetch_at=now + timedelta(days=1)
        )
        times = {"due_at": now, "created_at": now}
        push = CrmPush(**own, kind="check", external_id=MARK, status="failed", reason=MARK, **times)
        await unit.save(connection, push)
        state = crm.State(actor.account_id, "crm", "verifier", now.timestamp() + 3600)
    return {"crm_state": crm.seal_state(services.crm.seal, state), "failed_push": push.id}


async def make_agent(services: Services, account: Opened, actor: Actor, phone: str) -> dict[str, int]:
    """Create an AI agent with knowledge, and a draft about a text of a contact; return their ids."""
    inbound = InboundMessage("in-matrix", phone, account.phone_number, MARK)
    await services.inbox.receive("sandbox", inbound)
    async with unit_of(services, actor) as unit:
        agent = await agents.create(unit, {"name": MARK, "instructions": MARK})
        entry = await knowledge.add(unit, agent.id, KnowledgeKind.faq, MARK, MARK)
        conversation = await conversations.find_by_contact(unit, (await contacts.get(unit, None, phone)).id)
        assert conversation
        run = AgentRun(
            account_id=actor.account_id,
            agent_id=agent.id,
            contact_id=conversation.contact_id,
            conversation_id=conversation.id,
            message_id=0,
            status=RunStatus.done,
            outcome=Outcome.drafted,
            draft=MARK,
            due_at=unit.clock.now(),
        )
        await unit.save(run)
    return {"ai_agent": agent.id, "ai_knowledge": entry.id, "ai_run": run.id}


async def add_automation(unit: UnitOfWork) -> dict[str, int]:
    """Create an automation with a run; return its id."""
    trigger, action = {"kind": "missed_reply", "hours": 4}, {"kind": "add_tag", "tag": MARK}
    automation = await rules.create(unit, {"name": MARK, "trigger": trigger, "actions": [action]})
    contact = await contacts.get_by_phone(unit, PHONE)
    facts = {"key": MARK, "reason": MARK, "payload": {}, "actions": [action], "conditions": [], "results": []}
    ids = {"automation_id": automation.id, "contact_id": contact.id}
    await unit.save(AutomationRun(account_id=unit.actor.account_id, status="done", **ids, **facts))
    return {"automation": automation.id}


async def add_payments(unit: UnitOfWork) -> dict[str, int]:
    """Request a payment, and add a plan that has ended; return the id of the plan."""
    bought = {"account_id": unit.actor.account_id, "provider": "till", "credits": 5, "amount": 5, "currency": "USD"}
    payment = Payment(key=MARK, status=PaymentStatus.requested, description=MARK, **bought)
    plan = PlanSubscription(
        provider_id=str(unit.actor.account_id), plan=MARK, status=PlanStatus.ended, seen_at=unit.clock.now(), **bought
    )
    customer = PaymentCustomer(account_id=unit.actor.account_id, provider="till", provider_id=MARK)
    await unit.save(payment, plan, customer)
    return {"plan": plan.id}


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
