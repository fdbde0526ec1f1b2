"""Checks texts against the facts about their account."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.accounts import queries as accounts
from app.domain.accounts.models import Account
from app.domain.kernel import links
from app.domain.kernel.phone import InvalidPhone, normalize
from app.domain.kernel.placeholders import Vocabulary
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.numbers import queries as numbers
from app.domain.templates import lint, vocabulary
from app.domain.templates.lint import Finding, Sender


@dataclass(frozen=True, slots=True)
class Checker:
    """Checks the texts of one account."""

    sender: Sender
    vocabulary: Vocabulary

    def check(self, text: str, *, is_template: bool, is_first_promotional: bool = False) -> list[Finding]:
        """Return the findings about a text, the gravest first."""
        known = self.vocabulary if is_template else None
        return lint.check(text, self.sender, known, is_first_promotional=is_first_promotional)


async def find(unit: UnitOfWork, account_ids: Sequence[int]) -> dict[int, Checker]:
    """Return the checker of the actor's account by its id, if it is among the accounts."""
    if unit.actor.account_id not in account_ids:
        return {}
    account = await accounts.get_own(unit)
    owned = {number.phone_number for number in await numbers.list_active(unit)}
    sender = Sender(
        account.company_name,
        account.region,
        _hosts(account),
        frozenset(owned | _phones(account)),
        account.smart_encoding,
        account.fold_accents,
    )
    return {account.id: Checker(sender, await vocabulary.find(unit, of_bookings=True))}


def _hosts(account: Account) -> frozenset[str]:
    """Return the host of the support contact: of its link, or of its e-mail address."""
    found = links.find(account.support_contact.rpartition("@")[2])
    return frozenset(link.host.removeprefix("www.") for link in found)


def _phones(account: Account) -> set[str]:
    try:
        return {normalize(account.support_contact, account.region)}
    except InvalidPhone:
        return set()
