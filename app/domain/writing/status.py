"""The AI that writes texts: which one, or how to connect one."""

from dataclasses import dataclass

from app.domain.billing import prices
from app.domain.writing.drafting import Writers
from app.domain.writing.errors import CONNECT

HOW_TO_CONNECT = (
    f"No AI is connected. The operator connects one by {CONNECT}, and MESSAGING_AI_PROTOCOL for Anthropic. Until then "
    "texts come from templates, and AI agents answer from their FAQ alone."
)


@dataclass(frozen=True, slots=True)
class AiStatus:
    """The provider and model; `how_to_connect` where no AI is connected."""

    is_connected: bool
    provider: str
    model: str | None
    how_to_connect: str | None
    credits_per_call: int
    calls_at_once: int


def get_status(writers: Writers) -> AiStatus:
    """Return the status of the AI."""
    return AiStatus(
        is_connected=writers.model is not None,
        provider=writers.first.provider,
        model=writers.first.model,
        how_to_connect=None if writers.model else HOW_TO_CONNECT,
        credits_per_call=prices.GENERATE,
        calls_at_once=writers.at_once,
    )
