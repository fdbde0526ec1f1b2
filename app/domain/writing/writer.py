"""Port to writers, which generate texts from a brief: a language model, or the template writer."""

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

DEFAULT_COUNT = 3
ANSWERED = 0.55
"""The score of a question of the FAQ from which its answer is a reply without a model."""


class Kind(enum.StrEnum):
    """The kind of a text: copy for one text, the text of a campaign, or a reply in a conversation."""

    copy = enum.auto()
    campaign = enum.auto()
    reply = enum.auto()


class Turn(NamedTuple):
    """One message of a conversation, for the brief of a reply."""

    is_inbound: bool
    body: str


class Passage(NamedTuple):
    """A passage of the knowledge for a reply: a document, or a question with its answer, and its score from 0 to 1."""

    title: str
    text: str
    score: float
    is_answer: bool = False


@dataclass(frozen=True, slots=True)
class Brief:
    """A brief, and the rules for the texts.

    `description` is the customer's own text: together with the company's name, the passages and the customer's part of
    the conversation and the `instructions` of an AI agent it is the only source of facts. A reply is to the last of the
    `turns`; `opening` is put before it, and counts in its length. `faults` are those of an earlier attempt.
    """

    description: str
    company_name: str
    count: int = DEFAULT_COUNT
    kind: Kind = Kind.copy
    audience: str = ""
    tone: str = ""
    instructions: str = ""
    turns: tuple[Turn, ...] = ()
    passages: tuple[Passage, ...] = ()
    placeholders: frozenset[str] = frozenset({"first_name"})
    needs_opt_out: bool = True
    max_parts: int = 10
    opening: str = ""
    faults: tuple[str, ...] = ()

    @property
    def sources(self) -> tuple[str, ...]:
        """Return the texts that may state facts."""
        known = (self.description, self.company_name, self.instructions, *(each.text for each in self.passages))
        return (*known, *(turn.body for turn in self.turns if not turn.is_inbound))

    def opened(self, text: str) -> str:
        """Return a text as it is sent: behind the opening, if there is one."""
        return f"{self.opening} {text}" if self.opening else text


@dataclass(frozen=True, slots=True)
class Written:
    """Texts, the best first, and the tokens that they took.

    Without texts, a reply `needs_person`: a person should answer, for the reason that it gives.
    """

    texts: Sequence[str]
    input_tokens: int = 0
    output_tokens: int = 0
    needs_person: str = ""


class Failure(enum.StrEnum):
    """The cause of a failed call of a writer. `faulty`: no text passed the check."""

    timeout = enum.auto()
    busy = enum.auto()
    rejected = enum.auto()
    unavailable = enum.auto()
    malformed = enum.auto()
    faulty = enum.auto()


class WriterFailed(Exception):
    """The writer returned nothing usable."""

    def __init__(self, failure: Failure, detail: str = "") -> None:
        super().__init__(detail or failure)
        self.failure = failure


class Writer(Protocol):
    """Generates texts from a brief. It states no number, price, date or link that the sources of the brief lack."""

    @property
    def provider(self) -> str:
        """Return the name that people are shown: `template`, or the protocol of the model."""
        ...

    @property
    def model(self) -> str | None:
        """Return the name of the language model; None for the template writer."""
        ...

    def check(self, brief: Brief) -> None:
        """Raise `BriefNotUnderstood` for instructions that it cannot follow. Costs nothing."""
        ...

    async def write(self, brief: Brief) -> Written:
        """Return up to `brief.count` texts, the best first; raise `WriterFailed`."""
        ...
