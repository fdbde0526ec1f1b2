"""The page where owners download the export of their account."""

from starlette.responses import Response
from starlette.routing import Route

from app.domain.kernel.errors import DomainError
from app.graphql.execution.execute import allow
from app.web.console import Console, Fault, Visit, operations

PATH = "/account/export"
DOCUMENT = "page_export"


def routes(console: Console) -> list[Route]:
    """Return the routes of the page and its form."""
    page = ExportPage(console)
    return [
        console.route(PATH, "GET", page.show, PATH),
        console.route(PATH, "POST", page.download, PATH),
    ]


class ExportPage:
    """The handlers of the page, for owners only."""

    def __init__(self, console: Console) -> None:
        self._console = console

    async def show(self, visit: Visit) -> Response:
        """Show the page; raise `InsufficientScope`."""
        allow(operations()[DOCUMENT].scopes, visit.actor)
        return self._console.page(visit, "export.html", None)

    async def download(self, visit: Visit) -> Response:
        """Create a link to the export, and redirect to it."""
        try:
            link = await self._console.run(visit, DOCUMENT)
        except DomainError as refused:
            allow(operations()[DOCUMENT].scopes, visit.actor)
            return self._console.page(visit, "export.html", Fault(refused, "export"))
        return self._console.redirect(link["url"])
