"""A simple model of the dependencies of credentials, and an account with the same credentials."""

import asyncio
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal

from app.domain.accounts import api_keys, credentials, invitations, keys, queries, service, users
from app.domain.accounts.api_keys import KeyCannotCreateKeys, NewKey
from app.domain.accounts.errors import PersonRequired
from app.domain.accounts.keys import KeyKind
from app.domain.accounts.models import AccountStatus, Invitation, Role
from app.domain.accounts.scopes import ALL, Scope
from app.domain.accounts.sign_in import authentication
from app.domain.grants.models import Client
from app.domain.kernel.errors import Conflict
from app.domain.kernel.unit_of_work import Actor, UnitOfWork, open_unit
from app.domain.oauth import clients, grants
from app.domain.oauth import queries as oauth
from app.domain.oauth.clients import NewClient
from app.domain.oauth.grants import Consent
from app.domain.onboarding.service import Opened, Opening, open_account
from app.domain.webhooks import ownership
from app.domain.webhooks import service as webhooks
from app.services import Services
from tests.domain.conftest import NOON, SetClock
from tests.factories.accounts import ACCOUNTS
from tests.factories.oauth import OAUTH_GRANTS

HOUR = timedelta(hours=1)
GRANT_LASTS = timedelta(days=365)
USERS = ("ann", "bob")
GRANTS = {"grant of ann": "ann", "grant of bob": "bob"}
SERVICE = "service"
"""The actor of commands: the service itself, which is no credential."""


@dataclass
class Model:
    """Names of credentials and hooks, the creators of each, and those that have ended directly."""

    creators: dict[str, set[str]] = field(default_factory=dict)
    expires: dict[str, datetime] = field(default_factory=dict)
    successors: dict[str, str] = field(default_factory=dict)
    revoked: set[str] = field(default_factory=set)
    is_suspended: bool = False

    def make(self, name: str, actor: str) -> None:
        """Add a record that an actor creates."""
        self.creators[name] = set() if actor == SERVICE else {actor}

    def rotate(self, old: str, new: str, actor: str, now: datetime, overlap: timedelta) -> None:
        """Add the successor of a key, which gets the old key's records, unless the actor depends on the old key."""
        if old not in {actor} | self.needed_by({actor}):
            for made_with in self.creators.values():
                if old in made_with:
                    made_with.discard(old)
                    made_with.add(new)
        self.creators[new] = set(self.creators[old]) | ({actor} - {SERVICE})
        if old in self.expires:
            self.expires[new] = self.expires[old]
        self.expires[old] = min(self.expires.get(old, now + overlap), now + overlap)
        self.successors[old] = new

    def join(self, user: str, invitation: str) -> None:
        """Add the user who accepts an invitation."""
        self.creators[user] = set()
        self.revoked.add(invitation)

    def works(self, name: str, now: datetime) -> bool:
        """Return whether a credential or a hook works."""
        own = name not in self.revoked and self.expires.get(name, now + HOUR) > now
        return own and not any(self._has_ended(each, now) for each in self.needed_by(self.creators.get(name, ())))

    def needed_by(self, made_with: Iterable[str]) -> set[str]:
        """Return the direct and indirect creators, and for a rotated key its successor."""
        needed, waiting = set[str](), list(made_with)
        while waiting:
            name = waiting.pop()
            if name not in needed:
                needed.add(name)
                waiting += self.creators.get(name, ())
                waiting += [self.successors[name]] if name in self.successors else []
        return needed

    def _has_ended(self, name: str, now: datetime) -> bool:
        ran_out = name not in self.successors and self.expires.get(name, now + HOUR) <= now
        return name in self.revoked or ran_out

    def may_make(self, actor: str) -> bool:
        """Return whether an actor may create keys: not with an automation key, nor a key that depends on a key."""
        return not is_key(actor) or not (actor.startswith("auto") or any(map(is_key, self.creators[actor])))


def is_key(name: str) -> bool:
    """Return whether a name is that of a key."""
    return name.startswith(("svc", "auto"))


