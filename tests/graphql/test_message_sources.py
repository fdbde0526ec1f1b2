"""The sources of messages: the actor and the purpose that their acceptance records."""

from typing import Any

import pytest

from app.domain.accounts.scopes import ALL
from app.domain.campaigns import service as campaigns
from app.domain.campaigns.audience import Audience
from app.domain.carriers.carrier import InboundMessage
from app.domain.contacts import service as contacts
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages.requests import Send
from app.domain.onboarding.service import Opened
from app.domain.sequences import enrollments as drips
from app.domain.sequences import service as sequences
from app.domain.sequences.definition import NewStep
from app.services import Services
from tests.conftest import unit_of
from tests.graphql.calls import codes, post, serving
from tests.graphql.test_linked_records import ask, session_statements

pytestmark = pytest.mark.anyio

PHONE = "+12025550143"
SOURCES = "{ messages(last: 50) { nodes { body source } } }"
LINKS = "{ messages { nodes { source campaign { id name } enrollment { id } } } }"


async def accept(services: Services, account: Opened, label: str, body: str) -> None:
    await services.acceptor.accept(Actor(account.account_id, ALL, label), Send(PHONE, body, consent_attested=True))


async def read(services: Services, account: Opened, query: str) -> list[dict[str, Any]]:
    async with serving(services, Actor(account.account_id, ALL)) as client:
        return (await ask(client, query))["messages"]["nodes"]


async def test_a_message_names_the_part_of_the_product_that_caused_it(services: Services, account: Opened) -> None:
    sources = {
        "user:5": "user",
        "key:6": "api",
        "grant:7": "application",
        "campaign:8": "campaign",
        "sequence:9": "sequence",
        "automation:10": "automation",
        "agent:11": "agent",
        "keywords": "keyword",
        "integration:12": "integration",
        "operator": "service",
    }
    for label in sources:
        await accept(services, account, label, label)
    await services.inbox.receive("sandbox", InboundMessage("in-1", PHONE, account.phone_number, "HELP"))

    nodes = await read(services, account, SOURCES)

    found = {node["body"]: node["source"] for node in nodes}
    assert {label: found[label] for label in sources} == sources
    assert found["HELP"] == "contact"
    assert [source for body, source in found.items() if body not in (*sources, "HELP")] == ["keyword"]


async def test_a_message_leads_to_its_campaign_or_to_the_enrollment_of_its_time(
    services: Services, account: Opened
) -> None:
    async with unit_of(services, Actor(account.account_id, ALL)) as unit:
        campaign = await campaigns.create(unit, {"name": "Sale", "body": "Hi", "audience": Audience(everyone=True)})
        sequence = await sequences.create(unit, "Welcome", [NewStep(0, "Hi")])
        contact = await contacts.create(unit, {"phone": PHONE})
    enrollments = list[int]()
    for _ in range(2):
        async with unit_of(services, Actor(account.account_id, ALL)) as unit:
            enrollments.append((await drips.enroll(unit, sequence.id, contact.id)).enrollment_id)
        await accept(services, account, f"sequence:{sequence.id}", "Step")
        async with unit_of(services, Actor(account.account_id, ALL)) as unit:
            await drips.unenroll(unit, enrollments[-1])
    await accept(services, account, f"campaign:{campaign.id}", "Sale")
    await accept(services, account, "key:1", "Hello")

    with session_statements() as statements:
        nodes = await read(services, account, LINKS)

    assert nodes == [
        {"source": "api", "campaign": None, "enrollment": None},
        {"source": "campaign", "campaign": {"id": campaign.id, "name": "Sale"}, "enrollment": None},
        {"source": "sequence", "campaign": None, "enrollment": {"id": enrollments[1]}},
        {"source": "sequence", "campaign": None, "enrollment": {"id": enrollments[0]}},
    ]
    for table, count in (("campaigns", 1), ("sequence_enrollments", 2)):
        assert len([each for each in statements if f"FROM {table}" in each]) == count


@pytest.mark.parametrize("link", ["campaign", "enrollment"])
async def test_the_record_behind_a_message_needs_the_scope_to_read_it(
    services: Services, account: Opened, link: str
) -> None:
    async with serving(services, Actor(account.account_id, frozenset({"messages:read"}))) as client:
        answer = await post(client, {"query": f"{{ messages {{ nodes {{ {link} {{ id }} }} }} }}"})

    assert codes(answer) == ["insufficient_scope"]
    assert answer.json().get("data") is None
