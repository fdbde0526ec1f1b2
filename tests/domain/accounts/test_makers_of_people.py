"""Invitations, users, roles and OAuth clients end with the stolen key that made them; and people with nothing else."""

import asyncio

import pytest

from app.bootstrap import Services
from app.domain.accounts import api_keys, invitations, queries, users
from app.domain.accounts.invitations import InvitationEnded
from app.domain.accounts.keys import KeyKind
from app.domain.accounts.models import Role
from app.domain.accounts.scopes import GENERAL, Scope
from app.domain.accounts.sessions import Visitor
from app.domain.kernel.errors import Conflict, NotFound
from app.domain.kernel.unit import Actor
from app.domain.oauth import clients
from app.domain.oauth import queries as oauth
from app.domain.webhooks import queries as webhooks
from tests.conftest import unit_of
from tests.domain.accounts.lineage import HOUR, SERVICE, Lineage
from tests.domain.mailrooms import open_room
from tests.factories.accounts import AUDIT_ENTRIES, USERS
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
    letter = (await open_room(lineage.services).work())[-1]
    [url] = [line for line in letter.text.splitlines() if "/password/" in line]
    return url.rpartition("/")[2]


async def role_of(lineage: Lineage, name: str) -> str | None:
    async with lineage.act(SERVICE) as unit:
        return {user.id: user.role for user in await queries.list_users(unit)}.get(lineage.actors[name].user_id or 0)


@pytest.mark.parametrize("maker", ["svc", "ann"])
async def test_the_link_of_an_invitation_ends_with_the_key_or_the_user_that_made_it(
    lineage: Lineage, maker: str
) -> None:
    lineage.clock.at = lineage.services.clock.now()
    maker = await lineage.make("ann", SVC) if maker == "svc" else maker
    await lineage.invite(maker)
    token = await token_of(lineage)
    door = lineage.services.door
    assert (await door.find_link(token)).is_invitation

    await lineage.end(maker)

    for refused in (door.find_link(token), door.set_password(token, PASSWORD, SOFA)):
        with pytest.raises(
            InvitationEnded, match=r"^This invitation has ended: the key or the person that made it may "
        ):
            await refused
    assert await lineage.standing() == lineage.expected()[1]


async def test_an_invitation_that_has_ended_is_not_mailed_nor_withdrawn(lineage: Lineage) -> None:
    key = await lineage.make("ann", SVC)
    name = await lineage.invite(key)
    await lineage.end(key)

    assert await open_room(lineage.services).work() == []
    async with lineage.act(SERVICE) as unit:
        with pytest.raises(NotFound):
            await invitations.withdraw(unit, lineage.invited[name].id)


async def test_an_invitation_ends_when_its_maker_may_no_longer_invite_and_lives_again_when_it_may(
    lineage: Lineage,
) -> None:
    name = await lineage.invite(await lineage.make("ann", SVC))

    async def change(role: Role) -> None:
        async with lineage.act(SERVICE) as unit:
            await users.change_role(unit, lineage.actors["ann"].user_id or 0, role)

    await change(Role.member)
    assert name not in await lineage.standing()
    await change(Role.owner)
    assert name in await lineage.standing()


async def test_an_invitation_made_anew_by_somebody_else_lives_on_its_own(lineage: Lineage) -> None:
    key = await lineage.make("ann", SVC)
    first = await lineage.invite(key)
    async with lineage.act("bob") as unit:
        again = await invitations.invite(unit, lineage.services.door.tokens, lineage.invited[first].email, Role.owner)

    await lineage.end(key)

    async with lineage.act(SERVICE) as unit:
        assert [each.id for each in await invitations.list_pending(unit)] == [again.id]


async def test_whoever_a_stolen_key_brought_leaves_with_it_and_whoever_these_brought(lineage: Lineage) -> None:
    key = await lineage.make("ann", SVC)
    first = await lineage.accept(await lineage.invite(key))
    second = await lineage.accept(await lineage.invite(first))
    third = await lineage.accept(await lineage.invite(await lineage.make(second, SVC)))
    theirs = await lineage.make(third, SVC)
    async with lineage.act("ann") as unit:
        unconfirmed = [user.id for user in await users.find_unconfirmed(unit)]
    assert unconfirmed == [lineage.actors[each].user_id for each in (first, second, third)]

    await lineage.end(key)

    assert [await role_of(lineage, each) for each in (first, second, third, "ann")] == [None, None, None, "owner"]
    assert theirs not in await lineage.working()
    removed = await AUDIT_ENTRIES.where(action="user_removed").read(lineage.services, "details")
    assert [each["because"] for each in removed] == ["key_revoked"] * 3


