"""The parts of the tool server that its endpoint and the handlers of the protocol share."""

from dataclasses import dataclass

from app.graphql.execution.execute import Executor
from app.mcp.calls import Calls
from app.mcp.catalogue import Catalogue, catalogue
from app.mcp.confirmations import Confirmations
from app.services import Services


@dataclass(frozen=True, slots=True)
class Tools:
    """The tools of the service, and what runs them."""

    services: Services
    executor: Executor
    catalogue: Catalogue
    calls: Calls


def open_tools(services: Services, executor: Executor, docs_url: str) -> Tools:
    """Return the tools; `docs_url` is the page of error codes."""
    confirmations = Confirmations(services.confirmations, services.clock)
    return Tools(services, executor, catalogue(), Calls(executor, docs_url, confirmations))
