"""Errors of integrations."""

from app.domain.kernel.errors import DomainError


class IntegrationRemoved(Exception):
    """An integration was removed while a worker worked for it."""


class UnsignedEvent(DomainError):
    """An event for an integration has a wrong or old signature, or a wrong secret or none. Nothing was stored.

    The error says which signature or secret the address takes.
    """

    code = "unsigned_event"
    status = 403
    message = "{reason}"


class IntegrationSecretReused(DomainError):
    """The new secret of an integration equals its present one."""

    code = "integration_secret_reused"
    status = 422
    about = "secret"
    message = "This is the present secret. Make a new one in the tool, and give it here."
