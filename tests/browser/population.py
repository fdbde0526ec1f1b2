"""An account with a record of every kind: long names and none, many rows, texts that failed."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import Any

import orjson

from app.domain.automations import service as automations
from app.domain.automations import watching
from app.domain.automations.models import AutomationRun
from app.domain.bulk import imports
from app.domain.bulk.import_rules import Import
from app.domain.carriers.carrier import InboundMessage
from app.domain.contacts import service as contacts
from app.domain.conversations import notes
from app.domain.integrations import service as integrations
from app.domain.integrations.scheduling import Delivery
from app.domain.jobs import uploads
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages.requests import Send
from app.domain.segments import service as segments
from app.domain.sequences import enrollments
from app.domain.sequences import service as sequences
from app.domain.sequences.definition import NewStep
from app.domain.templates import service as templates
from tests.browser.sending import Sending
from tests.factories.accounts import add_user, id_of_user
from tests.factories.agents import AGENT_RUNS, add_agent
from tests.factories.campaigns import CAMPAIGNS, add_people
from tests.factories.contacts import CONTACTS
from tests.factories.conversations import CONVERSATIONS
from tests.factories.messages import MESSAGES
from tests.factories.notices import NOTICES
from tests.factories.numbers import PHONE_NUMBERS
from tests.factories.webhooks import add_attempt, add_delivery, add_subscription
from tests.graphql.live import PHONE, Scene

LONG = "Wolfeschlegelsteinhausenbergerdorff-Featherstonehaugh"
SAID = (
    "Hello! Is the long table by the window free on Saturday the 14th, at half past seven, for eleven people, two of "
    "them in wheelchairs? https://example.com/a/very/long/address/that/does/not/end/where/one/would/expect/it/to"
)
FAILING = ("+15005550101", "+15005550102", "+15005550104")
"""Phones of the sandbox whose texts fail."""


async def populate(scene: Scene, work: Callable[[], Awaitable[None]]) -> Mapping[str, int]:
    """Add the records; return the id of one of each kind, by the path of its page without the id."""
    await add_people(scene.services, 60)
    ids = await _talk(scene, work)
    ids |= await _campaign(scene, work)
    ids |= await _write(scene)
    ids |= await _listen(scene)
    ids |= await _agent(scene, ids["/inbox/$view"])
    ids |= await _connect(scene)
    ids |= await _upload(scene)
    await scene.dispatch()
    return ids


async def _talk(scene: Scene, work: Callable[[], Awaitable[None]]) -> dict[str, int]:
    """Add conversations: a long one with a failed text, and short ones."""
    services, account = scene.services, scene.account
    for number, phone in enumerate((PHONE, *(f"+1202555{last:04}" for last in range(200, 212)))):
        body = SAID if phone == PHONE else f"Do you open on Sundays? ({number})"
        inbound = InboundMessage(f"in-{account.account_id}-{phone}", phone, account.phone_number, body)
        await services.inbox.receive("sandbox", inbound)
    actor = Actor(account.account_id, frozenset(), "test")
    for phone in (PHONE, *FAILING):
        await services.acceptor.accept(actor, Send(phone, "Yes, it is free. Shall we keep it?", consent_attested=True))
    await work()
    await MESSAGES.where(to_number=PHONE).change(services, status="failed", error_code="landline")
    async with scene.unit() as unit:
        contact = await contacts.get_by_phone(unit, PHONE)
        changes: Any = {"first_name": "Hubert Blaine", "last_name": LONG, "email": f"{LONG}@example.com"}
        await contacts.update(unit, contact.id, changes)
        for tag in ("vip", "wheelchair", "a tag that says more than a tag should say"):
            await contacts.add_tag(unit, contact.id, tag)
    id = await CONVERSATIONS.where(contact_id=contact.id).only(services, "id")
    async with scene.unit() as unit:
        await notes.add(unit, id, f"Met them at the fair. {SAID}")
    return {"/contacts": contact.id, "/inbox/$view": id}


async def _campaign(scene: Scene, work: Callable[[], Awaitable[None]]) -> dict[str, int]:
    """Add a campaign that was sent, of whose texts some failed, and a draft; return the draft's id, and the other's."""
    sending = Sending(scene, work)
    sent = await sending.draft(f"The spring menu, for everyone who knows {LONG}", "Hi {first_name}, fresh bread today.")
    await sending.send(sent)
    await sending.finish()
    draft = await sending.draft("Summer “menu” – 2 for 1", "Hi {first_name|there} – “2 for 1”. Reply STOP to opt out.")
    return {"/campaigns": draft, "sent": sent}


async def _write(scene: Scene) -> dict[str, int]:
    """Add a template, a segment, and a sequence with people in it."""
    async with scene.unit() as unit:
        template = await templates.create(unit, f"Greeting {LONG}", f"Hi {{first_name}}, welcome! {SAID}")
        await templates.create(unit, "Short", "See you soon, {first_name}.")
        segment = await segments.create(unit, "VIPs", {"field": "tags", "op": "has_any", "value": ["vip"]})
        steps = [NewStep(0, f"Welcome. {SAID}"), NewStep(0, "Two days on.", 2, "10:00"), NewStep(90, "Still there?")]
        sequence = await sequences.create(unit, f"Welcome to {LONG}", steps)
        for id in (await CONTACTS.where(status="active").read(scene.services, "id"))[:5]:
            await enrollments.enroll(unit, sequence.id, id)
    return {"/templates": template.id, "/segments": segment.id, "/sequences": sequence.id}


async def _listen(scene: Scene) -> dict[str, int]:
    """Add a keyword, an automation with a run, and a webhook with a failed delivery."""
    account_id = scene.account.account_id
    async with scene.unit("contacts:write") as unit:
        await watching.watch(unit, "menu")
        trigger, actions = {"kind": "missed_reply", "hours": 4}, [{"kind": "add_tag", "tag": "waits"}]
        fields: Any = {"name": f"Nobody answered {LONG}", "trigger": trigger, "actions": actions}
        automation = await automations.create(unit, fields)
        contact = await contacts.get_by_phone(unit, PHONE)
        facts = {"key": "1", "reason": "", "payload": {}, "actions": actions, "conditions": [], "results": []}
        of = {"account_id": account_id, "automation_id": automation.id, "contact_id": contact.id}
        await unit.save(AutomationRun(status="done", **of, **facts))
    url = "https://hooks.example.com/services/messaging/a-long-path/that-wraps?token=0123456789012345678901234567890"
    webhook = await add_subscription(
        scene.services, account_id, kind="endpoint", target_url=url, events=["new_message"]
    )
    delivery = await add_delivery(scene.services, account_id, webhook, event="new_message", status="failed")
    await add_attempt(scene.services, delivery, status=503, body="<html>Down</html>", address=url)
    return {"/automations": automation.id, "/settings/keys/webhooks": webhook}


async def _agent(scene: Scene, conversation_id: int) -> dict[str, int]:
    """Add an agent with knowledge and a draft that waits for a decision."""
    async with scene.unit() as unit:
        agent_id = await add_agent(unit, {"name": f"Robin {LONG}", "mode": "approve"})
        contact = await contacts.get_by_phone(unit, PHONE)
        due = unit.clock.now()
    run = {"agent_id": agent_id, "contact_id": contact.id, "conversation_id": conversation_id, "message_id": 0}
    told = {"status": "done", "outcome": "drafted", "draft": SAID, "due_at": due}
    await AGENT_RUNS.insert(scene.services, account_id=scene.account.account_id, **run, **told)
    return {"/agents": agent_id}


async def _connect(scene: Scene) -> dict[str, int]:
    """Add a scheduling tool with an event, a colleague, and notices; return the ids of the tool and of the number."""
    services, account_id = scene.services, scene.account.account_id
    ports = services.intake.ports
    async with scene.unit("contacts:write", "messages:send") as unit:
        tool = await integrations.add(unit, ports, "calcom", "the secret", {"name": f"Bookings of {LONG}"})
    event = Delivery({}, orjson.dumps({"triggerEvent": "BOOKING_CREATED", "payload": {}}))
    await services.intake.receive(await services.intake.find("calcom", tool.address), event)
    owner = await id_of_user(services, email=scene.account.email)
    await add_user(services, account_id, "colleague@example.com", first_name=LONG)
    ended = await CAMPAIGNS.where(status="completed").only(services, "id")
    for hours, title in ((1, SAID[:90]), (30, "The campaign Spring has ended")):
        at = services.clock.now() - timedelta(hours=hours)
        own = {"account_id": account_id, "user_id": owner, "kind": "campaign", "subject_id": ended}
        await NOTICES.insert(services, **own, title=title, created_at=at)
    number = await PHONE_NUMBERS.where(account_id=account_id).only(services, "id")
    return {"/settings/integrations": tool.id, "/numbers": number}


async def _upload(scene: Scene) -> dict[str, int]:
    """Add a file with a dry run of its import."""
    async with scene.unit() as unit:
        upload = await uploads.create(unit, f"People of {LONG}.csv")
        await uploads.add_part(unit, upload.id, 0, b"phone,first name\n+12025550181,Ann\n")
        await imports.begin(unit, Import(upload.id, dry_run=True))
    return {"/contacts/import": upload.id}
