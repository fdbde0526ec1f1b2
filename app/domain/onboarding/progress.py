"""The steps after which an account reaches phones, and which of them are done."""

import enum
from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.accounts import queries as accounts
from app.domain.carriers import queries as carriers
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.numbers import queries as numbers
from app.domain.webhooks import queries as webhooks


class SetupStepName(enum.StrEnum):
    """A step, in the order in which it is best done."""

    company_name = enum.auto()
    carrier = enum.auto()
    phone_number = enum.auto()
    credits = enum.auto()
    webhook = enum.auto()


OPTIONAL = frozenset({SetupStepName.webhook})

DONE = {
    SetupStepName.company_name: "The replies to STOP and HELP name the company.",
    SetupStepName.carrier: "A carrier is connected.",
    SetupStepName.phone_number: "The account has a number at the carrier.",
    SetupStepName.credits: "The account has credits.",
    SetupStepName.webhook: "Events are posted to a webhook.",
}
OPEN = {
    SetupStepName.company_name: "Set the company name: the replies to STOP and HELP must name it.",
    SetupStepName.carrier: (
        "No text reaches a phone: only the sandbox is connected. Add a connection of the account's own, or have the "
        "operator connect a carrier."
    ),
    SetupStepName.phone_number: (
        "The account has no number at a carrier. Import the numbers of a connection of its own, or have the operator "
        "assign one."
    ),
    SetupStepName.credits: "The account has no credits, so every text is refused. Have the operator grant some.",
    SetupStepName.webhook: "Add a webhook to be sent inbound texts and delivery reports.",
}


@dataclass(frozen=True, slots=True)
class SetupStep:
    """A step, and a sentence that says its result, or the action that it needs."""

    name: SetupStepName
    is_done: bool

    @property
    def is_required(self) -> bool:
        """Return whether texts reach no phone, or are not lawful, before the step is done."""
        return self.name not in OPTIONAL

    @property
    def text(self) -> str:
        """Return the sentence."""
        return (DONE if self.is_done else OPEN)[self.name]


@dataclass(frozen=True, slots=True)
class SetupStatus:
    """The steps of an account. Texts reach phones once a number of it is at a carrier other than the sandbox."""

    steps: Sequence[SetupStep]
    texts_reach_phones: bool

    @property
    def next_step(self) -> SetupStepName | None:
        """Return the first required step that is open."""
        return next((step.name for step in self.steps if step.is_required and not step.is_done), None)


async def get_status(unit: UnitOfWork) -> SetupStatus:
    """Return the steps of the unit's account."""
    account, at_carriers = await accounts.get_own(unit), await carriers.list_real_keys(unit)
    has_number = not at_carriers.isdisjoint(await numbers.list_connections(unit))
    done = {
        SetupStepName.company_name: bool(account.company_name),
        SetupStepName.carrier: bool(at_carriers),
        SetupStepName.phone_number: has_number,
        SetupStepName.credits: account.balance > 0,
        SetupStepName.webhook: await webhooks.count_subscriptions(unit) > 0,
    }
    return SetupStatus([SetupStep(name, done[name]) for name in SetupStepName], has_number)
