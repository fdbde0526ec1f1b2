"""However credentials are made, rotated and ended: what is made with them works exactly if the model says so.

That is also so for jobs and campaigns, which store a credential and the time of its use in place of a creator.
"""

import asyncio
from collections.abc import Iterable
from datetime import timedelta

import uvloop
from hypothesis import HealthCheck, Phase
from hypothesis import settings as limits
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from app.bootstrap import open_services
from app.domain.accounts.keys import KeyKind
from app.services import Services
from app.settings import Settings
from tests.domain.accounts.lineage import GRANTS, HOUR, SERVICE, USERS, Lineage
from tests.shared import empty

places = st.integers(0, 30)
overlaps = st.sampled_from([0, 1, 24])
KINDS = st.sampled_from(KeyKind)


class CredentialsMachine(RuleBasedStateMachine):
    """Users and their applications make keys, webhooks, clients and invitations, and end what they like."""

    def __init__(self, loop: asyncio.Runner, services: Services) -> None:
        super().__init__()
        self.loop = loop
        self.services = services
        self.lineage: Lineage

    @initialize()
    def open(self) -> None:
        self.lineage = self.loop.run(Lineage.open(self.services))

    @rule(actor=places, kind=KINDS, lasts=st.sampled_from([None, None, 2 * HOUR]))
    def make(self, actor: int, kind: KeyKind, lasts: timedelta | None) -> None:
        self.loop.run(self.lineage.make(self.actor(actor), kind, lasts))

    @precondition(lambda self: bool(self.lineage.texts))
    @rule(actor=places, key=places, overlap=overlaps)
    def rotate(self, actor: int, key: int, overlap: int) -> None:
        self.loop.run(self.lineage.rotate(self.actor(actor), self.key(key), overlap))

    @precondition(lambda self: bool(self.lineage.texts))
    @rule(key=places, overlap=overlaps)
    def rotate_itself(self, key: int, overlap: int) -> None:
        name = self.key(key)
        if self.lineage.model.works(name, self.lineage.clock.now()):
            self.loop.run(self.lineage.rotate(name, name, overlap))

    @rule(actor=places)
    def hook(self, actor: int) -> None:
        self.loop.run(self.lineage.hook(self.actor(actor)))

    @rule(actor=places)
    def register(self, actor: int) -> None:
        self.loop.run(self.lineage.register(self.actor(actor)))

    @precondition(lambda self: bool(self.lineage.clients))
    @rule(user=places, client=places)
    def connect(self, user: int, client: int) -> None:
        now, lineage = self.lineage.clock.now(), self.lineage
        people = [name for name in lineage.actors if name in lineage.people() and lineage.model.works(name, now)]
        if people:
            self.loop.run(lineage.connect(pick(people, user), pick(lineage.clients, client)))

    @rule(actor=places)
    def invite(self, actor: int) -> None:
        self.loop.run(self.lineage.invite(self.actor(actor)))

    @precondition(lambda self: bool(self.lineage.invited))
    @rule(invitation=places)
    def accept(self, invitation: int) -> None:
        self.loop.run(self.lineage.accept(pick(self.lineage.invited, invitation)))

    @precondition(lambda self: bool(self.lineage.clients))
    @rule(client=places)
    def revoke_client(self, client: int) -> None:
        self.loop.run(self.lineage.end(pick(self.lineage.clients, client)))

    @precondition(lambda self: bool(self.lineage.texts))
    @rule(key=places)
    def revoke(self, key: int) -> None:
        self.loop.run(self.lineage.end(self.key(key)))

    @rule(name=st.sampled_from([*USERS, *GRANTS, *GRANTS]))
    def end(self, name: str) -> None:
        self.loop.run(self.lineage.end(name))

    @rule(hours=st.sampled_from([1, 2, 24]))
    def wait(self, hours: int) -> None:
        self.lineage.clock.at += hours * HOUR

    @rule(suspended=st.booleans())
    def suspend(self, suspended: bool) -> None:
        self.loop.run(self.lineage.suspend(suspended=suspended))

    @invariant()
    def what_works_is_what_the_model_says(self) -> None:
        if not hasattr(self, "lineage"):
            return
        keys, others = self.lineage.expected()
        found = self.loop.run(self.lineage.working()) | self.loop.run(self.lineage.standing())
        assert found == others | (set() if self.lineage.model.is_suspended else keys)
        assert self.loop.run(self.lineage.shown_as_working()) == keys
        assert self.loop.run(self.lineage.going_on()) == others & self.lineage.hooks.keys()

    def actor(self, place: int) -> str:
        """Return an actor that can act at this moment."""
        now = self.lineage.clock.now()
        return pick(
            [name for name in self.lineage.actors if name == SERVICE or self.lineage.model.works(name, now)], place
        )

    def key(self, place: int) -> str:
        return pick(self.lineage.texts, place)


def pick(names: Iterable[str], place: int) -> str:
    found = list(names)
    return found[place % len(found)]


def test_credentials_and_webhooks_work_exactly_when_the_model_says_so(settings: Settings) -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as loop:
        opened = open_services(settings)
        services = loop.run(opened.__aenter__())
        try:
            run_state_machine_as_test(
                lambda: CredentialsMachine(loop, services),
                settings=limits(
                    max_examples=10,
                    stateful_step_count=20,
                    database=None,
                    phases=[Phase.generate],
                    suppress_health_check=list(HealthCheck),
                ),
            )
        finally:
            loop.run(empty(services.database.pool))
            loop.run(opened.__aexit__(None, None, None))
