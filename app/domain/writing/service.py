"""Generate message copy and campaign texts, for one credit a call."""

from dataclasses import asdict, dataclass

from app.domain.accounts import queries as accounts
from app.domain.billing import service as billing
from app.domain.kernel import idempotency
from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.idempotency import IdempotencyKeyReused, Once
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.templates import vocabulary
from app.domain.writing import calls, drafting
from app.domain.writing.calls import apart
from app.domain.writing.drafting import REASONS, Draft, Writers
from app.domain.writing.errors import BriefNotUnderstood, WriterUnavailable
from app.domain.writing.models import CallKind
from app.domain.writing.writer import DEFAULT_COUNT, Brief, Failure, Kind

MAX_BRIEF, MAX_HINT, MAX_COUNT = 1000, 200, 5


@dataclass(frozen=True, slots=True)
class Copy:
    """Candidate texts, the best first, the balance after the debit, and their author."""

    bodies: list[str]
    credits_remaining: int
    provider: str
    model: str | None
    notice: str | None
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class Composition:
    """The request for campaign texts: the goal, and hints on the audience and the tone, each at most 200 characters."""

    goal: str
    audience: str = ""
    tone: str = ""
    count: int = DEFAULT_COUNT


async def generate(unit: UnitOfWork, writers: Writers, description: str, key: str | None = None) -> Copy:
    """Write candidates from a description, for one credit, with no transaction open.

    Raises `InvalidInput`, `BriefNotUnderstood` (free), `InsufficientCredits`, `TooManyCalls`, and `WriterUnavailable`
    after the refund.
    """
    description = _bounded(description, "description", 1, MAX_BRIEF)
    digest = idempotency.fingerprint("generate_copy", description=description)
    done = await idempotency.find_answer(unit, key, digest)
    if done is None:
        account = await accounts.get_own(unit)
        brief = Brief(description, account.company_name)
        done = await _call(unit, writers, CallKind.copy, brief, Request(key, digest))
    return Copy(**done.answer, replayed=done.replayed)


async def compose(unit: UnitOfWork, writers: Writers, wanted: Composition, key: str | None = None) -> Copy:
    """Write texts for a campaign, for one credit; they may have each placeholder of the account. Raises as above."""
    wanted = Composition(
        _bounded(wanted.goal, "goal", 1, MAX_BRIEF),
        _bounded(wanted.audience, "audience", 0, MAX_HINT),
        _bounded(wanted.tone, "tone", 0, MAX_HINT),
        wanted.count,
    )
    if not 1 <= wanted.count <= MAX_COUNT:
        raise InvalidInput(reason=f"count must be from 1 to {MAX_COUNT}.", field="count")
    digest = idempotency.fingerprint("compose_copy", **asdict(wanted))
    done = await idempotency.find_answer(unit, key, digest)
    if done is None:
        account, known = await accounts.get_own(unit), await vocabulary.find(unit)
        brief = Brief(
            wanted.goal,
            account.company_name,
            wanted.count,
            Kind.campaign,
            wanted.audience,
            wanted.tone,
            placeholders=frozenset(known.names),
        )
        done = await _call(unit, writers, CallKind.campaign, brief, Request(key, digest))
    return Copy(**done.answer, replayed=done.replayed)


BRIEFS = {CallKind.copy: "description", CallKind.campaign: "goal"}
"""The argument with the facts of each kind of call."""


@dataclass(frozen=True, slots=True)
class Request:
    """The idempotency key of a request, if it has one, and its fingerprint."""

    key: str | None
    digest: str


async def _call(unit: UnitOfWork, writers: Writers, kind: CallKind, brief: Brief, request: Request) -> Once:
    """Debit, draft and end a call; refund it if no text came, or another request used the key meanwhile."""
    try:
        writers.first.check(brief)
    except BriefNotUnderstood as fault:
        fault.field = BRIEFS[kind]
        raise
    call_id = await calls.begin(unit, writers, kind)
    drafted = await drafting.draft(writers, brief)
    if not drafted.texts:
        await _give_up(unit, call_id, drafted)
        raise WriterUnavailable(reason=REASONS[drafted.failure or Failure.faulty])
    try:
        return await _conclude(unit, call_id, drafted, request)
    except IdempotencyKeyReused:
        await _give_up(unit, call_id, drafted)
        raise


async def _conclude(unit: UnitOfWork, call_id: int, drafted: Draft, request: Request) -> Once:
    """End a call with its texts, or with those that a request with the same key got meanwhile, and a refund."""
    async with apart(unit) as own:
        await billing.lock(own)
        done = await idempotency.once(own, request.key, request.digest, lambda: _result(own, call_id, drafted))
        if done.replayed:
            await calls.end(own, call_id, drafted, is_paid=False)
    return done


async def _result(unit: UnitOfWork, call_id: int, drafted: Draft) -> dict[str, object]:
    ended = await calls.end(unit, call_id, drafted, is_paid=drafted.failure is None)
    return {
        "bodies": list(drafted.texts),
        "credits_remaining": ended.credits_remaining,
        "provider": drafted.provider,
        "model": drafted.model,
        "notice": drafted.notice,
    }


async def _give_up(unit: UnitOfWork, call_id: int, drafted: Draft) -> None:
    async with apart(unit) as own:
        await billing.lock(own)
        await calls.end(own, call_id, drafted, is_paid=False)


def _bounded(text: str, field: str, least: int, most: int) -> str:
    text = text.strip()
    if not least <= len(text) <= most:
        raise InvalidInput(reason=f"{field} must have {least} to {most} characters.", field=field)
    return text
