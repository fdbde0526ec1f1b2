"""The test of a connection, as the contract shows it."""

from importlib.metadata import version

import strawberry

from app.domain.accounts import models, queries
from app.graphql.accounts import Viewer
from app.graphql.core.context import Info
from app.graphql.core.directives import guarded

VERSION = version("messaging")


@strawberry.type(description="The answer to the test of a connection: the caller, and the service that answers.")
class ConnectionTest(Viewer):
    """The caller, and the service."""

    @strawberry.field(description="True: the credential is valid, and its account may be used.")
    def ok(self) -> bool:
        """Return true: another credential is refused."""
        return True

    @strawberry.field(description="The version of the service.")
    def version(self) -> str:
        """Return the version."""
        return VERSION


@strawberry.type
class ConnectionTestQuery:
    """Testing a connection."""

    @strawberry.field(
        graphql_type=ConnectionTest,
        description="Test the credential: the user of the caller, its scopes, and the version of the service.",
        directives=guarded("account:read", "not_found"),
    )
    async def connection_test(self, info: Info) -> models.User:
        """Return the caller."""
        return await queries.get_viewer(info.context.unit)
