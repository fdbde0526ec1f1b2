"""Development and production: the default of `messaging serve`, and the settings that each refuses."""

from app.settings import Settings
from app.settings.base_url import is_loopback
from app.settings.errors import MissingSecretKey, UnsafeStart
from app.urls import split

TRY_OUT = (
    "To try the service on this machine alone, set MESSAGING_ENVIRONMENT=development, "
    "and neither MESSAGING_HOST nor MESSAGING_BASE_URL."
)


def for_serve(settings: Settings) -> Settings:
    """Return the settings of `messaging serve`: on loopback it is in development, unless its settings say otherwise."""
    if "environment" in settings.model_fields_set:
        return settings
    is_local = is_loopback(settings.host) and _is_local(settings.public_url)
    return settings.model_copy(update={"environment": "development" if is_local else "production"})


def check(settings: Settings) -> None:
    """Raise `UnsafeStart` for settings that would leave the service open to others, or name half of an AI."""
    _check_ai(settings)
    if settings.in_development:
        _check_development(settings)
    else:
        _check_production(settings)


def _check_ai(settings: Settings) -> None:
    """Refuse half of a connection, which would silently write with templates."""
    has_place = settings.ai_base_url is not None or settings.ai_api_key is not None
    if has_place and settings.ai_model is None:
        raise UnsafeStart("MESSAGING_AI_MODEL is not set. It names the model at the AI provider, such as gpt-5-mini.")
    if settings.ai_model is not None and not has_place:
        raise UnsafeStart(
            "MESSAGING_AI_MODEL is set without MESSAGING_AI_API_KEY or MESSAGING_AI_BASE_URL. Set the key of the AI "
            "provider, or the address of a server of your own."
        )


def _check_development(settings: Settings) -> None:
    if not is_loopback(settings.host):
        raise UnsafeStart(
            f"MESSAGING_HOST is {settings.host}, which others can reach. In development the service listens on "
            "loopback addresses only, such as 127.0.0.1. For others, set MESSAGING_ENVIRONMENT=production."
        )
    if not _is_local(settings.public_url):
        raise UnsafeStart(
            f"MESSAGING_BASE_URL is {settings.base_url}, which others can reach. In development it is a loopback "
            "address, such as http://127.0.0.1:8000, or not set. For others, set MESSAGING_ENVIRONMENT=production."
        )


def _check_production(settings: Settings) -> None:
    if not settings.public_url.startswith("https://") or not settings.base_url:
        fault = f"MESSAGING_BASE_URL is {settings.base_url}" if settings.base_url else "MESSAGING_BASE_URL is not set"
        raise UnsafeStart(
            f"{fault}. In production it is the https address that clients use, such as https://sms.example.com. "
            f"{TRY_OUT}"
        )
    check_secret_key(settings)


def check_secret_key(settings: Settings) -> None:
    """Raise `MissingSecretKey` in production without a secret key."""
    if settings.secret_key is None and not settings.in_development:
        raise MissingSecretKey(
            "MESSAGING_SECRET_KEY is not set. In production it is a random text of at least 32 bytes, such as "
            "`openssl rand -hex 32` prints. Keep it: API keys stop working when it changes."
        )


def _is_local(url: str) -> bool:
    return is_loopback(split(url).hostname or "")