@dataclass
class Lineage:
    """An account with two users, an application of each, their records, and the model of all."""

    services: Services
    account: Opened
    model: Model = field(default_factory=Model)
    clock: SetClock = field(default_factory=SetClock)
    actors: dict[str, Actor] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    hooks: dict[str, int] = field(default_factory=dict)
    uses: dict[str, tuple[Actor, datetime]] = field(default_factory=dict)
    """The credential of each hook, and the time of its use, which jobs and campaigns store."""
    clients: dict[str, Client] = field(default_factory=dict)
    invited: dict[str, Invitation] = field(default_factory=dict)

    @classmethod
    async def open(cls, services: Services) -> "Lineage":
        """Open an account."""
        number = await ACCOUNTS.count(services)
        opening = Opening("Blue Door", f"owner{number}@example.com", Decimal("0.01"), 0, b"secret")
        async with open_unit(
            services.database.sessions, Actor(0, frozenset()), services.clock, services.notify
        ) as unit:
            lineage = cls(services, await open_account(unit, opening))
        lineage.actors[SERVICE] = Actor(lineage.account.account_id, ALL, "cli")
        for name in USERS:
            await lineage._add_user(name)
        return lineage

    async def make(self, actor: str, kind: KeyKind, lasts: timedelta | None = None) -> str:
        """Create a key; return its name, or None if the actor may not."""
        name, now = f"{kind} {len(self.texts)}", self.clock.now()
        expires_at = now + lasts if lasts else None
        async with self.act(actor) as unit:
            try:
                key, text = await api_keys.create_key(unit, self.services.secret, NewKey(name, kind, None, expires_at))
            except KeyCannotCreateKeys:
                assert not self.model.may_make(actor), f"{actor} must make keys"
                return ""
        assert self.model.may_make(actor), f"{actor} must make no keys"
        self.model.make(name, actor)
        if expires_at:
            self.model.expires[name] = expires_at
        return self._know(name, key.id, text.text)

    async def rotate(self, actor: str, old: str, overlap_hours: int) -> str:
        """Rotate a key; return the name of the new one, or None if it cannot be rotated."""
        new, now = f"{old.split()[0]} {len(self.texts)}", self.clock.now()
        can = self.model.works(old, now) and old not in self.model.successors
        async with self.act(actor) as unit:
            try:
                id = self.actors[old].key_id or 0
                key, text = await api_keys.rotate_key(unit, self.services.secret, id, overlap_hours)
            except Conflict:
                assert not can, f"{old} must be rotated"
                return ""
        assert can, f"{old} must not be rotated"
        self.model.rotate(old, new, actor, now, overlap_hours * HOUR)
        return self._know(new, key.id, text.text)

    async def hook(self, actor: str) -> str:
        """Subscribe to an event."""
        name = f"hook {len(self.hooks)}"
        async with self.act(actor) as unit:
            made = await webhooks.subscribe(unit, self.services.webhooks, "new_contact", "https://example.com/")
        self.hooks[name], self.uses[name] = made.id, (self.actors[actor], made.created_at)
        self.model.make(name, actor)
        return name

    async def register(self, actor: str) -> str:
        """Create an OAuth client."""
        name, new = f"client {len(self.clients)}", NewClient("Made", ["https://example.com/"])
        async with self.act(actor) as unit:
            self.clients[name], _ = await clients.create(unit, self.services.oauth.tokens, new)
        self.model.make(name, actor)
        return name

    async def connect(self, user: str, client: str) -> str:
        """Let a user allow a client."""
        id = self.actors[user].user_id or 0
        async with self.act(user) as unit:
            consent = Consent(id, ALL, "https://sms.example.com", "https://example.com/", None)
            await grants.allow(unit, self.services.oauth.tokens, self.clients[client], consent)
        name = f"grant {len(self.actors)}"
        newest = await OAUTH_GRANTS.last(self.services, "id")
        self.actors[name] = replace(self.actors[user], grant_id=newest)
        self.model.creators[name] = {user, client}
        self.model.expires[name] = self.clock.now() + GRANT_LASTS
        return name

    async def invite(self, actor: str) -> str:
        """Invite a person as an owner; return the invitation's name, or None if the actor is no person."""
        name, is_person = f"invitation {len(self.invited)}", actor in self.people()
        email = f"{name.replace(' ', '')}.{self.account.account_id}@example.com"
        async with self.act(actor) as unit:
            try:
                self.invited[name] = await invitations.invite(
                    unit, self.services.authentication.tokens, email, Role.owner
                )
            except PersonRequired:
                assert not is_person, f"{actor} must invite"
                return ""
        assert is_person or actor == SERVICE, f"{actor} must not invite"
        self.model.make(name, actor)
        self.model.expires[name] = self.clock.now() + invitations.LASTS
        return name

    async def accept(self, invitation: str) -> str:
        """Accept an invitation; return the user's name, or None if it or the account has ended."""
        can = self.model.works(invitation, self.clock.now()) and not self.model.is_suspended
        async with self.act(SERVICE) as unit:
            user = await invitations.accept(unit, self.invited[invitation], "a hash")
        assert (user is not None) == can, f"{invitation} must{'' if can else ' not'} be accepted"
        if user is None:
            return ""
        name = f"user {len(self.actors)}"
        self.actors[name] = authentication.actor_of(user)
        self.model.join(name, invitation)
        return name

    async def end(self, name: str) -> None:
        """Revoke a key, disconnect an application, remove a user or revoke a client."""
        async with self.act(SERVICE) as unit:
            if name in self.clients:
                await clients.revoke(unit, self.clients[name].id)
            elif key_id := self.actors[name].key_id:
                await api_keys.revoke_key(unit, key_id)
            elif grant_id := self.actors[name].grant_id:
                await grants.revoke(unit, grant_id)
            elif name not in self.model.revoked:
                await users.remove(unit, self.actors[name].user_id or 0)
        self.model.revoked.add(name)

    def people(self) -> set[str]:
        """Return the users."""
        return {name for name, actor in self.actors.items() if actor.user_id and not actor.grant_id}

    async def suspend(self, *, suspended: bool) -> None:
        """Suspend or resume the account."""
        status = AccountStatus.suspended if suspended else AccountStatus.active
        await ACCOUNTS.where(id=self.account.account_id).change(self.services, status=status)
        self.model.is_suspended = suspended

    async def working(self) -> set[str]:
        """Return the keys that authenticate, and the hooks that receive."""
        pool, now = self.services.database.pool, self.clock.now()
        good = await asyncio.gather(*(self.is_good(text) for text in self.texts.values()))
        found = {name for name, is_good in zip(self.texts, good, strict=True) if is_good}
        ended = await ownership.find_orphans(pool, list(self.hooks.values()), now)
        return found | {name for name, id in self.hooks.items() if id not in ended}

    async def going_on(self) -> set[str]:
        """Return the hooks that would go on as jobs and campaigns, which store a credential and the time of its use."""
        async with self.act(SERVICE) as unit:
            found = [
                await credentials.may_still(unit, actor, Scope.contacts_write, used_at)
                for actor, used_at in self.uses.values()
            ]
        return {name for name, may_go_on in zip(self.uses, found, strict=True) if may_go_on}

    async def standing(self) -> set[str]:
        """Return the users, connections, clients and invitations that have not ended."""
        now = self.clock.now()
        async with self.act(SERVICE) as unit:
            people = {user.id for user in await queries.list_users(unit)}
            pending = {each.id for each in await invitations.list_pending(unit)}
            known = {client.id for client in await oauth.list_clients(unit) if not client.revoked_at}
        found = {name for name, each in self.clients.items() if each.id in known}
        found |= {name for name, each in self.invited.items() if each.id in pending}
        found |= {name for name, actor in self.actors.items() if actor.user_id in people and not actor.grant_id}
        connected = {name: actor.grant_id for name, actor in self.actors.items() if actor.grant_id}
        live = await oauth.find_live_grants(self.services.database, list(connected.values()), now)
        return found | {name for name, grant_id in connected.items() if grant_id in live}

    async def is_good(self, text: str) -> bool:
        """Return whether a key authenticates."""
        hash = keys.fingerprint(self.services.secret, text)
        found = (await queries.find_live_keys(self.services.database, [hash], self.clock.now())).get(hash)
        return found is not None and not found.is_suspended

    async def shown_as_working(self) -> set[str]:
        """Return the keys that are displayed as neither revoked nor expired."""
        now = self.clock.now()
        async with self.act(SERVICE) as unit:
            shown = {key.id: key for key in await queries.list_keys(unit)}
        good = {id for id, key in shown.items() if not key.revoked_at and (key.expires_at or now + HOUR) > now}
        return {name for name in self.texts if self.actors[name].key_id in good}

    def expected(self) -> tuple[set[str], set[str]]:
        """Return the keys, and the other records, that work in the model, regardless of the account's state."""
        now = self.clock.now()
        others = {*self.hooks, *self.clients, *self.invited, *self.actors} - {*self.texts, SERVICE}
        return {each for each in self.texts if self.model.works(each, now)}, {
            each for each in others if self.model.works(each, now)
        }

    @asynccontextmanager
    async def act(self, actor: str) -> AsyncGenerator[UnitOfWork]:
        """Open a unit of work of an actor."""
        sessions, notify = self.services.database.sessions, self.services.notify
        async with open_unit(sessions, self.actors[actor], self.clock, notify) as unit:
            yield unit

    def _know(self, name: str, id: int, text: str) -> str:
        self.actors[name] = Actor(self.account.account_id, ALL, f"key:{id}", key_id=id)
        self.texts[name] = text
        return name

    async def _add_user(self, name: str) -> None:
        async with self.act(SERVICE) as unit:
            user = await service.add_user(unit, f"{name}{self.account.account_id}@example.com", "seven green bicycles")
            client, _ = await clients.create(
                unit, self.services.oauth.tokens, NewClient(name, ["https://example.com/"])
            )
        self.actors[name] = authentication.actor_of(user)
        async with self.act(name) as unit:
            consent = Consent(user.id, ALL, "https://sms.example.com", "https://example.com/", None)
            await grants.allow(unit, self.services.oauth.tokens, client, consent)
        newest = await OAUTH_GRANTS.last(self.services, "id")
        grant = f"grant of {name}"
        self.actors[grant] = replace(self.actors[name], grant_id=newest)
        self.model.creators |= {name: set(), grant: {name}}
        self.model.expires[grant] = NOON + GRANT_LASTS
