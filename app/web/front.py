"""Public pages: the error codes, and the page for an unknown path."""

import inspect
import re
from collections.abc import Iterator

from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.domain.kernel.errors import catalogue
from app.http.routing import CountedRoute
from app.web.browser import render


def routes() -> list[Route]:
    """Return `/docs/errors`."""
    errors = [
        (code, error.status, list(_paragraphs(error.__doc__ or ""))) for code, error in sorted(catalogue().items())
    ]

    async def error_codes(_: Request) -> Response:
        return render("errors.html", errors=errors)

    return [CountedRoute("/docs/errors", error_codes)]


def _paragraphs(docstring: str) -> Iterator[Markup]:
    """Yield the paragraphs of a docstring as HTML, with the parts between backticks as code."""
    for paragraph in inspect.cleandoc(docstring).split("\n\n"):
        yield Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(paragraph))))


def missing(request: Request) -> Response | None:
    """Return the page for an unknown path if the client accepts HTML; otherwise None."""
    accepted = request.headers.get("accept", "").lower().split(",")
    wants_page = any(each.partition(";")[0].strip() == "text/html" for each in accepted)
    is_read = request.method in ("GET", "HEAD")
    return render("missing.html", 404, path=request.scope["path"]) if wants_page and is_read else None
