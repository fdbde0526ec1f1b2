"""Live updates of contacts, balances and AI agents."""

from datetime import timedelta

import pytest

from app.domain.accounts.scopes import Scope
from app.domain.agents import service as agents
from app.domain.agents.models import AgentStatus
from app.domain.agents.runner import AgentRunner
from app.domain.billing import service as billing
from app.domain.consent.service import Evidence
from app.domain.contacts import opt_outs
from app.domain.contacts import service as contacts
from tests.factories.agents import AGENT_RUNS, add_agent
from tests.factories.clocks import Later
from tests.factories.events import EVENTS, LIVE_UPDATES
from tests.graphql.live import PHONE, UPDATES, Scene, Served, talking

pytestmark = pytest.mark.anyio

CONTACT = UPDATES % "__typename contact_id ... on ContactUpdate { contact { first_name tags status } }"
BALANCE = UPDATES % "__typename actor { label } ... on BalanceUpdate { balance { balance } }"
AGENT = UPDATES % (
    "__typename conversation_id actor { label } ... on AgentUpdate { agent { id status } run { id outcome draft } }"
)


async def test_changes_of_a_contact_are_shown_each_once(served: Served, scene: Scene):
    agreed = Evidence("web_form", "I agree.")
    async with scene.unit() as unit:
        ann = (await contacts.create(unit, {"phone": PHONE})).id
    await scene.dispatch()
    async with talking(served.address, scene.account.svc_key) as talk:
        await talk.subscribe(CONTACT, kinds=["contact_changed"])

        shown = list[object]()
        for change in (
            lambda unit: contacts.update(unit, ann, {"first_name": "Ann"}),
            lambda unit: contacts.update(unit, ann, {"first_name": "Anna", "tags": ["vip"]}),
            lambda unit: opt_outs.record_opt_out(unit, ann, Evidence("verbal")),
            lambda unit: opt_outs.record_opt_in(unit, ann, agreed),
        ):
            async with scene.unit() as unit:
                await change(unit)
            await scene.dispatch()
            update = await talk.next()
            contact = update["contact"]
            shown.append(
                (update["__typename"], update["contact_id"], contact["first_name"], contact["tags"], contact["status"])
            )

    assert shown == [
        ("ContactUpdate", ann, "Ann", [], "active"),
        ("ContactUpdate", ann, "Anna", ["vip"], "active"),
        ("ContactUpdate", ann, "Anna", ["vip"], "opted_out"),
        ("ContactUpdate", ann, "Anna", ["vip"], "active"),
    ]


async def test_a_contact_that_stays_the_same_is_not_shown(scene: Scene):
    async with scene.unit() as unit:
        ann = await contacts.create(unit, {"phone": PHONE, "first_name": "Ann", "custom_fields": {}})
        await contacts.update(unit, ann.id, {"first_name": " Ann ", "tags": []})
        await contacts.assign(unit, ann.id, None)

    assert await EVENTS.read(scene.services, "name") == ["new_contact"]


async def test_credits_that_come_and_go_beside_texts_are_shown(served: Served, scene: Scene):
    async with talking(served.address, scene.account.svc_key) as talk:
        await talk.subscribe(BALANCE, kinds=["balance_changed"])

        shown = list[object]()
        for credits in (500, -200):
            async with scene.unit() as unit:
                await billing.grant(unit, credits, "Test")
            await scene.dispatch()
            shown.append(await talk.next())
        async with scene.unit() as unit:
            await billing.debit(unit, 1, "Copy")
        await scene.dispatch()
        shown.append(await talk.next())

    test = {"__typename": "BalanceUpdate", "actor": {"label": "test"}}
    assert shown == [{**test, "balance": {"balance": balance}} for balance in (1500, 1300, 1299)]


async def test_the_balance_needs_its_own_scope(served: Served, scene: Scene):
    _, key = await scene.key(Scope.messages_read)
    async with talking(served.address, key) as talk:
        await talk.subscribe(BALANCE, kinds=["balance_changed"])

        refused = await talk.hear()

    assert refused["type"] == "error"
    assert refused["payload"][0]["extensions"]["code"] == "insufficient_scope"


async def test_an_agent_that_changes_and_its_drafts_are_shown(served: Served, scene: Scene):
    services = scene.services
    async with scene.unit() as unit:
        agent = await add_agent(unit, {"mode": "approve"})
    await scene.dispatch()
    newest = await scene.newest()
    async with talking(served.address, scene.account.svc_key) as talk:
        await talk.subscribe(AGENT, kinds=["agent_state"], after=newest)

        await scene.receive("When are you open?")
        later = Later(timedelta(seconds=20))
        await AgentRunner(services.database, services.acceptor, services.writers, later, services.notify).run()
        await scene.dispatch()
        drafted = await talk.next()
        async with scene.unit() as unit:
            await agents.set_status(unit, agent, AgentStatus.paused)
        await scene.dispatch()
        paused = await talk.next()

    run, conversation = await AGENT_RUNS.only(services, "id", "conversation_id")
    assert drafted == {
        "__typename": "AgentUpdate",
        "conversation_id": conversation,
        "actor": {"label": f"agent:{agent}"},
        "agent": {"id": agent, "status": "active"},
        "run": {"id": run, "outcome": "drafted", "draft": "We are open from 9 to 5, Monday to Friday."},
    }
    assert paused == {
        "__typename": "AgentUpdate",
        "conversation_id": None,
        "actor": {"label": "test"},
        "agent": {"id": agent, "status": "paused"},
        "run": None,
    }
    assert await LIVE_UPDATES.where(name="agent_state").read(services, "agent_id") == [agent] * 3
