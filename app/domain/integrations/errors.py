"""Errors of integrations."""

from app.domain.kernel.errors import DomainError


class IntegrationRemoved(Exception):
    """An integration was removed while a worker worked for it."""


class UnsignedEvent(DomainError):
    """An event for an integration is not signed with its secret, or its signature is too old. Nothing was stored."""

    code = "unsigned_event"
    status = 403
    message = "The event is not signed with the secret of this {kind} address, or its signature is too old."


class IntegrationSecretReused(DomainError):
    """The new secret of an integration equals its present one."""

    code = "integration_secret_reused"
    status = 422
    about = "secret"
    message = "This is the present secret. Make a new one in the tool, and give it here."
