"""The context of resolvers."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import NoneType
from typing import Any, TypeVar, cast, get_args, get_type_hints

import strawberry
from strawberry.dataloader import DataLoader

from app.domain.consent import queries as consents
from app.domain.consent.models import Consent
from app.domain.contacts import queries as contacts
from app.domain.contacts.models import Contact
from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.sequences import queries as sequences
from app.domain.sequences.models import Sequence as DripSequence
from app.domain.sequences.models import Step
from app.domain.webhooks import queries as webhooks
from app.domain.webhooks.models import Attempt
from app.services import Services

T = TypeVar("T")

Pause = Callable[[], Awaitable[None]]
"""Lets others go on, in the middle of an operation that computes for long."""


@dataclass(slots=True)
class Context:
    """One operation's unit and the services.

    `replayed` is set when an idempotency key was answered before. `last_event_id` is where a client that lost its
    stream wants to go on. `pause` is there for an operation that computes for long.
    """

    unit: UnitOfWork
    services: Services
    replayed: bool = False
    last_event_id: int | None = None
    pause: Pause | None = None
    _contacts: DataLoader[int, Contact] | None = field(default=None)
    _consents: DataLoader[str, list[Consent]] | None = field(default=None)
    _attempts: DataLoader[int, list[Attempt]] | None = field(default=None)
    _sequences: DataLoader[int, DripSequence] | None = field(default=None)
    _steps: DataLoader[int, list[Step]] | None = field(default=None)

    @property
    def contacts(self) -> DataLoader[int, Contact]:
        """Return the loader of contacts by id, which asks once for all that one level of a query needs."""
        if self._contacts is None:
            self._contacts = DataLoader(load_fn=self._load_contacts)
        return self._contacts

    async def _load_contacts(self, ids: Sequence[int]) -> list[Contact | BaseException]:
        found = await contacts.find_many(self.unit, ids)
        return [found.get(id, LookupError(id)) for id in ids]

    @property
    def consents(self) -> DataLoader[str, list[Consent]]:
        """Return the loader of what is recorded of the consent of phones, by the phone."""
        if self._consents is None:
            self._consents = DataLoader(load_fn=self._load_consents)
        return self._consents

    async def _load_consents(self, phones: Sequence[str]) -> list[list[Consent]]:
        found: dict[str, list[Consent]] = {phone: [] for phone in phones}
        for consent in await consents.find_consents(self.unit, phones):
            found[consent.phone].append(consent)
        return list(found.values())

    @property
    def attempts(self) -> DataLoader[int, list[Attempt]]:
        """Return the loader of the attempts of webhook deliveries, by the delivery's id."""
        if self._attempts is None:
            self._attempts = DataLoader(load_fn=self._load_attempts)
        return self._attempts

    async def _load_attempts(self, delivery_ids: Sequence[int]) -> list[list[Attempt]]:
        found: dict[int, list[Attempt]] = {id: [] for id in delivery_ids}
        for attempt in await webhooks.find_attempts(self.unit, delivery_ids):
            found[attempt.delivery_id].append(attempt)
        return list(found.values())

    @property
    def sequences(self) -> DataLoader[int, DripSequence]:
        """Return the loader of drip sequences by id."""
        if self._sequences is None:
            self._sequences = DataLoader(load_fn=self._load_sequences)
        return self._sequences

    async def _load_sequences(self, ids: Sequence[int]) -> list[DripSequence | BaseException]:
        found = await sequences.find_many(self.unit, ids)
        return [found.get(id, LookupError(id)) for id in ids]

    @property
    def steps(self) -> DataLoader[int, list[Step]]:
        """Return the loader of the steps of drip sequences, by the sequence's id."""
        if self._steps is None:
            self._steps = DataLoader(load_fn=self._load_steps)
        return self._steps

    async def _load_steps(self, sequence_ids: Sequence[int]) -> list[list[Step]]:
        found: dict[int, list[Step]] = {id: [] for id in sequence_ids}
        for step in await sequences.find_steps(self.unit, sequence_ids):
            found[step.sequence_id].append(step)
        return list(found.values())


Info = strawberry.Info[Context, None]


def given(values: dict[str, Any], shape: type[T]) -> T:
    """Return the fields that the caller wrote, and none that were left out.

    Raises `InvalidInput` for a null where the shape takes none. Fields are `Maybe[… | None]` for that: of a null for
    `Maybe[…]` Strawberry says neither the name nor anything that a caller understands.
    """
    written = {name: value.value for name, value in values.items() if value is not None}
    for name, value in written.items():
        if value is None and name not in _emptiable(shape):
            raise InvalidInput(reason=f"{name} must not be null. Leave it out to keep what is there.")
    return cast("T", written)


@cache
def _emptiable(shape: type) -> frozenset[str]:
    """Return the fields of a shape that may be null."""
    return frozenset(name for name, hint in get_type_hints(shape).items() if NoneType in get_args(hint))
