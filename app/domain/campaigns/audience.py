"""Audiences of campaigns: which contacts of an account a campaign reaches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from app.domain.contacts.models import PipelineStage
from app.domain.contacts.service import MAX_TAG
from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.segments import filters
from app.domain.segments import queries as segments
from app.domain.segments.filters import Node

MAX_IDS, MAX_TAGS = 10_000, 50


@dataclass(frozen=True, slots=True)
class Audience:
    """The contacts that satisfy every given condition; without any condition, no audience was chosen yet.

    `tags`: contacts with any of them. `everyone`: all contacts, said on purpose. Contacts with one of `excluded_tags`
    are part of the audience, and suppressed, as are those of the excluded segment, those without a recorded consent if
    it `requires_consent`, and those who wrote within a day if it `skips_live_conversations`. `filter` and
    `excluded_filter` are the stored filters of the segments, once they were read.
    """

    everyone: bool = False
    tags: Sequence[str] = ()
    stage: PipelineStage | None = None
    contact_ids: Sequence[int] = ()
    excluded_tags: Sequence[str] = ()
    segment_id: int | None = None
    filter: Mapping[str, Any] | None = None
    excluded_segment_id: int | None = None
    excluded_filter: Mapping[str, Any] | None = None
    requires_consent: bool = False
    skips_live_conversations: bool = False

    @property
    def is_chosen(self) -> bool:
        """Return whether the audience names a contact."""
        return self.everyone or self._is_narrowed

    @property
    def _is_narrowed(self) -> bool:
        return bool(self.tags or self.stage or self.contact_ids) or self.segment_id is not None

    def check(self) -> None:
        """Raise `InvalidInput` for a contradiction, or for more ids or tags than a campaign takes."""
        if self.everyone and self._is_narrowed:
            reason = "everyone cannot be combined with tags, stage, contact_ids or segment_id."
            raise InvalidInput(reason=reason, field="audience.everyone")
        if len(self.contact_ids) > MAX_IDS:
            raise InvalidInput(
                reason=f"An audience has at most {MAX_IDS:,} contact_ids. Give the contacts a tag instead.",
                field="audience.contact_ids",
            )
        if max(len(self.tags), len(self.excluded_tags)) > MAX_TAGS:
            raise InvalidInput(reason=f"An audience has at most {MAX_TAGS} tags.", field="audience.tags")
        if any(len(tag.strip()) > MAX_TAG for tag in (*self.tags, *self.excluded_tags)):
            raise InvalidInput(reason=f"A tag has at most {MAX_TAG} characters.", field="audience.tags")

    def to_json(self) -> dict[str, Any]:
        """Return the audience as it is stored."""
        return {
            "everyone": self.everyone,
            "tags": sorted({tag.strip() for tag in self.tags if tag.strip()}),
            "stage": str(self.stage) if self.stage else None,
            "contact_ids": sorted(set(self.contact_ids)),
            "excluded_tags": sorted({tag.strip() for tag in self.excluded_tags if tag.strip()}),
            "segment_id": self.segment_id,
            "filter": self.filter,
            "excluded_segment_id": self.excluded_segment_id,
            "excluded_filter": self.excluded_filter,
            "requires_consent": self.requires_consent,
            "skips_live_conversations": self.skips_live_conversations,
        }

    def find_filter(self) -> Node | None:
        """Return the filter of the segment, if there is one; it was read before."""
        assert (self.segment_id is None) is (self.filter is None)
        return filters.load(self.filter) if self.filter else None

    def find_excluded(self) -> Node | None:
        """Return the filter of the segment that is excluded, if there is one; it was read before."""
        assert (self.excluded_segment_id is None) is (self.excluded_filter is None)
        return filters.load(self.excluded_filter) if self.excluded_filter else None

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Self:
        """Return a stored audience."""
        stage = PipelineStage(stored["stage"]) if stored["stage"] else None
        segment = stored.get("segment_id"), stored.get("filter")
        excluded = stored.get("excluded_segment_id"), stored.get("excluded_filter")
        only = stored.get("requires_consent", False), stored.get("skips_live_conversations", False)
        chosen = stored["everyone"], stored["tags"], stage, stored["contact_ids"], stored["excluded_tags"]
        return cls(*chosen, *segment, *excluded, *only)


async def read(unit: UnitOfWork, stored: dict[str, Any]) -> Audience:
    """Return a stored audience with the filters that its segments have now, unless the audience was frozen before."""
    audience = Audience.from_json(stored)
    if audience.segment_id is not None and audience.filter is None:
        audience = replace(audience, filter=(await segments.get(unit, audience.segment_id)).filter)
    if audience.excluded_segment_id is not None and audience.excluded_filter is None:
        excluded = await segments.get(unit, audience.excluded_segment_id)
        audience = replace(audience, excluded_filter=excluded.filter)
    return audience
