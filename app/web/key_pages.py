"""The page of API keys: list, create, rotate and revoke them."""

from datetime import UTC, date, datetime, time
from typing import Any

import structlog
from starlette.responses import Response
from starlette.routing import Route

from app.domain.accounts.keys import KeyKind
from app.domain.accounts.scopes import ALL, AUTOMATION_LIMIT
from app.domain.kernel.errors import DomainError, InvalidInput
from app.web.console import Console, Fault, Visit, day, place_of
from app.web.wording import WORDS

PATH = "/account/keys"
ALLOWED = "scope:"
FIELDS = ("name", "kind", "scopes", "expires")
NOTICES = {"revoked": "The key and everything created with it are revoked."}
OVERLAP_HOURS = 24
MAX_ENDED = 20

log = structlog.get_logger(__name__)


def routes(console: Console) -> list[Route]:
    """Return the routes of the page and its forms."""
    page = KeyPages(console)
    found = [
        (PATH, "GET", page.show),
        (PATH, "POST", page.make),
        (f"{PATH}/{{id}}/rotate", "POST", page.rotate),
        (f"{PATH}/{{id}}/revoke", "POST", page.revoke),
    ]
    return [console.route(path, method, handler, PATH) for path, method, handler in found]


class KeyPages:
    """The handlers of the page. A member sees and creates only `auto_` keys of their own."""

    def __init__(self, console: Console) -> None:
        self._console = console

    async def show(self, visit: Visit) -> Response:
        """Show the page."""
        return await self._page(visit)

    async def make(self, visit: Visit) -> Response:
        """Create a key, and show its text once."""
        form = visit.form
        is_general = visit.is_owner and form.get("kind") != KeyKind.auto
        document = "page_make_key" if is_general else "page_make_automation_key"
        scopes = sorted(name.removeprefix(ALLOWED) for name in form if name.startswith(ALLOWED))
        try:
            wanted = {"name": form.get("name", ""), "expires_at": _end_of(form.get("expires", ""))}
            made = await self._console.run(visit, document, **wanted, scopes=scopes or None)
        except DomainError as refused:
            place = "scopes" if "scope" in str(refused) else place_of(refused, FIELDS)
            return await self._page(visit, Fault(refused, place))
        return await self._page(visit, made=made)

    async def rotate(self, visit: Visit) -> Response:
        """Rotate a key, and show the text of the new one once; the old one works for another day."""
        try:
            made = await self._console.run(visit, "page_rotate_key", id=visit.id, overlap_hours=OVERLAP_HOURS)
        except DomainError as refused:
            return await self._page(visit, Fault(refused, f"key-{visit.id}"))
        return await self._page(visit, made=made)

    async def revoke(self, visit: Visit) -> Response:
        """Revoke a key."""
        document = "page_revoke_key" if visit.is_owner else "page_revoke_automation_key"
        try:
            await self._console.run(visit, document, id=visit.id)
        except DomainError as refused:
            return await self._page(visit, Fault(refused, f"key-{visit.id}"))
        return self._console.redirect(f"{PATH}?notice=revoked")

    async def _page(self, visit: Visit, fault: Fault | None = None, made: Any = None) -> Response:
        keys = await self._list(visit, is_needed=made is None)
        now = self._console.now()
        shown = [_shown(key, now) for key in keys or ()]
        limit = ALL if visit.is_owner else AUTOMATION_LIMIT
        ticked = {name.removeprefix(ALLOWED) for name in visit.form}
        return self._console.page(
            visit,
            "keys.html",
            fault,
            keys=[key for key in shown if not key["ended"]],
            ended=[key for key in shown if key["ended"]][:MAX_ENDED],
            made=made,
            is_listed=keys is not None,
            notices=NOTICES,
            is_elsewhere=_is_elsewhere(fault, shown),
            scopes=[
                {"name": scope, "words": WORDS[scope], "is_ticked": scope in ticked}
                for scope in WORDS
                if scope in limit
            ],
        )

    async def _list(self, visit: Visit, *, is_needed: bool) -> Any:
        """Return the keys; None when the list fails on the page that shows a new key's text."""
        try:
            return await self._console.run(visit, "page_keys" if visit.is_owner else "page_automation_keys")
        except Exception as cause:
            if is_needed:
                raise
            log.warning("keys_not_listed", cause=repr(cause))
            return None


def _is_elsewhere(fault: Fault | None, keys: list[dict[str, Any]]) -> bool:
    """Return whether an error has no place on the page, because its key is not among the active ones."""
    active = {f"key-{key['id']}" for key in keys if not key["ended"]}
    return fault is not None and fault.place not in active | set(FIELDS)


def _shown(key: Any, now: datetime) -> dict[str, Any]:
    expires = datetime.fromisoformat(key["expires_at"]) if key["expires_at"] else None
    ended = "Revoked" if key["revoked_at"] else "Expired" if expires and expires <= now else ""
    return {
        "id": key["id"],
        "name": key["name"],
        "text": f"{key['prefix']}…{key['last_four']}",
        "scopes": key["scopes"],
        "made": day(key["created_at"]),
        "used": day(key["last_used_at"]),
        "expires": day(expires),
        "ended": ended,
    }


def _end_of(text: str) -> str | None:
    """Return the end of a day, in UTC; None for an empty field. Raises `InvalidInput`."""
    if not text.strip():
        return None
    try:
        return datetime.combine(date.fromisoformat(text.strip()), time.max, UTC).isoformat()
    except ValueError:
        raise InvalidInput(reason="expires must be a date, such as 2030-01-31.", field="expires") from None
