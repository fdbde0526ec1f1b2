"""The scopes of each role."""

from app.domain.accounts.models import Role
from app.domain.accounts.scopes import ALL, GENERAL, Scope

SCOPES: dict[Role, frozenset[Scope]] = {Role.owner: ALL, Role.member: GENERAL, Role.service: GENERAL}
"""A service user has a member's scopes, but only through the applications that it connects."""


def scopes_of(role: str) -> frozenset[Scope]:
    """Return the scopes that a user of a role has and can grant to an application."""
    return SCOPES[Role(role)]
