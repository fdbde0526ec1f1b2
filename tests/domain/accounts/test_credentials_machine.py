"""However keys are made, rotated and revoked: a key works, and a webhook receives, exactly if the model says so."""

import asyncio
from datetime import timedelta

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

from app.bootstrap import Services, open_services
from app.domain.accounts.keys import KeyKind
from app.settings import Settings
from tests.domain.accounts.lineage import GRANTS, HOUR, SERVICE, USERS, Lineage
from tests.shared import empty

places = st.integers(0, 30)
overlaps = st.sampled_from([0, 1, 24])
KINDS = st.sampled_from(KeyKind)


class CredentialsMachine(RuleBasedStateMachine):
    """Two users and their applications make keys and webhooks, and end what they like."""

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
        keys, hooks = self.lineage.expected()
        assert self.loop.run(self.lineage.working()) == hooks | (set() if self.lineage.model.is_suspended else keys)
        assert self.loop.run(self.lineage.shown_as_working()) == keys

    def actor(self, place: int) -> str:
        """Return an actor that can act at this moment."""
        now = self.lineage.clock.now()
        able = [name for name in self.lineage.actors if name == SERVICE or self.lineage.model.works(name, now)]
        return able[place % len(able)]

    def key(self, place: int) -> str:
        names = list(self.lineage.texts)
        return names[place % len(names)]


def test_a_key_works_and_a_webhook_receives_exactly_if_the_model_says_so(settings: Settings) -> None:
    with asyncio.Runner() as loop:
        opened = open_services(settings)
        services = loop.run(opened.__aenter__())
        try:
            run_state_machine_as_test(
                lambda: CredentialsMachine(loop, services),
                settings=limits(
                    max_examples=12,
                    stateful_step_count=20,
                    database=None,
                    phases=[Phase.generate],
                    suppress_health_check=list(HealthCheck),
                ),
            )
        finally:
            loop.run(empty(services.database.pool))
            loop.run(opened.__aexit__(None, None, None))
