"""The export of an account, as the contract shows it."""

from datetime import datetime

import strawberry

from app.domain.erasure import downloads
from app.graphql.core.context import Info
from app.graphql.core.directives import guarded

PATH = "/exports"


@strawberry.type(
    description="A link that downloads the export of the account. Every holder of the link can download it."
)
class ExportLink:
    """A link to an export."""

    url: str = strawberry.field(description="The address to get the zip archive from, which needs no key.")
    expires_at: datetime = strawberry.field(
        description="The time until which a download can begin: ten minutes from now."
    )


@strawberry.type
class ExportMutation:
    """Exporting the account."""

    @strawberry.mutation(
        description=(
            "Create and return a link that downloads all stored data of the account, except its secrets, as a zip "
            "archive. It works for ten minutes, as long as the key or the user that makes it may change the account."
        ),
        directives=guarded("account:write"),
    )
    async def create_export_link(self, info: Info) -> ExportLink:
        """Make a link to the export."""
        services = info.context.services
        link = await downloads.make_link(info.context.unit, services.exports)
        return ExportLink(url=f"{services.settings.public_url}{PATH}/{link.token}", expires_at=link.expires_at)