@pytest.mark.parametrize("ending", ["maker removed", "key ran out", "key rotated", "confirmed"])
async def test_people_stay_unless_the_key_that_brought_them_is_revoked(lineage: Lineage, ending: str) -> None:
    key = await lineage.make("ann", SVC, HOUR)
    user = await lineage.accept(await lineage.invite(key))

    match ending:
        case "maker removed":
            await lineage.end("ann")
        case "key ran out":
            lineage.clock.at += 2 * HOUR
        case "key rotated":
            await lineage.rotate("bob", key, 24)
            await lineage.end(key)
        case _:
            async with lineage.act("bob") as unit:
                await users.confirm(unit, lineage.actors[user].user_id or 0)
            await lineage.end(key)

    assert await role_of(lineage, user) == "owner"


async def test_an_invitation_cannot_be_accepted_while_its_key_is_being_revoked(lineage: Lineage) -> None:
    key = await lineage.make("ann", SVC)
    name = await lineage.invite(key)

    async with unit_of(lineage.services, lineage.actors[SERVICE]) as unit:
        await api_keys.revoke_key(unit, lineage.actors[key].key_id or 0)
        lineage.model.revoke(key)
        accepting = asyncio.create_task(lineage.accept(name))
        await until_blocked(lineage.services.database.pool)

    assert await accepting == ""
    assert await USERS.count(lineage.services) == 3


@pytest.mark.parametrize("is_confirmed", [False, True])
async def test_an_owner_made_by_a_stolen_key_is_a_member_again_when_the_key_is_revoked(
    lineage: Lineage, is_confirmed: bool
) -> None:
    key, bob = await lineage.make("ann", SVC), lineage.actors["bob"].user_id or 0
    for actor, role in ((SERVICE, Role.member), (key, Role.owner)):
        async with lineage.act(actor) as unit:
            await users.change_role(unit, bob, role)
    if is_confirmed:
        async with lineage.act("ann") as unit:
            await users.confirm(unit, bob)

    await lineage.end(key)

    assert await role_of(lineage, "bob") == ("owner" if is_confirmed else "member")


async def test_whom_an_owner_brought_before_a_key_touched_its_role_stay(lineage: Lineage) -> None:
    user = await lineage.accept(await lineage.invite("bob"))
    key, bob = await lineage.make("ann", SVC), lineage.actors["bob"].user_id or 0
    for actor, role in ((key, Role.member), (key, Role.owner)):
        async with lineage.act(actor) as unit:
            await users.change_role(unit, bob, role)
    later = await lineage.accept(await lineage.invite("bob"))

    await lineage.end(key)

    assert [await role_of(lineage, each) for each in ("bob", user, later)] == ["member", "owner", None]


@pytest.mark.parametrize("by", ["key", "brought"])
async def test_neither_a_key_nor_whom_a_key_brought_confirms_users(lineage: Lineage, by: str) -> None:
    key = await lineage.make("ann", SVC)
    brought = await lineage.accept(await lineage.invite(key))
    ids = [lineage.actors[each].user_id or 0 for each in ("ann", "bob", brought)]

    for id in ids:
        async with lineage.act(key if by == "key" else brought) as unit:
            with pytest.raises(Conflict, match="Only a signed-in owner whom no key brought"):
                await users.confirm(unit, id)
    await lineage.end(key)

    assert [await role_of(lineage, each) for each in ("ann", "bob", brought)] == ["owner", "owner", None]


async def test_a_client_made_with_a_stolen_key_ends_with_it_and_with_it_what_it_was_connected_to(
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
        with pytest.raises(Conflict, match="has ended with the key or the user that made it"):
            await clients.rotate_secret(unit, lineage.services.oauth.tokens, lineage.clients[client].id)
    assert revoked_at == lineage.clock.now()


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


async def test_a_webhook_whose_maker_was_revoked_is_listed_no_more(lineage: Lineage) -> None:
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
        assert [key.id for key in await queries.list_automation_keys(unit)][:2] == [ids[other], ids[mine]]

    assert await lineage.working() == {other, general}
