"""The page to which CRMs lead people back after an authorization."""

from starlette.responses import Response
from starlette.routing import Route

from app.domain.kernel.errors import DomainError
from app.web.console import Console, Fault, Visit

PATH = "/crm/callback"


def routes(console: Console) -> list[Route]:
    """Return the route of the page."""
    page = CrmPage(console)
    return [console.route(PATH, "GET", page.finish, page=None)]


class CrmPage:
    """The handler of the page, for people who are signed in; `state` names the account that began."""

    def __init__(self, console: Console) -> None:
        self._console = console

    async def finish(self, visit: Visit) -> Response:
        """Finish the connection, and say whether it is made."""
        given = visit.request.query_params
        try:
            variables = {name: given.get(name, "") for name in ("state", "code")}
            made = await self._console.run(visit, "page_finish_crm", **variables)
        except DomainError as refused:
            return self._console.page(visit, "crm.html", Fault(refused, "crm"), name="")
        return self._console.page(visit, "crm.html", None, name=made["name"])
