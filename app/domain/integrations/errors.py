"""Errors of integrations."""

from app.domain.kernel.errors import DomainError


class IntegrationRemoved(Exception):
    """An integration was removed while a worker worked for it."""


class UnsignedEvent(DomainError):
    """An event for an integration is not signed with its secret, its signature is too old, or it lacks the secret.

    Nothing was stored. The text says which proof the address takes.
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
