"""Data that remains after the erasure of a contact: only what the documentation lists."""

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import httpx2
import pytest
from aiohttp import web

from app.bootstrap import open_delivery_workers, open_dispatcher
from app.db.engine import UNREACHABLE, Pool
from app.domain.carriers.carrier import CarriedMessage, FailureCode, InboundMessage, Receipt, ReceiptStatus
from app.domain.messages.carrier_erasures import CarrierErasures
from app.domain.onboarding.service import Opened
from app.providers.carriers.sandbox.carrier import SandboxCarrier
from app.services import Services
from tests.domain.webhooks.harness import Harness
from tests.domain.webhooks.receivers import Post, Receiver, receiving
from tests.factories.billing import audit
from tests.factories.carriers import CONNECTIONS, opened
from tests.factories.clocks import Later
from tests.factories.contacts import id_of_contact
from tests.factories.events import OUTBOX, payloads
from tests.factories.messages import CARRIER_ERASURES, SANDBOX_MESSAGES, add_handed_over
from tests.factories.search import find_in_redis, find_places
from tests.factories.tables import ago
from tests.factories.traps import LosingPool
from tests.factories.webhooks import WEBHOOK_DELIVERIES
from tests.rest.answers import data, refusal
from tests.waiting import until

PHONE, OLD = "+12025550177", "+12025550178"
CONTACT = {"first_name": "Zebulon", "last_name": "Quackenbush", "email": "zeb@quokka.example", "tags": ["Xylophonist"]}
PHONES = ["2025550177", "2025550178"]
WORDS = [*PHONES, "Zebulon", "Quackenbush", "Xylophonist", "quokka", "wombat", "marmoset", "ocelot", "aardvark"]
NATIONAL = "(202) 555-0177"
UNCLEAR = "STOP what about the wombat"
KEPT = {
    ("suppressions", "phone"): {"2025550177"},
    ("consents", "phone"): {"2025550177"},
    ("consents", "text"): {"wombat"},
    ("watched_keywords", "keyword"): {"ocelot"},
    ("sequence_steps", "body"): {"aardvark"},
}
"""Remaining data and its words: see "Deleting a contact" in `docs/rest.md`, and texts written by the account."""

SEQUENCE = """
mutation { create_sequence(name: "Welcome", steps: [
  {delay_minutes: 0, body: "Dear {first_name}, an aardvark."}, {delay_minutes: 900, body: "More."}]) { id } }
"""
WATCH = 'mutation { watch_keyword(keyword: "ocelot") { id } }'
HOOKS = """
new_contact new_message new_conversation new_opt_out message_delivered message_failed keyword_reply contact_tag_added
contact_tag_removed contact_dnd_changed
"""


def echo(post: Post) -> web.Response:
    """Answer with what was posted, as some subscribers do."""
    return web.Response(body=post.raw, headers={"X-Said": PHONE})


