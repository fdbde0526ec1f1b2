"""Renders the text of a campaign for one contact, and encodes it in GSM-7 where that saves parts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Self

from app.domain.campaigns.account_settings import AccountSettings
from app.domain.campaigns.models import Campaign
from app.domain.campaigns.rows import FrozenCampaign
from app.domain.kernel import smart_encoding
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.templates import checking, vocabulary
from app.domain.templates.rendering import CompiledText, Fallbacks, Rendering, compiled


class ContentKey(NamedTuple):
    """The values of a content."""

    body: str
    company_name: str
    fallbacks: Fallbacks
    is_smart_encoded: bool
    fold_accents: bool


@dataclass(frozen=True, slots=True)
class Content:
    """A text with placeholders, and the values and settings that the account supplies; `names` are the placeholders."""

    body: str
    company_name: str
    fallbacks: Mapping[str, str]
    is_smart_encoded: bool = True
    fold_accents: bool = False
    names: frozenset[str] = field(init=False)
    _compiled: CompiledText = field(init=False)

    def __post_init__(self) -> None:
        """Compile the text once for all contacts."""
        object.__setattr__(self, "_compiled", compiled(self.body, self.key.fallbacks))
        object.__setattr__(self, "names", self._compiled.names)

    @classmethod
    def of(cls, key: ContentKey) -> Self:
        """Return the content with some values."""
        return cls(
            key.body,
            key.company_name,
            dict(key.fallbacks),
            is_smart_encoded=key.is_smart_encoded,
            fold_accents=key.fold_accents,
        )

    @classmethod
    def with_settings(cls, campaign: Campaign | FrozenCampaign, settings: AccountSettings) -> Self:
        """Return the content of a campaign with settings of its account."""
        return cls(
            campaign.body,
            settings.company_name,
            settings.fallbacks,
            is_smart_encoded=campaign.is_smart_encoded,
            fold_accents=settings.fold_accents,
        )

    @property
    def key(self) -> ContentKey:
        """Return the values: contents with the same ones are equal."""
        fallbacks = tuple(sorted(self.fallbacks.items()))
        return ContentKey(self.body, self.company_name, fallbacks, self.is_smart_encoded, self.fold_accents)

    def render(self, person: Mapping[str, object]) -> Rendering:
        """Return the text for a contact with the values of `contacts.sql.PLACEHOLDERS`, as it is written."""
        return self._compiled.render({**person, "company_name": self.company_name})

    def encode(self, written: str) -> str:
        """Return the text that is sent."""
        if not self.is_smart_encoded or written.isascii():
            return written
        return smart_encoding.encode(written, fold_accents=self.fold_accents)


async def check(unit: UnitOfWork, body: str) -> None:
    """Raise `InvalidInput` or `MessageTooLong` for a text that is empty, too long, or has a faulty placeholder."""
    checking.check(body, await vocabulary.find(unit), "body")
