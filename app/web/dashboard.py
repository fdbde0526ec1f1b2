"""The dashboard under /app, the public pages for developers under /docs, and their built files."""

import mimetypes
import secrets
from dataclasses import dataclass, field
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.domain.accounts.models import Role
from app.http.routing import CountedRoute
from app.web.browser import HEADERS, Browser, render
from app.web.sign_in import LANDING, login_path

BUILT = Path(__file__).parent / "dist"
FILES = f"{LANDING}assets/"
ACCOUNT = "/account"
REPLACED = {f"{ACCOUNT}/keys": "keys", f"{ACCOUNT}/people": "people", f"{ACCOUNT}/export": "company"}
"""Pages of earlier releases, and the settings that have replaced them."""

DOCS = "/docs"
SIGNED_IN, PUBLIC, EXPLORER = "index.html", "docs.html", "explorer.html"
NONCE, FORM_TOKEN = "__NONCE__", "__FORM_TOKEN__"
"""The texts in the page that stand for the nonce, and for the token of the form that signs out."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
EDITOR_POLICY = POLICY.replace("style-src 'self' 'nonce-{nonce}'", "style-src 'self' 'unsafe-inline'").replace(
    "font-src 'self'", "font-src 'self' data:"
)
"""The policy of the explorer: its editor adds styles that have no nonce. Scripts are as strict as elsewhere."""
FOREVER = {"Cache-Control": "public, max-age=31536000, immutable", "Vary": "Accept-Encoding"}


@dataclass(frozen=True, slots=True)
class BuiltFile:
    """A built file, compressed too where that saves bytes."""

    media_type: str
    body: bytes = field(repr=False)
    compressed: bytes | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class Build:
    """The files of one build: the pages, and by their paths the others."""

    stamp: str
    pages: dict[str, str] = field(repr=False)
    files: dict[str, BuiltFile] = field(repr=False)


def routes(browser: Browser) -> list[Route]:
    """Return the routes of the page and its files."""
    dashboard = Dashboard(browser, BUILT)
    found = [
        (f"{FILES}{{path:path}}", dashboard.file),
        ("/", dashboard.front),
        (LANDING.rstrip("/"), dashboard.front),
        *((path, dashboard.replaced) for path in REPLACED),
        (LANDING + "{path:path}", dashboard.page),
        (f"{DOCS}/graphql", dashboard.explorer),
        *((f"{DOCS}{path}", dashboard.docs) for path in ("", "/rest", "/webhooks", "/tools")),
    ]
    return [CountedRoute(path, browser.shown(endpoint)) for path, endpoint in found]


class Dashboard:
    """The handlers of the page and its files, which are read again after each build."""

    def __init__(self, browser: Browser, folder: Path) -> None:
        self._browser = browser
        self._folder = folder
        self._build: Build | None = None

    async def front(self, _: Request) -> Response:
        """Redirect to the dashboard."""
        return self._browser.redirect(LANDING)

    async def replaced(self, request: Request) -> Response:
        """Redirect to the settings that have replaced a page."""
        return self._browser.redirect(f"{LANDING}settings/{REPLACED[request.url.path]}")

    async def page(self, request: Request) -> Response:
        """Return the page for any path of the dashboard, or redirect to the sign-in page."""
        signed_in = await self._browser.find(request)
        if signed_in is None:
            query = f"?{request.url.query}" if request.url.query else ""
            return self._browser.redirect(login_path(request.url.path + query))
        if signed_in.user.role == Role.service:
            return self._browser.redirect(ACCOUNT)
        return self._show(SIGNED_IN, POLICY, self._browser.form_token(request))

    async def docs(self, _: Request) -> Response:
        """Return the page for developers, also to people who are not signed in."""
        return self._show(PUBLIC, POLICY)

    async def explorer(self, _: Request) -> Response:
        """Return the GraphQL explorer, also to people who are not signed in."""
        return self._show(EXPLORER, EDITOR_POLICY)

    async def file(self, request: Request) -> Response:
        """Return a built file; its name changes with its content."""
        built = self._find()
        found = built.files.get(request.path_params["path"]) if built else None
        if found is None:
            return render("missing.html", 404, path=request.scope["path"])
        if found.compressed and "gzip" in request.headers.get("accept-encoding", ""):
            return Response(found.compressed, 200, {**FOREVER, "Content-Encoding": "gzip"}, found.media_type)
        return Response(found.body, 200, FOREVER, found.media_type)

    def _show(self, name: str, policy: str, form_token: str = "") -> Response:
        built = self._find()
        if built is None:
            return render("unbuilt.html", 503)
        nonce = secrets.token_urlsafe(18)
        headers = {**HEADERS, "Content-Security-Policy": policy.format(nonce=nonce)}
        page = built.pages[name].replace(NONCE, nonce).replace(FORM_TOKEN, form_token)
        return Response(page, 200, headers, "text/html")

    def _find(self) -> Build | None:
        """Return the present build; None before the first."""
        stamp = self._folder / "stamp"
        try:
            if self._build is None or self._build.stamp != stamp.read_text():
                self._build = read(self._folder)
        except FileNotFoundError:
            self._build = None
        return self._build


def read(folder: Path) -> Build:
    """Read the files of a build; raise `FileNotFoundError` where there is none."""
    assets = folder / "assets"
    files = {
        str(path.relative_to(assets)): _file(path)
        for path in assets.rglob("*")
        if path.is_file() and path.suffix != ".gz"
    }
    pages = {name: (folder / name).read_text() for name in (SIGNED_IN, PUBLIC, EXPLORER)}
    return Build((folder / "stamp").read_text(), pages, files)


def _file(path: Path) -> BuiltFile:
    media_type = mimetypes.types_map.get(path.suffix, "application/octet-stream")
    compressed = path.with_name(f"{path.name}.gz")
    return BuiltFile(media_type, path.read_bytes(), compressed.read_bytes() if compressed.exists() else None)
