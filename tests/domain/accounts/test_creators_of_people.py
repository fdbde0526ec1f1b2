"""Invitations end with the user who made them, OAuth clients with their creator; keys manage no people."""

import asyncio
from dataclasses import replace

import pytest

from app.domain.accounts import api_keys, invitations, queries, users
from app.domain.accounts.errors import PersonRequired
from app.domain.accounts.invitations import InvitationEnded
from app.domain.accounts.keys import KeyKind
from app.domain.accounts.models import AccountStatus, Role
from app.domain.accounts.scopes import ALL, GENERAL, Scope
from app.domain.accounts.sessions import Visitor
from app.domain.kernel.errors import Conflict, NotFound
from app.domain.kernel.unit_of_work import Actor
from app.domain.oauth import clients
from app.domain.oauth import queries as oauth
from app.domain.webhooks import queries as webhooks
from app.services import Services
from tests.conftest import unit_of
from tests.domain.accounts.lineage import SERVICE, Lineage
from tests.domain.mail_senders import set_up_sender
from tests.factories.accounts import ACCOUNTS, INVITATIONS, USERS
from tests.factories.traps import until_blocked

SVC, AUTO = KeyKind.svc, KeyKind.auto
PASSWORD = "seven green bicycles"
SOFA = Visitor("203.0.113.8")


@pytest.fixture
async def lineage(services: Services) -> Lineage:
    """Give an account with the users ann and bob."""
    return await Lineage.open(services)


async def token_of(lineage: Lineage) -> str:
    """Return the token that the last mailed letter brings."""
    mail = (await set_up_sender(lineage.services).send_due())[-1]
    [url] = [line for line in mail.text.splitlines() if "/password/" in line]
    return url.rpartition("/")[2]


async def test_the_link_of_an_invitation_ends_with_the_user_who_made_it(lineage: Lineage) -> None:
    lineage.clock.at = lineage.services.clock.now()
    await lineage.invite("ann")
    token = await token_of(lineage)
    authentication = lineage.services.authentication
    assert (await authentication.find_link(token)).is_invitation

    await lineage.end("ann")

    for refused in (authentication.find_link(token), authentication.set_password(token, PASSWORD, SOFA)):
        with pytest.raises(InvitationEnded, match=r"^This invitation has ended: the person who made it may no longer "):
            await refused
    assert await lineage.standing() == lineage.expected()[1]


async def test_an_invitation_that_has_ended_is_not_mailed_nor_withdrawn(lineage: Lineage) -> None:
    name = await lineage.invite("ann")
    await lineage.end("ann")

    assert await set_up_sender(lineage.services).send_due() == []
    async with lineage.act(SERVICE) as unit:
        with pytest.raises(NotFound):
            await invitations.withdraw(unit, lineage.invited[name].id)


async def test_an_invitation_ends_when_its_creator_may_no_longer_invite_and_lives_again_when_it_may(
    lineage: Lineage,
) -> None:
    name = await lineage.invite("ann")

    async def change(role: Role) -> None:
        async with lineage.act(SERVICE) as unit:
            await users.change_role(unit, lineage.actors["ann"].user_id or 0, role)

    await change(Role.member)
    assert name not in await lineage.standing()
    await change(Role.owner)
    assert name in await lineage.standing()


async def test_an_invitation_renewed_by_another_user_outlives_the_first_inviter(lineage: Lineage) -> None:
    first = await lineage.invite("ann")
    async with lineage.act("bob") as unit:
        again = await invitations.invite(
            unit, lineage.services.authentication.tokens, lineage.invited[first].email, Role.owner
        )

    await lineage.end("ann")

    async with lineage.act(SERVICE) as unit:
        assert [each.id for each in await invitations.list_pending(unit)] == [again.id]


@pytest.mark.parametrize("actor", ["key of ann", "key of an application", "grant of ann"])
async def test_no_key_and_no_application_manages_people(lineage: Lineage, actor: str) -> None:
    if actor == "key of ann":
        actor = await lineage.make("ann", SVC)
    elif actor == "key of an application":
        actor = await lineage.make("grant of ann", SVC)
    lineage.actors[actor] = replace(lineage.actors[actor], scopes=ALL)
    bob, waiting = lineage.actors["bob"].user_id or 0, await lineage.invite("bob")
    before = await USERS.read(lineage.services), await INVITATIONS.read(lineage.services)

    for manage in (
        lambda unit: invitations.invite(
            unit, lineage.services.authentication.tokens, "carol@example.com", Role.service
        ),
        lambda unit: invitations.withdraw(unit, lineage.invited[waiting].id),
        lambda unit: users.change_role(unit, bob, Role.member),
        lambda unit: users.remove(unit, bob),
    ):
        async with lineage.act(actor) as unit:
            with pytest.raises(PersonRequired, match="Keys and connected applications cannot do this"):
                await manage(unit)

    assert (await USERS.read(lineage.services), await INVITATIONS.read(lineage.services)) == before


@pytest.mark.parametrize("status", [AccountStatus.suspended, AccountStatus.deleted])
async def test_an_invitation_is_not_accepted_into_an_account_that_is_suspended_or_deleted(
    lineage: Lineage, status: AccountStatus
) -> None:
    name = await lineage.invite("ann")
    await ACCOUNTS.where(id=lineage.account.account_id).change(lineage.services, status=status)

    async with lineage.act(SERVICE) as unit:
        assert await invitations.accept(unit, lineage.invited[name], "a hash") is None

    assert await USERS.count(lineage.services) == 3


