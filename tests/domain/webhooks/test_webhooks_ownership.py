"""Access to webhooks: every field about webhooks x every kind of actor x every creator."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from app.domain.accounts import api_keys
from app.domain.accounts import service as accounts
from app.domain.accounts.api_keys import NewKey
from app.domain.accounts.keys import KeyKind
from app.domain.accounts.models import Role
from app.domain.accounts.scopes import ALL, AUTOMATION, GENERAL
from app.domain.accounts.sign_in import authentication
from app.domain.grants.models import Client
from app.domain.kernel.errors import DomainError
from app.domain.kernel.unit_of_work import Actor
from app.domain.oauth import clients, grants
from app.domain.oauth.clients import NewClient
from app.domain.oauth.grants import Consent
from app.domain.onboarding.service import Opened
from app.domain.webhooks import service
from app.domain.webhooks.models import DeliveryStatus, Notice
from app.graphql.execution.documents import SCOPES
from app.graphql.execution.errors import refusal
from app.graphql.execution.execute import Executor, Run
from app.graphql.schema import CORE
from app.services import Services
from tests.conftest import SAVED, opener, unit_of
from tests.factories.accounts import CREATORS
from tests.factories.oauth import OAUTH_GRANTS
from tests.factories.snapshots import rows
from tests.factories.webhooks import WEBHOOK_SUBSCRIPTIONS
from tests.graphql.calls import prepared

REDIRECT = "https://crm.example.com/callback"

MANAGES = {
    "owner": {"owner", "member", "admin key", "svc key", "child", "auto key", "application", "other application"},
    "admin key": {"owner", "member", "admin key", "svc key", "child", "auto key", "application", "other application"},
    "member": {"member", "auto key", "application"},
    "svc key": {"svc key", "child"},
    "child": {"child"},
    "auto key": {"auto key"},
    "application": {"application"},
    "other application": {"other application"},
}
"""The creators whose webhooks each actor manages. Member and owner each have an auto key and the application."""

LISTS = {
    "webhooks": "webhooks { id }",
    "webhook_deliveries": "webhook_deliveries { nodes { id: subscription_id } }",
    "webhook_notices": "webhook_notices { nodes { id: subscription_id } }",
}
NAMED = {
    "webhook": "webhook(id: {hook}) {{ id }}",
    "unsubscribe": "unsubscribe(id: {hook}) {{ id }}",
    "update_webhook": 'update_webhook(id: {hook}, changes: {{description: "Mine"}}) {{ id }}',
    "take_over_webhook": "take_over_webhook(id: {hook}) {{ id }}",
    "rotate_webhook_secret": "rotate_webhook_secret(id: {hook}) {{ secret }}",
    "reveal_webhook_secret": "reveal_webhook_secret(id: {hook}) {{ secret }}",
    "send_test_webhook": "send_test_webhook(id: {hook}) {{ id }}",
    "replay_webhook_delivery": "replay_webhook_delivery(id: {delivery}) {{ id attempts {{ number }} }}",
    "preview_webhook_replay": "preview_webhook_replay(ids: [{delivery}]) {{ count }}",
    "replay_chosen_webhook_deliveries": "replay_chosen_webhook_deliveries(ids: [{delivery}]) {{ count }}",
    "preview_webhook_replay_since": (
        'preview_webhook_replay_since(id: {hook}, status: failed, since: "2026-01-01T00:00:00Z") {{ count }}'
    ),
    "replay_webhook_deliveries": (
        'replay_webhook_deliveries(id: {hook}, status: failed, since: "2026-01-01T00:00:00Z") {{ count }}'
    ),
}
NAME_NO_WEBHOOK = {
    "automation_keys",
    "create_automation_key",
    "create_webhook",
    "event_samples",
    "revoke_automation_key",
    "subscribe",
}


@dataclass
class Cast:
    """Actors of one account, and the webhook and delivery that each of them made."""

    services: Services
    actors: dict[str, Actor]
    hooks: dict[str, int] = field(default_factory=dict)
    deliveries: dict[str, int] = field(default_factory=dict)

    async def run(self, text: str, actor: str) -> Any:
        """Run an operation; return its value, or the code of the refusal."""
        try:
            result, _ = await Executor(self.services).run(Run(prepared(text), {}, self.actors[actor]))
        except DomainError as error:
            return error.code
        return refusal(result.errors[0]).code if result.errors else next(iter((result.data or {}).values()))

    async def use(self, name: str, actor: str, creator: str) -> Any:
        """Run a field on the webhook that somebody made."""
        kind = "query" if name in QUERIES else "mutation"
        call = NAMED[name].format(hook=self.hooks[creator], delivery=self.deliveries[creator])
        return await self.run(f"{kind} {{ {call} }}", actor)

    def pairs(self, *, managed: bool) -> Iterator[tuple[str, str]]:
        """Return every actor with every webhook that it manages, or does not."""
        for actor in self.actors:
            yield from ((actor, creator) for creator in self.hooks if (creator in MANAGES[actor]) is managed)


def about_webhooks() -> Iterator[str]:
    for kind in (CORE.query_type, CORE.mutation_type, CORE.subscription_type):
        assert kind
        managed = (name for name in kind.fields if SCOPES[kind.name, name] == "webhooks:manage")
        yield from (name for name in managed if not re.search("integration|inbound|crm", name))


QUERIES = frozenset(CORE.query_type.fields if CORE.query_type else ())


@pytest.fixture
async def cast(services: Services) -> Cast:
    """Give actors of every kind, each with a webhook that has a failed delivery and a notice."""
    made = await SAVED.world(services, "actors of every kind", lambda: make_cast(services))
    return replace(made, actors=dict(made.actors), hooks=dict(made.hooks), deliveries=dict(made.deliveries))


async def make_cast(services: Services) -> Cast:
    account = await opener(services)()
    service_itself = Actor(account.account_id, ALL, "cli")
    async with unit_of(services, service_itself) as unit:
        member = await accounts.add_user(unit, "member@example.com", "seven green bicycles")
        owner = await accounts.add_user(unit, "boss@example.com", "seven green bicycles")
        member.role = Role.member
        await unit.save(member)
        client, _ = await clients.create(unit, services.oauth.tokens, NewClient("CRM", [REDIRECT]))
    actors = {"owner": authentication.actor_of(owner), "member": authentication.actor_of(member)}
    actors["admin key"] = await key_of(services, actors["owner"], ALL)
    actors["svc key"] = await key_of(services, actors["owner"], GENERAL)
    actors["child"] = await key_of(services, actors["svc key"], AUTOMATION, KeyKind.auto)
    actors["auto key"] = await key_of(services, actors["member"], AUTOMATION, KeyKind.auto)
    actors["application"] = await connect(services, client, actors["member"])
    actors["other application"] = await connect(services, client, actors["owner"])
    cast = Cast(services, actors)
    for name in actors:
        await subscribe(cast, name)
    return cast


async def key_of(services: Services, creator: Actor, scopes: frozenset[str], kind: KeyKind = KeyKind.svc) -> Actor:
    async with unit_of(services, creator) as unit:
        key, _ = await api_keys.create_key(unit, services.secret, NewKey("Made", kind, sorted(scopes)))
    return Actor(creator.account_id, scopes, f"key:{key.id}", key_id=key.id)


async def connect(services: Services, client: Client, user: Actor) -> Actor:
    async with unit_of(services, user) as unit:
        consent = Consent(user.user_id or 0, AUTOMATION, "https://sms.example.com", REDIRECT, None)
        await grants.allow(unit, services.oauth.tokens, client, consent)
    id = await OAUTH_GRANTS.last(services, "id")
    return replace(user, scopes=AUTOMATION, grant_id=id)


async def subscribe(cast: Cast, name: str) -> None:
    async with unit_of(cast.services, cast.actors[name]) as unit:
        hook = await service.subscribe(unit, cast.services.webhooks, "new_message", f"https://example.com/{len(name)}")
        delivery = await service.send_test(unit, hook.id)
        delivery.status, delivery.next_attempt_at, delivery.is_test = DeliveryStatus.failed, None, False
        await unit.save(Notice(account_id=hook.account_id, subscription_id=hook.id, kind="failing", text=name))
    cast.hooks[name], cast.deliveries[name] = hook.id, delivery.id


def test_every_field_about_webhooks_is_tried() -> None:
    assert set(about_webhooks()) == LISTS.keys() | NAMED.keys() | NAME_NO_WEBHOOK


@pytest.mark.parametrize("name", LISTS)
async def test_each_is_shown_the_webhooks_that_it_manages(cast: Cast, name: str) -> None:
    names = {id: creator for creator, id in cast.hooks.items()}
    shown: dict[str, set[str]] = {}
    for actor in cast.actors:
        answer = await cast.run(f"{{ {LISTS[name]} }}", actor)
        shown[actor] = {names[each["id"]] for each in (answer if isinstance(answer, list) else answer["nodes"])}

    assert shown == MANAGES


@pytest.mark.parametrize("name", NAMED)
async def test_a_webhook_of_others_is_not_found_and_stays_as_it_is(cast: Cast, name: str) -> None:
    before = await rows(cast.services.database.pool)

    answers = {pair: await cast.use(name, *pair) for pair in cast.pairs(managed=False)}

    assert answers == dict.fromkeys(answers, "not_found")
    assert len(answers) == 8 * 8 - sum(map(len, MANAGES.values()))
    assert await rows(cast.services.database.pool) == before


@pytest.mark.parametrize("name", [name for name in NAMED if name != "unsubscribe"])
async def test_a_webhook_that_an_actor_manages_is_found(cast: Cast, name: str) -> None:
    # Taking one over, or the replay of what waits already, changes what the next one may do: so each only its own.
    pairs = [(actor, creator) for actor, creator in cast.pairs(managed=True) if actor == creator or name in READS]

    answers = [await cast.use(name, *pair) for pair in pairs]

    assert [answer for answer in answers if answer in CODES] == []


READS = {"webhook", "reveal_webhook_secret", "update_webhook", "rotate_webhook_secret", "send_test_webhook"}
CODES = ["not_found", "conflict", "insufficient_scope"]


async def test_an_actor_ends_the_webhooks_that_it_manages(cast: Cast) -> None:
    ended = [await cast.use("unsubscribe", actor, actor) for actor in cast.actors]

    assert [answer["id"] for answer in ended] == list(cast.hooks.values())


async def test_an_application_that_is_connected_again_manages_the_webhooks_it_made_before(cast: Cast) -> None:
    client = await OAUTH_GRANTS.last(cast.services, "client_id")
    async with unit_of(cast.services, cast.actors["member"]) as unit:
        consent = Consent(unit.actor.user_id or 0, AUTOMATION, "https://sms.example.com", REDIRECT, None)
        again = await unit.session.get(Client, client)
        assert again
        await grants.allow(unit, cast.services.oauth.tokens, again, consent)
    id = await OAUTH_GRANTS.last(cast.services, "id")
    cast.actors["again"] = replace(cast.actors["application"], grant_id=id)

    assert (await cast.use("webhook", "again", "application"))["id"] == cast.hooks["application"]
    assert await cast.use("webhook", "again", "other application") == "not_found"


@pytest.mark.parametrize("overlap_hours", [0, 24])
async def test_both_keys_of_a_rotation_manage_the_webhooks_of_either(cast: Cast, overlap_hours: int) -> None:
    old = cast.actors["svc key"]
    async with unit_of(cast.services, cast.actors["owner"]) as unit:
        new, _ = await api_keys.rotate_key(unit, cast.services.secret, old.key_id or 0, overlap_hours)
    cast.actors["new"] = replace(old, key_id=new.id)
    await subscribe(cast, "new")

    for key in ("svc key", "new"):
        answer = await cast.run("{ webhooks { id } }", key)
        assert {each["id"] for each in answer} == {cast.hooks[name] for name in ("svc key", "child", "new")}


async def test_over_rest_a_key_sees_and_ends_its_own_subscriptions_only(
    account: Opened, services: Services, http: Any
) -> None:
    made: dict[str, int] = {}
    keys = {"svc": {"X-API-Key": account.svc_key}, "auto": {"X-API-Key": account.auto_key}}
    for name, headers in keys.items():
        body = {"event": "new_contact", "target_url": f"https://example.com/{name}"}
        answer = await http.post("/automation/subscribe", json=body, headers=headers)
        made[name] = answer.json()["data"]["id"]

    listed = {
        name: [each["id"] for each in (await http.get("/automation/subscriptions", headers=headers)).json()["data"]]
        for name, headers in keys.items()
    }
    strange = await http.delete(f"/automation/unsubscribe/{made['svc']}", headers=keys["auto"])
    own = await http.delete(f"/automation/unsubscribe/{made['auto']}", headers=keys["auto"])

    assert listed == {name: [id] for name, id in made.items()}
    assert (strange.status_code, strange.json()["error_code"], own.status_code) == (404, "not_found", 200)
    assert await WEBHOOK_SUBSCRIPTIONS.read(services, "status") == ["active", "removed"]


async def test_a_replayed_idempotency_key_shows_no_subscription_of_another_key(account: Opened, http: Any) -> None:
    body = {"event": "new_contact", "target_url": "https://example.com/hook"}
    keys = [{"X-API-Key": key, "Idempotency-Key": "once"} for key in (account.svc_key, account.auto_key)]

    first, other, again = [
        await http.post("/automation/subscribe", json=body, headers=headers) for headers in (*keys, keys[0])
    ]

    assert (first.status_code, other.status_code, again.json()["data"]) == (200, 404, first.json()["data"])


async def test_an_owner_alone_manages_a_webhook_whose_creator_is_not_known_and_may_take_it_over(cast: Cast) -> None:
    hook = cast.hooks["member"]
    await WEBHOOK_SUBSCRIPTIONS.where(id=hook).change(cast.services, creator_id=None)

    shown = {actor: hook in [each["id"] for each in await cast.run("{ webhooks { id } }", actor)] for actor in MANAGES}
    await cast.use("take_over_webhook", "owner", "member")

    assert {actor for actor, is_shown in shown.items() if is_shown} == {"owner", "admin key"}
    [creator] = await WEBHOOK_SUBSCRIPTIONS.where(id=hook).read(cast.services, "creator_id")
    assert await CREATORS.where(id=creator).read(cast.services, "creator_user_id") == [cast.actors["owner"].user_id]