@dataclass(frozen=True)
class Life:
    """The history of a contact until its erasure."""

    services: Services
    account: Opened
    api: httpx2.AsyncClient
    harness: Harness
    work: Callable[[], Any]

    @property
    def pool(self) -> Pool:
        return self.services.database.pool

    async def ask(self, query: str) -> Any:
        answer = (await self.api.post("/graphql", json={"query": query})).json()
        assert "errors" not in answer, answer
        return answer["data"]

    async def text(self, body: str) -> None:
        inbound = InboundMessage(f"in-{hash(body)}", PHONE, self.account.phone_number, body)
        await self.services.inbox.receive("sandbox", inbound)

    async def send(self, body: str, **more: Any) -> httpx2.Response:
        send = {"to": PHONE, "message": body, "consent_attested": True, **more}
        return await self.api.post("/sms/send", json=send, headers={"Idempotency-Key": str(hash(body))})

    async def change(self, id: int, **fields: Any) -> None:
        data(await self.api.put(f"/contacts/{id}", json=fields))

    async def begin(self) -> int:
        """Subscribe, send in vain to a phone that no contact has, and make its contact; return the id."""
        for event in HOOKS.split():
            url = f"{self.harness.receiver.url}/{event}"
            data(await self.api.post("/automation/subscribe", json={"event": event, "target_url": url}))
        await self.ask(WATCH)
        assert refusal(await self.send("Too early", from_phone_number_id=10**6))[0] == 404
        made = data(await self.api.post("/automation/actions/create-contact", json={"phone": OLD, **CONTACT}))
        await self.change(made["id"], phone=PHONE, tags=["vip"])
        return made["id"]

    async def correspond(self, id: int) -> None:
        """Send, enroll, fail, be answered, be blocked."""
        for _ in range(2):
            data(await self.send("A wombat"))
        data(await self.api.post("/automation/actions/send-sms", json={"to": PHONE, "message": "A marmoset"}))
        enrollment = {"sequence_id": (await self.ask(SEQUENCE))["create_sequence"]["id"], "contact_id": id}
        data(await self.api.post("/automation/actions/add-to-campaign", json=enrollment))
        await self.work()
        await self.text("Is the wombat well?")
        await self.text("Ocelot!")
        await self.fail(int(data(await self.send("A marmoset that fails"))["message_id"]))
        await self.change(id, dnd_sms=True)
        assert refusal(await self.send("A blocked marmoset"))[1] == "contact_dnd"
        await self.change(id, dnd_sms=False)

    async def fail(self, id: int) -> None:
        said = Receipt(
            f"sbx_{id}", ReceiptStatus.failed, "failed", FailureCode.invalid_number, f"{PHONE} is none", 1, id
        )
        await self.services.receipts.receive("sandbox", said)

    async def end(self) -> None:
        """Stop, start again, say something unclear, while a text waits and another is on its way."""
        await self.text("STOP")
        await self.text("START")
        await self.work()
        await self.deliver()
        data(await self.send("A marmoset that waits"))
        await self.text(UNCLEAR)

    async def deliver(self) -> None:
        """Dispatch and deliver all that was told."""
        async with self.harness.at_work():
            await until(self.is_quiet)

    async def is_quiet(self) -> bool:
        """Tell whether all that was told is dispatched and delivered."""
        waiting = (OUTBOX, WEBHOOK_DELIVERIES.where(status="pending"))
        return not any([await rows.count(self.pool) for rows in waiting])


@pytest.fixture
async def receiver() -> AsyncGenerator[Receiver]:
    """Give a subscriber that repeats what it hears."""
    async with receiving() as receiver:
        receiver.respond = echo
        yield receiver


@pytest.fixture
def life(
    services: Services, account: Opened, api: httpx2.AsyncClient, receiver: Receiver, work: Callable[[], Any]
) -> Life:
    """Give the life of a contact that has not begun."""
    harness = Harness(services, account, receiver, open_dispatcher(services), open_delivery_workers(services))
    return Life(services, account, api, harness, work)


async def test_only_the_documented_traces_of_an_erased_contact_are_left(life: Life) -> None:
    id = await life.begin()
    await life.correspond(id)
    await life.end()
    before = set[str]().union(*(await find_places(life.pool, WORDS)).values())

    data(await life.api.delete(f"/contacts/{id}"))
    await CarrierErasures(life.services.database, life.services.connections, life.services.clock).run()

    assert before == set(WORDS)
    assert await find_places(life.pool, [*WORDS, NATIONAL]) == KEPT
    assert await find_in_redis(life.services.settings.redis_url or "", [*WORDS, NATIONAL]) == []
    await life.deliver()
    await life.work()
    assert await find_places(life.pool, [*WORDS, NATIONAL]) == KEPT
    await audit(life.pool)


class Away(SandboxCarrier):
    """A carrier that cannot be asked to forget."""

    async def delete_copies(self, messages: Any) -> None:
        raise ConnectionError


