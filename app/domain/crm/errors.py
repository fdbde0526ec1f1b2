"""Errors of connections to CRMs."""

from app.domain.kernel.errors import DomainError


class CrmAuthorizationRefused(DomainError):
    """A CRM gave no tokens for an authorization, or it was begun by another account or too long ago. Begin again."""

    code = "crm_authorization_refused"
    status = 422
    about = "code"
    message = "The CRM was not connected: {reason} Begin again, and finish within 10 minutes in the same account."
