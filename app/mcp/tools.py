"""The parts of the tool server that its endpoint and the handlers of the protocol share."""

from dataclasses import dataclass

from app.graphql.execution.execute import Executor
from app.mcp.calls import Calls
from app.mcp.catalogue import Catalogue, catalogue, operations
from app.mcp.confirmations import Confirmations
from app.mcp.requests import Asked
from app.mcp.resources import Resources, compile_resources
from app.services import Services


@dataclass(frozen=True, slots=True)
class Needs:
    """The scopes that a request needs, and whether it only reads."""

    scopes: frozenset[str]
    reads_only: bool


@dataclass(frozen=True, slots=True)
class Tools:
    """The tools and resources of the service, and their execution."""

    services: Services
    executor: Executor
    catalogue: Catalogue
    calls: Calls
    resources: Resources

    def find_needs(self, asked: Asked) -> Needs:
        """Return the scopes that a request needs before its handler runs."""
        operation, scopes = None, frozenset[str]()
        if asked.method == "tools/call" and (tool := self.catalogue.find(asked.name or "")):
            operation, scopes = tool.operation, tool.scopes
        if asked.method == "resources/read" and (resource := self.resources.find(asked.name or "")):
            operation, scopes = resource.operation, resource.operation.scopes
        return Needs(scopes, operation is None or operation.reads_only)


def open_tools(services: Services, executor: Executor, docs_url: str) -> Tools:
    """Return the tools; `docs_url` is the page of error codes."""
    confirmations = Confirmations(services.confirmations, services.clock)
    calls = Calls(executor, docs_url, confirmations)
    return Tools(services, executor, catalogue(), calls, compile_resources(operations(), executor))
