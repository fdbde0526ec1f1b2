"""Writing message copy for people."""

from dataclasses import dataclass

from app.domain.accounts import queries as accounts
from app.domain.agents import check
from app.domain.agents.writer import Brief, Writer
from app.domain.billing import prices
from app.domain.billing import service as billing
from app.domain.kernel import idempotency
from app.domain.kernel.errors import InvalidInput, Unavailable
from app.domain.kernel.unit import Unit

MAX_BRIEF = 1000


@dataclass(frozen=True, slots=True)
class Copy:
    """Candidate texts, the best first, and what the account holds after paying for them."""

    messages: list[str]
    credits_remaining: int
    replayed: bool = False


async def generate(unit: Unit, writer: Writer, description: str, key: str | None = None) -> Copy:
    """Write candidates from a description, for one credit; raise `InsufficientCredits`."""
    description = description.strip()
    if not 1 <= len(description) <= MAX_BRIEF:
        raise InvalidInput(reason=f"description must have 1 to {MAX_BRIEF} characters.")

    async def act() -> dict[str, object]:
        left = await billing.debit(unit, prices.GENERATE, "Message copy")
        account = await accounts.get_own(unit)
        brief = Brief(description, account.company_name)
        candidates = [text for text in await writer.write(brief) if not check.faults(text, brief)]
        if not candidates:
            raise Unavailable()
        return {"messages": candidates, "credits_remaining": left}

    digest = idempotency.fingerprint("generate_copy", description=description)
    done = await idempotency.once(unit, key, digest, act)
    return Copy(**done.answer, replayed=done.replayed)