async def test_an_invitation_cannot_be_accepted_while_its_creator_is_being_removed(lineage: Lineage) -> None:
    name = await lineage.invite("ann")

    async with unit_of(lineage.services, lineage.actors[SERVICE]) as unit:
        await users.remove(unit, lineage.actors["ann"].user_id or 0)
        lineage.model.revoked.add("ann")
        accepting = asyncio.create_task(lineage.accept(name))
        await until_blocked(lineage.services.database.pool)

    assert await accepting == ""
    assert await USERS.count(lineage.services) == 3


async def test_revoking_a_stolen_key_ends_the_client_it_made_and_the_grants_of_the_client(
    lineage: Lineage,
) -> None:
    key = await lineage.make("ann", SVC)
    client = await lineage.register(key)
    grant = await lineage.connect("bob", client)
    hook, made = await lineage.hook(grant), await lineage.make(grant, AUTO)

    await lineage.end(key)

    assert {client, grant} & await lineage.standing() == set()
    assert {hook, made} & await lineage.working() == set()
    async with lineage.act(SERVICE) as unit:
        assert await oauth.find_client(unit, lineage.clients[client].client_id) is None
        revoked_at = {each.name: each.revoked_at for each in await oauth.list_clients(unit)}["Made"]
        with pytest.raises(Conflict, match="has ended with the key or the user that created it"):
            await clients.rotate_secret(unit, lineage.services.oauth.tokens, lineage.clients[client].id)
    assert revoked_at == lineage.clock.now()


async def test_an_application_that_a_stolen_key_made_cannot_rotate_that_key_to_outlive_it(lineage: Lineage) -> None:
    key = await lineage.make("ann", SVC)
    client, hook = await lineage.register(key), await lineage.hook(key)
    grant = await lineage.connect("bob", client)
    new = await lineage.rotate(grant, key, 24)

    await lineage.end(key)

    assert {client, grant, hook, new} & (await lineage.standing() | await lineage.working()) == set()


async def test_an_owner_takes_a_client_over_with_all_that_is_connected_but_not_its_secret(lineage: Lineage) -> None:
    key = await lineage.make("ann", SVC)
    client = await lineage.register(key)
    grant = await lineage.connect("bob", client)
    await lineage.end(key)

    async with lineage.act("bob") as unit:
        await clients.take_over(unit, lineage.clients[client].id)

    assert {client, grant} <= await lineage.standing()
    assert not await has_live_secret(lineage, client)
    async with lineage.act("bob") as unit:
        await clients.rotate_secret(unit, lineage.services.oauth.tokens, lineage.clients[client].id)
    assert await has_live_secret(lineage, client)


async def test_a_secret_that_a_stolen_key_rotated_ends_with_it_and_the_client_goes_on(lineage: Lineage) -> None:
    client = await lineage.register("bob")
    grant, key = await lineage.connect("bob", client), await lineage.make("ann", SVC)
    async with lineage.act(key) as unit:
        await clients.rotate_secret(unit, lineage.services.oauth.tokens, lineage.clients[client].id)
    assert await has_live_secret(lineage, client)

    await lineage.end(key)

    assert not await has_live_secret(lineage, client)
    assert {client, grant} <= await lineage.standing()


async def has_live_secret(lineage: Lineage, name: str) -> bool:
    async with lineage.act(SERVICE) as unit:
        client = await oauth.find_client(unit, lineage.clients[name].client_id)
        assert client
        return await oauth.has_live_secret(unit, client)


async def test_a_webhook_whose_creator_was_revoked_is_listed_no_more(lineage: Lineage) -> None:
    key = await lineage.make("ann", SVC)
    hook, other = await lineage.hook(key), await lineage.hook("bob")

    await lineage.end(key)

    async with lineage.act(SERVICE) as unit:
        assert [each.id for each in await webhooks.list_subscriptions(unit)] == [lineage.hooks[other]]
        with pytest.raises(NotFound):
            await webhooks.get_subscription(unit, lineage.hooks[hook])


async def test_a_member_lists_and_revokes_the_automation_keys_that_it_made_and_no_others(lineage: Lineage) -> None:
    mine, other, general = (
        await lineage.make("bob", AUTO),
        await lineage.make("ann", AUTO),
        await lineage.make("bob", SVC),
    )
    member = lineage.actors["bob"]
    assert Scope.account_write not in GENERAL
    lineage.actors["bob"] = Actor(member.account_id, GENERAL, member.label, None, member.user_id)
    ids = {name: lineage.actors[name].key_id or 0 for name in (mine, other, general)}

    async with lineage.act("bob") as unit:
        assert [key.id for key in await queries.list_automation_keys(unit)] == [ids[mine]]
        for name in (other, general):
            with pytest.raises(NotFound, match=rf"^No automation key with id {ids[name]}\.$"):
                await api_keys.revoke_automation_key(unit, ids[name])
        await api_keys.revoke_automation_key(unit, ids[mine])
    async with lineage.act("ann") as unit:
        shown = [key.id for key in await queries.list_automation_keys(unit)]
        assert (shown[0], shown[-1]) == (ids[other], ids[mine])

    assert await lineage.working() == {other, general}
