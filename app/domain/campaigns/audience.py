"""Audiences of campaigns: which contacts of an account a campaign reaches."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from app.domain.contacts.models import PipelineStage
from app.domain.kernel.errors import InvalidInput

MAX_IDS, MAX_TAGS = 10_000, 50


@dataclass(frozen=True, slots=True)
class Audience:
    """The contacts that satisfy every given condition; without any condition, no audience was chosen yet.

    `tags`: contacts with any of them. `everyone`: all contacts, said on purpose. Contacts with one of `excluded_tags`
    are part of the audience, and suppressed.
    """

    everyone: bool = False
    tags: Sequence[str] = ()
    stage: PipelineStage | None = None
    contact_ids: Sequence[int] = ()
    excluded_tags: Sequence[str] = ()

    @property
    def is_chosen(self) -> bool:
        """Return whether the audience names anybody."""
        return bool(self.everyone or self.tags or self.stage or self.contact_ids)

    def check(self) -> None:
        """Raise `InvalidInput` for a contradiction, or for more ids or tags than a campaign takes."""
        if self.everyone and (self.tags or self.stage or self.contact_ids):
            reason = "everyone cannot be combined with tags, stage or contact_ids."
            raise InvalidInput(reason=reason, field="audience.everyone")
        if len(self.contact_ids) > MAX_IDS:
            raise InvalidInput(
                reason=f"An audience has at most {MAX_IDS:,} contact_ids. Give the contacts a tag instead.",
                field="audience.contact_ids",
            )
        if max(len(self.tags), len(self.excluded_tags)) > MAX_TAGS:
            raise InvalidInput(reason=f"An audience has at most {MAX_TAGS} tags.", field="audience.tags")

    def to_json(self) -> dict[str, Any]:
        """Return the audience as it is stored."""
        return {
            "everyone": self.everyone,
            "tags": sorted({tag.strip() for tag in self.tags if tag.strip()}),
            "stage": str(self.stage) if self.stage else None,
            "contact_ids": sorted(set(self.contact_ids)),
            "excluded_tags": sorted({tag.strip() for tag in self.excluded_tags if tag.strip()}),
        }

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Self:
        """Return a stored audience."""
        stage = PipelineStage(stored["stage"]) if stored["stage"] else None
        return cls(stored["everyone"], stored["tags"], stage, stored["contact_ids"], stored["excluded_tags"])
