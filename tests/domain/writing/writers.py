"""Writers that write what the test says."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from app.domain.writing.drafting import Writers
from app.domain.writing.errors import BriefNotUnderstood
from app.domain.writing.writer import Brief, Failure, WriterFailed, Written

GOOD = "Hi {first_name}, 20% off! Reply STOP to opt out."
BRIEF = "20% off all haircuts this Friday"


@dataclass
class Typist:
    """A writer whose answers are texts, a failure, or a reason for a person; the last one is repeated."""

    answers: Sequence[Sequence[str] | Failure | str] = ((GOOD,),)
    provider: str = "openai"
    model: str | None = "gpt"
    refuses: bool = False
    before: Callable[[], Awaitable[None]] | None = None
    briefs: list[Brief] = field(default_factory=list)

    def check(self, brief: Brief) -> None:
        """Refuse if it is to."""
        if self.refuses:
            raise BriefNotUnderstood(reason="a test")

    async def write(self, brief: Brief) -> Written:
        """Return the next answer."""
        self.briefs.append(brief)
        if self.before:
            await self.before()
        answer = self.answers[min(len(self.briefs), len(self.answers)) - 1]
        if isinstance(answer, Failure):
            raise WriterFailed(answer)
        return Written((), 10, 2, answer) if isinstance(answer, str) else Written(answer, 10, 2)


def template(*texts: str, refuses: bool = False) -> Typist:
    """Return a writer in the place of the template writer."""
    return Typist((texts or (GOOD,),), "template", None, refuses)


def writers(model: Typist | None = None, instead: Typist | None = None, **limits: float) -> Writers:
    """Return the writers of a service."""
    return Writers(instead or template(), model, **limits)
