"""The settings of an account that the texts of its campaigns, and the price of these, depend on."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from app.domain.accounts import queries as accounts
from app.domain.accounts import sql
from app.domain.campaigns.models import Campaign
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.templates import queries as templates
from app.domain.templates import sql as fallbacks

FIND = f"""
SELECT a.company_name, {fallbacks.fallbacks_of("own.id")} AS fallbacks, a.fold_accents, a.region, a.time_zone
FROM (SELECT $1::bigint AS id) own {sql.join("own.id")}
"""


class Row(Protocol):
    """The values of settings by their names."""

    def __getitem__(self, name: str, /) -> Any: ...


class AccountSettings(NamedTuple):
    """The settings of an account that texts depend on, and the region that prices depend on."""

    company_name: str
    fallbacks: Mapping[str, str]
    fold_accents: bool
    region: str

    @classmethod
    def of(cls, row: Row) -> "AccountSettings":
        """Return the settings of a row."""
        return cls(*(row[name] for name in cls._fields))

    def to_json(self) -> dict[str, Any]:
        """Return the form in which a campaign keeps them."""
        return self._asdict()


async def find(unit: UnitOfWork, campaign: Campaign) -> AccountSettings:
    """Return the settings that a campaign keeps, or else those of the account."""
    if campaign.account_settings is not None:
        return AccountSettings.of(campaign.account_settings)
    account = await accounts.get_own(unit)
    own = account.company_name, await templates.find_fallbacks(unit), account.fold_accents, account.region
    return AccountSettings(*own)
