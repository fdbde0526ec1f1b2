"""Resources of tokens: the API and the tool server (RFC 8707)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.domain.accounts.scopes import AUTOMATION, AUTOMATION_LIMIT, GENERAL, Scope

REQUIRED = frozenset({Scope.account_read})
"""The scopes that a user cannot remove, so that a token can always read its account."""

WORKING_SET = frozenset(
    scope for scope in GENERAL if scope.endswith(":read") or scope in ("ai:use", "contacts:write", "messages:send")
) | {Scope.campaigns_write}
"""The default scopes of the tool server; others, such as deletion, are requested when a tool needs them."""


ASKED_APART = AUTOMATION_LIMIT - AUTOMATION
"""The scopes of the API whose checkboxes are not preselected on the consent page."""


@dataclass(frozen=True, slots=True)
class Resources:
    """The resource URLs of one service."""

    api: str

    @property
    def tools(self) -> str:
        """Return the address of the tool server."""
        return f"{self.api}/mcp"

    def find(self, given: Sequence[str]) -> str | None:
        """Return the resource that a client requests, by default the API; None for an unknown one."""
        named = {each.rstrip("/") for each in given} or {self.api}
        return named.pop() if named in ({self.api}, {self.tools}) else None

    def limit(self, resource: str) -> frozenset[Scope]:
        """Return the maximum scopes of a grant for a resource."""
        return GENERAL if resource == self.tools else AUTOMATION_LIMIT

    def apart(self, resource: str) -> frozenset[Scope]:
        """Return the scopes whose checkboxes are not preselected."""
        return frozenset() if resource == self.tools else ASKED_APART

    def usual(self, resource: str) -> frozenset[Scope]:
        """Return the default scopes of a request without scopes."""
        return WORKING_SET if resource == self.tools else AUTOMATION


def join(scopes: Iterable[str]) -> str:
    """Return scopes in OAuth's form: sorted, separated by spaces."""
    return " ".join(sorted(scopes))
