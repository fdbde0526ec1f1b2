"""Inbound webhooks: any JSON becomes changes of a contact, as the paths say, or a reason why not."""

from base64 import b64encode
from typing import Any

import httpx2
import orjson
import pytest

from app.bootstrap import open_applier
from app.domain.accounts.scopes import Scope
from app.domain.automations import service as automations
from app.domain.automations.runner import AutomationRunner
from app.domain.integrations import hook_actions, paths, service
from app.domain.integrations.hook_actions import Actions
from app.domain.integrations.models import Integration
from app.domain.kernel.errors import Conflict, InsufficientScope, InvalidInput, NotFound
from app.domain.kernel.unit_of_work import Actor
from app.domain.onboarding.service import Opened
from app.domain.sequences import service as sequences
from app.domain.sequences.definition import NewStep
from app.services import Services
from tests.conftest import unit_of
from tests.factories.automations import AUTOMATION_RUNS
from tests.factories.contacts import CONTACTS
from tests.factories.integrations import INTEGRATION_EVENTS, INTEGRATIONS
from tests.factories.sequences import SEQUENCE_ENROLLMENTS
from tests.factories.tables import ago, ahead
from tests.peers import calcom
from tests.peers.visits import Visit
from tests.rest.answers import refusal

pytestmark = pytest.mark.anyio

SECRET = "the secret of the shop"
HEADERS = {"X-Webhook-Secret": SECRET}
BODY = {"order": {"phones": [{"value": "(202) 555-0143"}], "name": " Ann ", "total": 12, "vip": True}}
PATHS = {"phone": "order.phones[0].value", "first_name": "order.name", "email": "order.mail"}


@pytest.fixture
async def hook(services: Services, account: Opened) -> Integration:
    """Provide a webhook that tags and enrolls."""
    async with unit_of(services, Actor(account.account_id, frozenset(Scope), "test")) as unit:
        sequence = await sequences.create(unit, "Welcome", [NewStep(60, "Hi")])
        actions: Actions = {"paths": PATHS, "tags": ["shop", "new"], "sequence_id": sequence.id}
        return (await service.add_webhook(unit, services.intake.ports, "Shop", actions, SECRET))[0]


async def post(http: httpx2.AsyncClient, hook: Integration, body: object = BODY, **headers: str) -> httpx2.Response:
    content = body if isinstance(body, bytes) else orjson.dumps(body)
    return await http.post(f"/integrations/webhook/{hook.address}", content=content, headers=headers or HEADERS)


async def test_an_event_creates_tags_and_enrolls_a_contact_and_the_log_says_so(
    services: Services, http: httpx2.AsyncClient, hook: Integration
) -> None:
    given = {**HEADERS, "Webhook-Id": "order-77"}

    answers = [(await post(http, hook, **given)).json()["status"] for _ in range(2)]
    await open_applier(services).run()
    changed = {"order": {**BODY["order"], "name": "", "mail": "ann@example.com"}}
    assert (await post(http, hook, changed)).status_code == 202
    await open_applier(services).run()

    assert answers == ["accepted", "duplicate"]
    contact = await CONTACTS.only(services, "id", "phone", "first_name", "email", "tags", "source")
    assert tuple(contact)[1:] == ("+12025550143", "Ann", "ann@example.com", ["shop", "new"], "webhook: Shop")
    assert await SEQUENCE_ENROLLMENTS.count(services) == 1
    assert await INTEGRATION_EVENTS.read(services, "status", "result", "contact_id") == [
        (
            "applied",
            f"Created the contact {contact['id']}. Tagged it shop, new. Enrolled it in the drip sequence Welcome.",
            contact["id"],
        ),
        (
            "applied",
            f"Changed the contact {contact['id']}. It was enrolled in the drip sequence Welcome.",
            contact["id"],
        ),
    ]


@pytest.mark.parametrize("missing", ["contacts:write", "campaigns:send"])
async def test_a_new_secret_needs_the_scopes_of_what_its_bearer_can_do(
    services: Services, account: Opened, hook: Integration, missing: str
) -> None:
    async with unit_of(services, Actor(account.account_id, frozenset(Scope) - {missing}, "test")) as unit:
        with pytest.raises(InsufficientScope):
            await service.rotate(unit, services.intake.ports, hook.id, "another secret", 0)


async def test_a_new_secret_of_a_tool_needs_the_scope_of_its_texts(services: Services, account: Opened) -> None:
    ports = services.intake.ports
    async with unit_of(services, Actor(account.account_id, frozenset(Scope), "test")) as unit:
        tool = await service.add(unit, ports, "calcom", SECRET, {})
    async with unit_of(services, Actor(account.account_id, frozenset(Scope) - {"messages:send"}, "test")) as unit:
        with pytest.raises(InsufficientScope):
            await service.rotate(unit, ports, tool.id, "another secret", 0)


