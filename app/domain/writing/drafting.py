"""Drafts texts: a writer writes, each text is checked, and faulty ones are written again.

No transaction is open meanwhile.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.domain.writing import checking
from app.domain.writing.errors import BriefNotUnderstood
from app.domain.writing.writer import Brief, Failure, Kind, Writer, WriterFailed, Written

ATTEMPTS = 3
NO_AI = "No AI is connected: the template writer wrote these texts."
REASONS = {
    Failure.timeout: "it did not answer in time",
    Failure.busy: "it is busy or its limit is reached",
    Failure.rejected: "it refused the request",
    Failure.unavailable: "it is not available",
    Failure.malformed: "its answer was not readable",
    Failure.faulty: "its texts broke a rule or stated facts that the brief does not",
}


@dataclass(frozen=True, slots=True)
class Writers:
    """The writers of the service: the language model, if one is connected, and the template writer.

    A draft takes at most `seconds`; an account has at most `at_once` calls under way.
    """

    template: Writer
    model: Writer | None = None
    seconds: float = 30
    at_once: int = 4

    @property
    def first(self) -> Writer:
        """Return the writer that is asked first."""
        return self.model or self.template


@dataclass(frozen=True, slots=True)
class Draft:
    """The result of a draft. `failure` is the cause where the AI returned nothing usable; then it costs nothing.

    `texts` may be there all the same: the template writer's. `faults` are those of the last refused text.
    """

    texts: Sequence[str]
    provider: str
    model: str | None
    failure: Failure | None = None
    faults: Sequence[str] = ()
    needs_person: str = ""
    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def notice(self) -> str | None:
        """Return a sentence that names the author of the texts, where that was not the AI."""
        if self.failure:
            return f"The AI provider returned no usable text ({REASONS[self.failure]}). The credit was refunded."
        return None if self.model else NO_AI


async def draft(writers: Writers, brief: Brief) -> Draft:
    """Return checked texts for a brief. Never raises `WriterFailed`; a draft without texts has a cause."""
    if writers.model is None:
        return await _checked(writers.template, brief, attempts=1)
    try:
        async with asyncio.timeout(writers.seconds):
            drafted = await _checked(writers.model, brief, ATTEMPTS)
    except TimeoutError:
        drafted = _failed(writers.model, Failure.timeout)
    return await _fall_back(writers, brief, drafted) if drafted.failure else drafted


async def _checked(writer: Writer, brief: Brief, attempts: int) -> Draft:
    spent: list[Written] = []
    faults: list[str] = []
    for _ in range(attempts):
        try:
            written = await writer.write(replace(brief, faults=tuple(faults)))
        except WriterFailed as problem:
            return _failed(writer, problem.failure, spent)
        spent.append(written)
        if written.needs_person:
            return _done(writer, (), spent, written.needs_person)
        if texts := _acceptable(written, brief):
            return _done(writer, texts, spent)
        faults = [fault for text in written.texts[:1] for fault in checking.faults(text, brief)]
    return replace(_failed(writer, Failure.faulty, spent), faults=tuple(faults))


def _acceptable(written: Written, brief: Brief) -> list[str]:
    texts = dict.fromkeys(text.strip() for text in written.texts)
    return [text for text in texts if not checking.faults(text, brief)][: brief.count]


async def _fall_back(writers: Writers, brief: Brief, failed: Draft) -> Draft:
    """Return the failed draft with texts of the template writer, if it understands the brief. It writes no replies."""
    if brief.kind is Kind.reply:
        return failed
    try:
        writers.template.check(brief)
    except BriefNotUnderstood:
        return failed
    instead = await _checked(writers.template, brief, attempts=1)
    return replace(failed, texts=instead.texts, provider=instead.provider, model=None)


def _done(writer: Writer, texts: Sequence[str], spent: Sequence[Written], needs_person: str = "") -> Draft:
    return replace(_spent(writer, spent), texts=texts, needs_person=needs_person)


def _failed(writer: Writer, failure: Failure, spent: Sequence[Written] = ()) -> Draft:
    return replace(_spent(writer, spent), failure=failure)


def _spent(writer: Writer, spent: Sequence[Written]) -> Draft:
    return Draft(
        (),
        writer.provider,
        writer.model,
        input_tokens=sum(each.input_tokens for each in spent),
        output_tokens=sum(each.output_tokens for each in spent),
    )
