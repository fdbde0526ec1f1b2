"""The page of the account's users: list, invite, change and remove them."""

from starlette.responses import Response
from starlette.routing import Route

from app.domain.kernel.errors import DomainError, NotFound
from app.web.console import Console, Fault, Visit, day, place_of

PATH = "/account/people"
INVITATIONS = "/account/invitations"
ROLES = {"owner": "Owner", "member": "Member", "service": "Service"}
NOTICES = {
    "invited": "The invitation is on its way. Its link works for 7 days.",
    "withdrawn": "The invitation is withdrawn. Its link no longer works.",
    "role": "The role is changed.",
    "removed": "The person is removed.",
}


def routes(console: Console) -> list[Route]:
    """Return the routes of the page and its forms."""
    page = PeoplePages(console)
    found = [
        (PATH, "GET", page.show),
        (f"{PATH}/invite", "POST", page.invite),
        (f"{PATH}/{{id}}/role", "POST", page.change_role),
        (f"{PATH}/{{id}}/remove", "POST", page.remove),
        (f"{INVITATIONS}/{{id}}/resend", "POST", page.resend),
        (f"{INVITATIONS}/{{id}}/withdraw", "POST", page.withdraw),
    ]
    return [console.route(path, method, handler, PATH) for path, method, handler in found]


class PeoplePages:
    """The handlers of the page. Members see the users; owners change them."""

    def __init__(self, console: Console) -> None:
        self._console = console

    async def show(self, visit: Visit) -> Response:
        """Show the page."""
        return await self._page(visit)

    async def invite(self, visit: Visit) -> Response:
        """Invite a person."""
        email, role = visit.form.get("email", ""), _role_in(visit)
        try:
            await self._console.run(visit, "page_invite", email=email, role=role)
        except DomainError as refused:
            return await self._page(visit, Fault(refused, place_of(refused, ("email", "role"))))
        return self._console.redirect(f"{PATH}?notice=invited")

    async def resend(self, visit: Visit) -> Response:
        """Replace an invitation by a new one, and mail it."""
        try:
            for each in await self._console.run(visit, "page_invitations"):
                if each["id"] == visit.id:
                    await self._console.run(visit, "page_invite", email=each["email"], role=each["role"])
                    return self._console.redirect(f"{PATH}?notice=invited")
            raise NotFound(kind="invitation", id=visit.id)
        except DomainError as refused:
            return await self._page(visit, Fault(refused, f"invitation-{visit.id}"))

    async def withdraw(self, visit: Visit) -> Response:
        """Withdraw an invitation."""
        return await self._change(visit, "page_withdraw", "withdrawn", "invitation")

    async def change_role(self, visit: Visit) -> Response:
        """Change a role."""
        return await self._change(visit, "page_change_role", "role", "user", role=_role_in(visit))

    async def remove(self, visit: Visit) -> Response:
        """Remove a user; users who remove themselves are signed out."""
        return await self._change(visit, "page_remove", "removed", "user")

    async def _change(self, visit: Visit, document: str, notice: str, kind: str, **values: str) -> Response:
        try:
            await self._console.run(visit, document, id=visit.id, **values)
        except DomainError as refused:
            return await self._page(visit, Fault(refused, f"{kind}-{visit.id}"))
        return self._console.redirect(f"{PATH}?notice={notice}")

    async def _page(self, visit: Visit, fault: Fault | None = None) -> Response:
        users = await self._console.run(visit, "page_users")
        waiting = await self._console.run(visit, "page_invitations") if visit.is_owner else []
        places = {f"user-{user['id']}" for user in users} | {f"invitation-{each['id']}" for each in waiting}
        return self._console.page(
            visit,
            "people.html",
            fault,
            users=users,
            invitations=[{**each, "until": day(each["expires_at"])} for each in waiting],
            is_elsewhere=fault is not None and fault.place not in places | {"email", "role"},
            roles=ROLES,
            notices=NOTICES,
        )


def _role_in(visit: Visit) -> str:
    """Return the chosen role; `member` for an unknown one."""
    role = visit.form.get("role", "")
    return role if role in ROLES else "member"
