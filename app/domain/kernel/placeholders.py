"""Types with which an area declares the placeholders that it supplies, and the vocabulary that joins them."""

import enum
import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches


class ValueKind(enum.StrEnum):
    """The kind of a placeholder's value: a text, or an instant in the time zone in which it is shown."""

    text = enum.auto()
    time = enum.auto()


@dataclass(frozen=True, slots=True)
class PlaceholderName:
    """A name that a placeholder may have, such as `first_name`, and an example of its value."""

    name: str
    description: str
    example: str
    kind: ValueKind = ValueKind.text


class Link(str):
    """A value that is a link: it is shown whole, however long it is, or not at all."""

    __slots__ = ()


class Vocabulary:
    """The names that the placeholders of a text may have."""

    def __init__(self, names: Iterable[PlaceholderName]) -> None:
        """Join the names that areas supply; the order is the one in which people are shown them."""
        self.names = {each.name: each for each in names}

    def extend(self, names: Iterable[PlaceholderName]) -> "Vocabulary":
        """Return a vocabulary with further names: those of an account's custom fields, or of a booking."""
        return Vocabulary((*self.names.values(), *names))

    def find_nearest(self, name: str) -> str | None:
        """Return the known name that is spelled most like another one, if any is like it."""
        bare = name.strip().lower().replace(" ", "_").replace("-", "_")
        same = [known for known in self.names if known.replace("_", "") == bare.replace("_", "")]
        part = [known for known in self.names if bare in re.split(r"[._]", known)]
        return next(iter(same or part or get_close_matches(bare, self.names, n=1)), None)
