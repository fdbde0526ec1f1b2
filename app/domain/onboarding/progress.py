"""The steps after which an account reaches phones, and which of them are done."""

import enum
from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.accounts import queries as accounts
from app.domain.carriers import queries as carriers
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.numbers import queries as numbers
from app.domain.quiet_hours import queries as quiet_hours
from app.domain.webhooks import queries as webhooks


class SetupStepName(enum.StrEnum):
    """A step, in the order in which it is best done."""

    company_name = enum.auto()
    support_contact = enum.auto()
    carrier = enum.auto()
    phone_number = enum.auto()
    credits = enum.auto()
    quiet_hours = enum.auto()
    ai = enum.auto()
    payments = enum.auto()
    webhook = enum.auto()


REQUIRED = frozenset(
    {SetupStepName.company_name, SetupStepName.carrier, SetupStepName.phone_number, SetupStepName.credits}
)

DONE = {
    SetupStepName.company_name: "The replies to STOP and HELP name the company.",
    SetupStepName.support_contact: "The reply to HELP names a contact.",
    SetupStepName.carrier: "A carrier is connected.",
    SetupStepName.phone_number: "The account has a number at the carrier.",
    SetupStepName.credits: "The account has credits.",
    SetupStepName.quiet_hours: "Promotional texts wait for the hours that the law and the account's rules allow.",
    SetupStepName.ai: "A language model writes copy and the answers of agents.",
    SetupStepName.payments: "Credits are bought online.",
    SetupStepName.webhook: "Events are posted to a webhook.",
}
OPEN = {
    SetupStepName.company_name: "Set the company name: the replies to STOP and HELP must name it.",
    SetupStepName.support_contact: (
        "Set the support contact, a phone number or an e-mail address: carriers expect it in the reply to HELP."
    ),
    SetupStepName.carrier: (
        "No text reaches a phone: only the sandbox is connected. Add a connection of the account's own, or have the "
        "operator connect a carrier: messaging carrier add."
    ),
    SetupStepName.phone_number: (
        "The account has no number at a carrier. Import the numbers of a connection of its own, or have the operator "
        "assign one: messaging number assign."
    ),
    SetupStepName.credits: (
        "The account has no credits, so every text is refused. Buy some, or have the operator grant some: messaging "
        "credits grant."
    ),
    SetupStepName.quiet_hours: (
        "Promotional texts wait for the hours that the law of the recipient's place allows. Set the account's time "
        "zone, which stands for phones that belong to no place, or add rules of its own."
    ),
    SetupStepName.ai: (
        "No language model is connected: copy is made of templates, and agents hand every open question over. The "
        "operator connects one with MESSAGING_AI_MODEL."
    ),
    SetupStepName.payments: (
        "Credits are granted by the operator. The operator lets people buy them online with MESSAGING_PAYMENTS."
    ),
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
        return self.name in REQUIRED

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


async def get_status(unit: UnitOfWork, *, has_model: bool, sells_online: bool) -> SetupStatus:
    """Return the steps of the unit's account in a service with or without a language model and online payments."""
    account, at_carriers = await accounts.get_own(unit), await carriers.list_real_keys(unit)
    has_number = not at_carriers.isdisjoint(await numbers.list_connections(unit))
    done = {
        SetupStepName.company_name: bool(account.company_name),
        SetupStepName.support_contact: bool(account.support_contact),
        SetupStepName.carrier: bool(at_carriers),
        SetupStepName.phone_number: has_number,
        SetupStepName.credits: account.balance > 0,
        SetupStepName.quiet_hours: bool(account.time_zone) or await quiet_hours.count_own(unit) > 0,
        SetupStepName.ai: has_model,
        SetupStepName.payments: sells_online,
        SetupStepName.webhook: await webhooks.count_subscriptions(unit) > 0,
    }
    return SetupStatus([SetupStep(name, done[name]) for name in SetupStepName], has_number)
