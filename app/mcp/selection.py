"""The selection of tools that a connection asks for, and the tools that a caller sees."""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from app.domain.kernel.errors import InvalidInput, Unauthenticated
from app.domain.kernel.unit_of_work import Actor
from app.mcp.catalogue import CompiledTool
from app.operations.surface import CATEGORIES

TOOLSETS_HEADER = "x-mcp-toolsets"
READ_ONLY_HEADER = "x-mcp-readonly"
CONFIRM_HEADER = "x-mcp-confirm"
Renew = Callable[[], Awaitable[Actor | None]]
YES = frozenset({"1", "true", "yes", "on"})
NO = frozenset({"", "0", "false", "no", "off"})


@dataclass(frozen=True, slots=True)
class Selection:
    """The categories whose tools a connection may use, whether only those that read, and whether it confirms sends."""

    toolsets: frozenset[str] = frozenset(CATEGORIES)
    reads_only: bool = False
    asks_first: bool = False

    def has(self, tool: CompiledTool) -> bool:
        """Return whether a tool is selected."""
        is_readable = tool.reads_only or not self.reads_only
        return is_readable and tool.announcement.category in self.toolsets

    def confirms(self, tool: CompiledTool) -> bool:
        """Return whether a person must agree to a call of a tool."""
        announced = tool.announcement
        return announced.confirmation is not None and (announced.confirm == "always" or self.asks_first)


@dataclass(frozen=True, slots=True)
class Caller:
    """The actor of a request, its selection, and the method and name (of a tool, say) that it was admitted for.

    `renew` returns the present actor of the credential; `request_id` is the id of the message, if it is a request.
    """

    actor: Actor
    selection: Selection
    admitted: tuple[str, str | None]
    renew: Renew
    request_id: str | int | None = None

    async def find_present_actor(self) -> Actor:
        """Return the actor with its present scopes; raise `Unauthenticated` when the credential has ended."""
        actor = await self.renew()
        if actor is None:
            raise Unauthenticated(reason="The credential has ended.")
        return actor

    def visible(self, tools: Iterable[CompiledTool]) -> Iterator[CompiledTool]:
        """Yield the tools that the caller is shown: a key only those of its scopes.

        An application is shown all of the selection, because it can ask its user for more scopes.
        """
        may_ask = self.actor.grant_id is not None
        for tool in tools:
            if self.selection.has(tool) and (may_ask or tool.scopes <= self.actor.scopes):
                yield tool


def read_selection(headers: Mapping[str, str], query: Mapping[str, str]) -> Selection:
    """Return the selection of a request: of the headers `X-MCP-Toolsets`, `X-MCP-Readonly` and `X-MCP-Confirm`, and of
    the parameters `toolsets`, `readonly` and `confirm`.

    Both places together select the tools that both allow. Raises `InvalidInput` for an unknown toolset or flag:
    ignored, a flag that is misspelled would allow what it was to prevent.
    """
    asked = [text for text in (headers.get(TOOLSETS_HEADER), query.get("toolsets")) if text]
    toolsets = frozenset(CATEGORIES).intersection(*(_read_toolsets(text) for text in asked))
    reads_only = _is_on("readonly", headers.get(READ_ONLY_HEADER, ""), query.get("readonly", ""))
    asks_first = _is_on("confirm", headers.get(CONFIRM_HEADER, ""), query.get("confirm", ""))
    return Selection(toolsets, reads_only, asks_first)


def _is_on(name: str, *flags: str) -> bool:
    given = {flag.strip().lower() for flag in flags}
    if unknown := sorted(given - YES - NO):
        raise InvalidInput(reason=f"{name} must be 1 or 0, not {unknown[0][:60]}.", field=name)
    return not given.isdisjoint(YES)


def _read_toolsets(text: str) -> frozenset[str]:
    names = frozenset(name.strip().lower() for name in text.split(",")) - {""}
    if "all" in names:
        return frozenset(CATEGORIES)
    if unknown := sorted(names - frozenset(CATEGORIES)):
        reason = f"There is no toolset {unknown[0][:60]}. The toolsets are {', '.join(CATEGORIES)}."
        raise InvalidInput(reason=reason, field="toolsets")
    return names
