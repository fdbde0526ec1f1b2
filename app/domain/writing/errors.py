"""Errors of generated texts."""

from app.domain.kernel.errors import DomainError

CONNECT = "MESSAGING_AI_BASE_URL, MESSAGING_AI_API_KEY and MESSAGING_AI_MODEL"


class BriefNotUnderstood(DomainError):
    """No AI is connected, and the template writer cannot follow the instructions. Nothing was debited.

    A brief with texts of more than 10 SMS parts is refused too. State the facts, such as "20% off all haircuts this
    Friday", or have the operator [connect an AI](operating.md#ai).
    """

    code = "brief_not_understood"
    status = 422
    about = "description"
    message = (
        "No AI is connected, and the template writer cannot follow this brief ({reason}). State the facts alone, such "
        f'as "20% off all haircuts this Friday", or have the operator connect an AI with {CONNECT}.'
    )


class WriterUnavailable(DomainError):
    """The AI provider returned no usable text: no answer in time, a refusal, or facts that the brief does not state.

    The credit was refunded. Repeating the request with the same idempotency key is safe.
    """

    code = "ai_unavailable"
    status = 503
    message = "The AI provider returned no usable text ({reason}). The credit was refunded. Try again in a minute."


class TooManyCalls(DomainError):
    """The account has too many calls of the AI under way; nothing was debited. Wait until one of them ends."""

    code = "too_many_ai_calls"
    status = 429
    message = "The account has {limit} AI calls under way, which is the maximum. Wait until one of them ends."
