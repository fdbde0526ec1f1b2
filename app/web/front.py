"""Pages about the service itself: its front page, the error codes, and the page of a missing address."""

import inspect

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.domain.kernel.errors import catalogue
from app.http.routing import CountedRoute
from app.web.browser import render


def routes() -> list[Route]:
    """Return `/` and `/docs/errors`."""
    errors = [
        (code, error.status, inspect.cleandoc(error.__doc__ or "")) for code, error in sorted(catalogue().items())
    ]

    async def front(_: Request) -> Response:
        return render("front.html")

    async def error_codes(_: Request) -> Response:
        return render("errors.html", errors=errors)

    return [CountedRoute("/", front), CountedRoute("/docs/errors", error_codes)]


def missing(request: Request) -> Response | None:
    """Return the page of an address where nothing is, to a browser; None to a program."""
    accepted = request.headers.get("accept", "").lower().split(",")
    wants_page = any(each.partition(";")[0].strip() == "text/html" for each in accepted)
    is_read = request.method in ("GET", "HEAD")
    return render("missing.html", 404, path=request.scope["path"]) if wants_page and is_read else None