async def test_an_event_runs_an_automation_once_and_a_paused_one_fails_it_visibly(
    services: Services, http: httpx2.AsyncClient, account: Opened, new_account: Any
) -> None:
    trigger, tag = {"kind": "missed_reply", "hours": 1}, {"kind": "add_tag", "tag": "ran"}
    async with unit_of(services, Actor(account.account_id, frozenset(Scope), "test")) as unit:
        automation = await automations.create(unit, {"name": "Thank", "trigger": trigger, "actions": [tag]})
        actions: Actions = {"paths": PATHS, "automation_id": automation.id}
        hook, _ = await service.add_webhook(unit, services.intake.ports, "Shop", actions, SECRET)
    for actor, error in (
        (Actor(account.account_id, frozenset(Scope) - {"campaigns:send", "contacts:write"}), InsufficientScope),
        (Actor((await new_account()).account_id, frozenset(Scope)), NotFound),
    ):
        async with unit_of(services, actor) as unit:
            with pytest.raises(error):
                await hook_actions.check(unit, actions)

    given = {**HEADERS, "Webhook-Id": "1"}
    await post(http, hook, **given)
    await open_applier(services).run()
    paused = "The automation Thank is paused. Activate it first."
    assert await INTEGRATION_EVENTS.read(services, "status", "result") == [("failed", paused)]
    async with unit_of(services, Actor(account.account_id, frozenset(Scope), "test")) as unit:
        await automations.set_status(unit, automation.id, enabled=True)
    async with unit_of(services, Actor(account.account_id, frozenset(Scope), "test")) as unit:
        outcome = await hook_actions.test(unit, hook, orjson.dumps(BODY).decode())
        await service.replay(unit, await INTEGRATION_EVENTS.only(services, "id"))
    for _ in range(2):
        await open_applier(services).run()
        await INTEGRATION_EVENTS.change(services, status="waiting", due_at=services.clock.now())

    assert outcome.result.endswith(f"Started the automation {automation.id}.")
    assert await AUTOMATION_RUNS.read(services, "automation_id", "status") == [(automation.id, "running")]
    runner = AutomationRunner(services.database, services.acceptor, services.clock, services.notify)
    await runner.run()
    assert await CONTACTS.only(services, "tags") == ["ran"]


async def test_the_secret_is_taken_from_each_of_its_places_and_no_other(
    services: Services, http: httpx2.AsyncClient, hook: Integration
) -> None:
    basic = b64encode(f"hook:{SECRET}".encode()).decode()
    taken = [{"X-Webhook-Secret": SECRET}, {"Authorization": f"Bearer {SECRET}"}, {"Authorization": f"Basic {basic}"}]
    refused = [{"X-Webhook-Secret": f"{SECRET}x"}, {"Authorization": f"Basic {SECRET}"}, {"Authorization": SECRET}]

    statuses = [(await post(http, hook, **headers)).status_code for headers in [*taken, *refused, {"X-Other": SECRET}]]
    outside_ascii = {**HEADERS, "X-Webhook-Secret": "", "Authorization": "Basic é".encode("latin-1")}
    answer = await http.post(f"/integrations/webhook/{hook.address}", content=b"{}", headers=outside_ascii)

    assert [*statuses, answer.status_code] == [202] * 3 + [403] * 5
    assert await INTEGRATION_EVENTS.count(services) == 3
    assert await INTEGRATIONS.only(services, "received", "refused") == (3, 5)


async def test_a_refusal_names_the_fault_of_the_request(
    services: Services, http: httpx2.AsyncClient, hook: Integration
) -> None:
    text = (
        "The secret of this inbound webhook is missing or wrong. Give it as the header X-Webhook-Secret, as a bearer "
        "token, or as the password of the URL."
    )

    answers = [
        refusal(await post(http, hook, X_Other="1")),
        refusal(await post(http, hook, b'{"order":')),
        refusal(await post(http, hook, b"[" * 200_000)),
        refusal(await post(http, hook, b" " * (256 * 1024 + 1))),
        refusal(await http.post("/integrations/webhook/unknown", content=b"{}", headers=HEADERS)),
        refusal(await http.post("/integrations/webhook/a%00b", content=b"{}", headers=HEADERS)),
        refusal(await http.post(f"/integrations/web%00hook/{hook.address}", content=b"{}", headers=HEADERS)),
    ]

    assert answers[0] == (403, "unsigned_event", text)
    assert [answer[:2] for answer in answers[1:]] == [
        *[(400, "invalid_json")] * 2,
        (413, "body_too_large"),
        *[(404, "not_found")] * 3,
    ]
    assert await INTEGRATION_EVENTS.count(services) == 0


