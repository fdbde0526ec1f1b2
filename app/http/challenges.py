"""`WWW-Authenticate` challenges of refused requests (RFC 6750, RFC 9728)."""

from collections.abc import Iterable

from app.domain.kernel.errors import InsufficientScope
from app.domain.oauth.resources import Resources, join

METADATA_PATH = "/.well-known/oauth-protected-resource"


def metadata_url(resources: Resources, resource: str) -> str:
    """Return the URL of a resource's metadata: the well-known path, then the resource's path (RFC 9728, 3.1)."""
    return f"{resources.api}{METADATA_PATH}{resource.removeprefix(resources.api)}"


def challenge(
    resources: Resources, resource: str, *, error: str = "", reason: str = "", scopes: Iterable[str] = ()
) -> str:
    """Return the `WWW-Authenticate` header; `error` only if a token was sent (RFC 6750, 3.1)."""
    parameters = {
        "error": error,
        "error_description": reason,
        "scope": join(scopes),
        "resource_metadata": metadata_url(resources, resource),
    }
    return "Bearer " + ", ".join(f'{name}="{value}"' for name, value in parameters.items() if value)


def step_up(error: InsufficientScope) -> str:
    """Return the `WWW-Authenticate` header that names the scopes that a request needs (RFC 6750, 3.1)."""
    if given := error.facts.get("challenge"):
        return str(given)
    return f'Bearer error="insufficient_scope", scope="{error.facts.get("needed", error.facts["scope"])}"'
