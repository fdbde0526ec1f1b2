"""The texts of a campaign: contacts with the same values of its placeholders have the same text."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import itemgetter
from typing import Any

from app.domain.campaigns.content import Content, ContentKey
from app.domain.campaigns.reasons import Reason
from app.domain.contacts import placeholders
from app.domain.contacts.custom_fields import Value
from app.domain.kernel import sms_parts
from app.domain.kernel.blank_texts import is_blank
from app.domain.kernel.sms_parts import Encoding

MOST_KEPT = 10_000
"""The number of texts that are kept for the next contact with the same values."""

CUSTOM, CUSTOM_FIELDS = "custom.", "custom_fields"


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """A text; with a `reason` it is not sent. Each equals itself only, which lets many be counted fast.

    `missing` are the placeholders without a value, `original_body` is the text before smart encoding where that
    changed it.
    """

    body: str
    encoding: Encoding
    segments: int
    missing: tuple[str, ...] = ()
    original_body: str | None = None
    reason: str = ""


UNSENT = Text("", Encoding.gsm_7, 0)
"""The text of a contact that gets none."""


@dataclass(slots=True)
class Texts:
    """Renders texts for rows of contacts, whose `columns` have the names of placeholders."""

    content: Content
    columns: Sequence[str]
    is_strict: bool
    max_segments: int
    _names: list[str] = field(init=False)
    _custom: list[str] = field(init=False)
    _pick: Callable[[Sequence[Any]], Hashable] = field(init=False)
    _kept: dict[Hashable, Text] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        """Find the columns that the text depends on."""
        self._names = [name for name in self.columns if name in self.content.names]
        self._custom = sorted(name.removeprefix(CUSTOM) for name in self.content.names if name.startswith(CUSTOM))
        places = [self.columns.index(name) for name in self._names]
        self._pick = itemgetter(*places) if places else lambda _: None

    @classmethod
    def shared(cls, content: Content, *, is_strict: bool, max_segments: int, columns: tuple[str, ...]) -> "Texts":
        """Return the texts of a content that was asked for before, such as for the chunk before, or new ones."""
        return _texts_of(content.key, is_strict, max_segments, columns)

    @property
    def needed(self) -> Sequence[str]:
        """Return the columns that the text depends on."""
        return [*self._names, CUSTOM_FIELDS] if self._custom else self._names

    def find(self, row: Sequence[Any], custom: dict[str, Value] | None) -> Text:
        """Return the text for a row of a contact with custom fields."""
        key = self._pick(row)
        if self._custom:
            known = custom or {}
            key = key, *(repr(known.get(name)) for name in self._custom)
        found = self._kept.get(key)
        if found is None:
            found = self._render(row, custom)
            if len(self._kept) < MOST_KEPT:
                self._kept[key] = found
        return found

    def _render(self, row: Sequence[Any], custom: dict[str, Value] | None) -> Text:
        values = {name: row[self.columns.index(name)] for name in self._names}
        rendering = self.content.render(placeholders.values(values, custom or {}))
        body = self.content.encode(rendering.text)
        parts = sms_parts.count(body)
        written = None if body == rendering.text else rendering.text
        reason = self._refuse(body, parts.segments, rendering.missing)
        return Text(body, parts.encoding, parts.segments, rendering.missing, written, reason)

    def _refuse(self, body: str, segments: int, missing: tuple[str, ...]) -> str:
        if missing and self.is_strict:
            return Reason.missing_merge_field
        if is_blank(body):
            return Reason.empty_text
        is_long = len(body) > sms_parts.MAX_LENGTH or segments > self.max_segments
        return Reason.message_too_long if is_long else ""


@lru_cache(2)
def _texts_of(key: ContentKey, is_strict: bool, max_segments: int, columns: tuple[str, ...]) -> Texts:
    return Texts(Content.of(key), columns, is_strict, max_segments)