async def test_a_carrier_that_cannot_be_asked_to_forget_is_asked_again(
    services: Services, account: Opened, api: httpx2.AsyncClient, work: Callable[[], Any]
) -> None:
    pool = services.database.pool
    data(await api.post("/sms/send", json={"to": PHONE, "message": "A wombat", "consent_attested": True}))
    await work()
    data(await api.delete(f"/contacts/{await id_of_contact(pool)}"))
    away = CarrierErasures(services.database, opened(services.handoff, sandbox=Away(pool, b"", 0, 1)), services.clock)

    await away.run()
    between = await away.due(), await find_places(pool, ["wombat"])
    later = CarrierErasures(services.database, services.connections, Later(timedelta(minutes=6)))
    await later.run()

    assert between == (False, {("sandbox_messages", "body"): {"wombat"}})
    assert (await later.due(), await find_places(pool, ["wombat"])) == (False, {})
    assert await CARRIER_ERASURES.count(pool) == 0


async def test_a_pending_erasure_at_a_removed_carrier_is_dropped(
    services: Services, account: Opened, api: httpx2.AsyncClient, work: Callable[[], Any]
) -> None:
    pool = services.database.pool
    data(await api.post("/sms/send", json={"to": PHONE, "message": "A wombat", "consent_attested": True}))
    await work()
    data(await api.delete(f"/contacts/{await id_of_contact(pool)}"))

    await CONNECTIONS.delete(pool)
    services.connections.expire()
    await CarrierErasures(services.database, services.connections, services.clock).run()

    assert await CARRIER_ERASURES.count(pool) == 0


async def test_a_carrier_erasure_is_requested_at_once_when_its_claim_was_lost_with_the_connection(
    services: Services, account: Opened, api: httpx2.AsyncClient, work: Callable[[], Any]
) -> None:
    pool = services.database.pool
    data(await api.post("/sms/send", json={"to": PHONE, "message": "A wombat", "consent_attested": True}))
    await work()
    data(await api.delete(f"/contacts/{await id_of_contact(pool)}"))
    losing: Any = LosingPool(pool)
    lost = replace(services.database, pool=losing)

    with pytest.raises(UNREACHABLE):
        await CarrierErasures(lost, services.connections, services.clock).run()
    await CarrierErasures(services.database, services.connections, services.clock).run()

    assert losing.lost == 1
    assert await find_places(pool, ["wombat"]) == {}


async def test_the_sandbox_forgets_the_messages_that_are_named_and_no_others(services: Services) -> None:
    pool, sandbox = services.database.pool, SandboxCarrier(services.database.pool, b"", 0, 1)
    for reference in (1, 2, 3):
        await add_handed_over(pool, reference, ago())

    await sandbox.delete_copies([CarriedMessage(1, None), CarriedMessage(3, "sbx_3"), CarriedMessage(9, None)])

    assert await SANDBOX_MESSAGES.read(pool, "reference") == [2]


async def test_a_blocked_send_to_a_phone_that_no_contact_has_keeps_no_phone(life: Life) -> None:
    assert refusal(await life.send("A wombat", from_phone_number_id=10**6))[0] == 404

    assert await find_places(life.pool, ["2025550177"]) == {}
    [blocked] = await payloads(life.pool, "send_blocked")
    assert (blocked["to_number"], blocked["error_code"]) == ("", "not_found")


async def test_the_erasure_of_one_account_leaves_the_same_phone_of_another(
    life: Life, new_account: Callable[..., Any]
) -> None:
    other: Opened = await new_account()
    theirs = {"X-API-Key": other.svc_key}
    mine = data(await life.api.post("/contacts", json={"phone": PHONE, **CONTACT}))
    life.api.headers.pop("Authorization")
    kept = data(await life.api.post("/contacts", json={"phone": PHONE, **CONTACT}, headers=theirs))

    answer = await life.api.delete(f"/contacts/{mine['id']}", headers=theirs)
    data(await life.api.delete(f"/contacts/{mine['id']}", headers={"X-API-Key": life.account.svc_key}))

    assert refusal(answer)[:2] == (404, "not_found")
    assert data(await life.api.get(f"/contacts/{kept['id']}", headers=theirs)) == kept
