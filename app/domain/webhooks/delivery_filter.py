"""Filters of lists of deliveries, in conditions that their indexes find."""

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Integer, literal_column

from app.domain.events import history
from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.histories import between
from app.domain.webhooks.models import Delivery, DeliveryStatus

MIN_ANSWER, MAX_ANSWER = 100, 999

IS_UNDELIVERED = Delivery.status != literal_column(f"'{DeliveryStatus.delivered}'")
"""The condition of a partial index, as a constant: a plan for any parameters could not use the index."""

IS_ATTEMPTED = Delivery.attempts > literal_column("0", Integer)


class Answer(enum.StrEnum):
    """The class of the answer to the last attempt of a delivery."""

    success = enum.auto()
    redirect = enum.auto()
    client_error = enum.auto()
    server_error = enum.auto()
    none = enum.auto()


HUNDREDS = {Answer.redirect: 3, Answer.client_error: 4, Answer.server_error: 5}


@dataclass(frozen=True, slots=True)
class DeliveryFilter:
    """Filter of a list of deliveries. `event` is the name that the webhook has for it; `until` is exclusive."""

    subscription_id: int | None = None
    status: DeliveryStatus | None = None
    event: str | None = None
    contact_id: int | None = None
    answer: Answer | None = None
    answer_status: int | None = None
    since: datetime | None = None
    until: datetime | None = None

    def conditions(self, account_id: int) -> Iterator[ColumnElement[bool]]:
        """Yield the conditions on the deliveries of an account; raise `InvalidInput`."""
        equal = {
            Delivery.subscription_id: self.subscription_id,
            Delivery.status: self.status,
            Delivery.event: self.event,
        }
        yield from (column == value for column, value in equal.items() if value is not None)
        if self.status not in (None, DeliveryStatus.delivered):
            yield IS_UNDELIVERED
        if self.contact_id is not None:
            yield Delivery.event_id.in_(history.ids_of(account_id, self.contact_id))
        yield from self._answered()
        yield from between(Delivery, account_id, self.since, self.until)

    def _answered(self) -> Iterator[ColumnElement[bool]]:
        if self.answer is Answer.success:
            yield Delivery.status == DeliveryStatus.delivered
        elif self.answer is not None:
            yield from _failed_with(HUNDREDS.get(self.answer))
        if self.answer_status is None:
            return
        if not MIN_ANSWER <= self.answer_status <= MAX_ANSWER:
            reason = f"answer_status must be from {MIN_ANSWER} to {MAX_ANSWER}."
            raise InvalidInput(reason=reason, field="answer_status")
        yield Delivery.answer_status == self.answer_status


def _failed_with(digit: int | None) -> Iterator[ColumnElement[bool]]:
    """Yield the conditions of the partial index of answers other than successes, by the first digit of the status."""
    yield IS_UNDELIVERED
    yield IS_ATTEMPTED
    yield Delivery.answer_status // literal_column("100", Integer) == digit
