"""Reads the directives of a node."""

from typing import Any, Protocol

from graphql import DirectiveNode, GraphQLSchema, get_argument_values


class _Directed(Protocol):
    @property
    def directives(self) -> tuple[DirectiveNode, ...] | None: ...


def directive_values(name: str, node: _Directed | None, schema: GraphQLSchema) -> list[dict[str, Any]]:
    """Return the arguments of each directive with a name on a node, in order."""
    definition = schema.get_directive(name)
    if definition is None or node is None:
        return []
    return [get_argument_values(definition, found) for found in node.directives or () if found.name.value == name]
