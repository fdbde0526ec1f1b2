"""Pages about the service itself: the OpenAPI document, the error codes, and a front door that leads to both."""

from html import escape
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from app.domain.kernel.errors import catalogue
from app.http.routing import CountedRoute

PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width">
<style>body{{font:16px/1.5 system-ui;max-width:46rem;margin:3rem auto;padding:0 1rem}}code{{font-size:.95em}}
h2{{margin-bottom:0}}p{{margin-top:.3rem}}:target{{background:#fff3bf}}</style><h1>{title}</h1>{body}</html>"""

FRONT = """<p>The service is running.</p><ul>
<li><a href="/login">Sign in</a>, or see who is signed in</li>
<li><a href="/graphql"><code>/graphql</code></a>: the whole contract</li>
<li><a href="/openapi.json"><code>/openapi.json</code></a>: the REST API</li>
<li><a href="/docs/errors"><code>/docs/errors</code></a>: every error code</li>
<li><a href="/readyz"><code>/readyz</code></a>, <a href="/metrics"><code>/metrics</code></a>: for operators</li></ul>"""


def routes(document: dict[str, Any]) -> list[Route]:
    """Return `/`, `/openapi.json` and `/docs/errors`."""
    described = orjson.dumps(document)
    errors = PAGE.format(title="Error codes", body=_errors())
    front = PAGE.format(title="Messaging", body=FRONT)

    async def root(_: Request) -> Response:
        return HTMLResponse(front)

    async def openapi(_: Request) -> Response:
        return Response(described, media_type="application/json")

    async def error_codes(_: Request) -> Response:
        return HTMLResponse(errors)

    return [
        CountedRoute("/", root),
        CountedRoute("/openapi.json", openapi),
        CountedRoute("/docs/errors", error_codes),
    ]


def _errors() -> str:
    return "".join(
        f'<h2 id="{code}"><code>{code}</code> {error.status}</h2><p>{escape(error.__doc__ or "")}</p>'
        for code, error in sorted(catalogue().items())
    )