async def test_an_event_without_a_phone_fails_visibly(
    services: Services, http: httpx2.AsyncClient, hook: Integration
) -> None:
    for body in ({}, [], 5, {"order": {"phones": [{"value": "12"}]}}):
        await post(http, hook, body)
    await open_applier(services).run()

    events = await INTEGRATION_EVENTS.read(services, "status", "result")
    assert [status for status, _ in events] == ["failed"] * 4
    assert [result for _, result in events][:3] == ["There is no phone at order.phones[0].value."] * 3
    assert await INTEGRATIONS.only(services, "failed", "last_error") == (4, events[3]["result"])
    assert await CONTACTS.count(services) == 0


async def test_a_failed_event_is_applied_once_more_when_its_cause_is_removed(
    services: Services, account: Opened, http: httpx2.AsyncClient, hook: Integration
) -> None:
    await post(http, hook, {"order": {"mobile": "(202) 555-0143"}})
    await open_applier(services).run()
    event_id = await INTEGRATION_EVENTS.only(services, "id")
    actor = Actor(account.account_id, frozenset(Scope), "test")

    async with unit_of(services, actor) as unit:
        await service.update_webhook(unit, hook.id, None, {"paths": {"phone": "order.mobile"}})
        await service.replay(unit, event_id)
    await open_applier(services).run()

    assert await INTEGRATION_EVENTS.only(services, "status") == "applied"
    assert await CONTACTS.only(services, "phone") == "+12025550143"
    with pytest.raises(Conflict):
        async with unit_of(services, actor) as unit:
            await service.replay(unit, event_id)


async def test_a_test_shows_the_result_of_an_event_and_changes_nothing(
    services: Services, account: Opened, hook: Integration
) -> None:
    async with unit_of(services, Actor(account.account_id, frozenset(Scope), "test")) as unit:
        good = await hook_actions.test(unit, hook, orjson.dumps(BODY).decode())
        bad = await hook_actions.test(unit, hook, "{}")

    assert good.picked == {"phone": "(202) 555-0143", "first_name": "Ann", "email": ""}
    assert good.result.startswith("Created the contact ")
    assert good.result.endswith("Tagged it shop, new. Enrolled it in the drip sequence Welcome.")
    assert (good.error, bad.result, bad.error) == ("", "", "There is no phone at order.phones[0].value.")
    assert await CONTACTS.count(services) == await SEQUENCE_ENROLLMENTS.count(services) == 0


async def test_actions_are_checked_when_they_are_saved(services: Services, account: Opened) -> None:
    wrong: list[tuple[Actions, type[Exception]]] = [
        ({"paths": {}}, InvalidInput),
        ({"paths": {"phone": "a..b"}}, InvalidInput),
        ({"paths": {"phone": "a[x]"}}, InvalidInput),
        ({"paths": PATHS, "custom_fields": {"color": "a"}}, InvalidInput),
        ({"paths": PATHS, "sequence_id": 999}, NotFound),
    ]
    async with unit_of(services, Actor(account.account_id, frozenset(Scope), "test")) as unit:
        for actions, error in wrong:
            with pytest.raises(error):
                await service.add_webhook(unit, services.intake.ports, "Shop", actions)
        unit.actor = Actor(account.account_id, frozenset({Scope.contacts_write}), "test")
        with pytest.raises(InsufficientScope):
            await service.add_webhook(unit, services.intake.ports, "Shop", {"paths": PATHS, "sequence_id": 1})

    assert await INTEGRATIONS.count(services) == 0


PICKED: list[tuple[str, str]] = [
    ("order.phones[0].value", "(202) 555-0143"),
    ("order.total", "12"),
    ("order.vip", "true"),
    ("order.phones", ""),
    ("order.phones[1].value", ""),
    ("order.total.more", ""),
    ("order[0]", ""),
]


@pytest.mark.parametrize(("path", "value"), PICKED)
def test_a_path_picks_a_value_or_an_empty_string(path: str, value: str) -> None:
    assert paths.pick(BODY, paths.check(path, "phone")) == value


async def test_a_tool_posts_to_its_address_and_is_answered_before_its_event_is_applied(
    services: Services, http: httpx2.AsyncClient, account: Opened
) -> None:
    async with unit_of(services, Actor(account.account_id, frozenset(Scope), "test")) as unit:
        added: Any = await service.add(unit, services.intake.ports, "calcom", SECRET, {})
    signed = calcom.sign(calcom.event("BOOKING_CREATED", Visit(0, ago(), ahead(days=3))), ago(), SECRET)

    answers = [
        await http.post(f"/integrations/calcom/{added.address}", content=signed.body, headers=dict(signed.headers))
        for _ in range(2)
    ]

    assert [(answer.status_code, answer.json()["status"]) for answer in answers] == [
        (202, "accepted"),
        (202, "duplicate"),
    ]
    assert await INTEGRATION_EVENTS.only(services, "status") == "waiting"
