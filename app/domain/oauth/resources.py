"""Resources that tokens are for: the API and the tool server (RFC 8707)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.domain.accounts.scopes import AUTOMATION, AUTOMATION_LIMIT, GENERAL, Scope

REQUIRED = frozenset({Scope.account_read})
"""What stays when a user narrows a consent: a token can always say whose it is."""

WORKING_SET = frozenset(
    scope for scope in GENERAL if scope.endswith(":read") or scope in ("ai:use", "contacts:write", "messages:send")
) | {Scope.campaigns_write}
"""What the tool server asks for first; deleting, mass sending and the rest are asked for when they are needed."""


ASKED_APART = AUTOMATION_LIMIT - AUTOMATION
"""What a user has to tick for the API: nobody allows it by leaving the page as it is."""


@dataclass(frozen=True, slots=True)
class Resources:
    """The addresses that tokens can be for, at one service."""

    api: str

    @property
    def tools(self) -> str:
        """Return the address of the tool server."""
        return f"{self.api}/mcp"

    def find(self, given: Sequence[str]) -> str | None:
        """Return the one that a client names, or the API if it names none; None where it names something else."""
        named = {each.rstrip("/") for each in given} or {self.api}
        return named.pop() if named in ({self.api}, {self.tools}) else None

    def limit(self, resource: str) -> frozenset[Scope]:
        """Return the most that a grant for one of them can hold."""
        return GENERAL if resource == self.tools else AUTOMATION_LIMIT

    def apart(self, resource: str) -> frozenset[Scope]:
        """Return the scopes that the page asks for apart, not ticked."""
        return frozenset() if resource == self.tools else ASKED_APART

    def usual(self, resource: str) -> frozenset[Scope]:
        """Return what a client is taken to ask for that names no scope."""
        return WORKING_SET if resource == self.tools else AUTOMATION


def join(scopes: Iterable[str]) -> str:
    """Write scopes as OAuth does, separated by spaces; the same ones are always in the same order."""
    return " ".join(sorted(scopes))
