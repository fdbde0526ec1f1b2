"""Generate message copy for one credit."""

from dataclasses import dataclass

from app.domain.accounts import queries as accounts
from app.domain.agents import check
from app.domain.agents.writer import Brief, Writer
from app.domain.billing import prices
from app.domain.billing import service as billing
from app.domain.billing.service import InsufficientCredits
from app.domain.kernel import idempotency
from app.domain.kernel.errors import InvalidInput, Unavailable
from app.domain.kernel.idempotency import Once
from app.domain.kernel.unit_of_work import UnitOfWork

MAX_BRIEF = 1000


@dataclass(frozen=True, slots=True)
class Copy:
    """Candidate texts, the best first, and the balance after the debit."""

    bodies: list[str]
    credits_remaining: int
    replayed: bool = False


async def generate(unit: UnitOfWork, writer: Writer, description: str, key: str | None = None) -> Copy:
    """Write candidates from a description, for one credit, with no transaction open; raise `InsufficientCredits`."""
    description = description.strip()
    if not 1 <= len(description) <= MAX_BRIEF:
        raise InvalidInput(reason=f"description must have 1 to {MAX_BRIEF} characters.", field="description")
    digest = idempotency.fingerprint("generate_copy", description=description)
    done = await idempotency.find_answer(unit, key, digest)
    if done is None:
        candidates = await _write(unit, writer, description)
        done = await _sell(unit, candidates, key, digest)
    return Copy(**done.answer, replayed=done.replayed)


async def _write(unit: UnitOfWork, writer: Writer, description: str) -> list[str]:
    account = await accounts.get_own(unit)
    if account.balance < prices.GENERATE:
        raise InsufficientCredits(needed=prices.GENERATE, balance=account.balance)
    brief = Brief(description, account.company_name)
    await unit.pause()
    candidates = [text for text in await writer.write(brief) if not check.faults(text, brief)]
    if not candidates:
        raise Unavailable()
    return candidates


async def _sell(unit: UnitOfWork, candidates: list[str], key: str | None, digest: str) -> Once:
    """Debit the candidates; a second request with the same key gets the first one's candidates without a debit."""

    async def act() -> dict[str, object]:
        left = await billing.debit(unit, prices.GENERATE, "Message copy")
        return {"bodies": candidates, "credits_remaining": left}

    await billing.lock(unit)
    return await idempotency.once(unit, key, digest, act)
