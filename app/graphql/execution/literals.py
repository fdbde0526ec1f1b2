"""Paths of the values that a document has for arguments and variables, such as `changes.tags[1]`."""

from collections.abc import Sequence
from typing import Any

from graphql import (
    ArgumentNode,
    DocumentNode,
    GraphQLError,
    ListValueNode,
    Node,
    ObjectFieldNode,
    ObjectValueNode,
    VariableDefinitionNode,
    Visitor,
    visit,
)

FIELD = "field"
"""The extension of an error that has the path of the value at fault."""


def name_fields(document: DocumentNode, errors: Sequence[GraphQLError]) -> None:
    """Add to each error about a value the path of that value."""
    visitor = _PathVisitor()
    visit(document, visitor)
    for error in errors:
        if error.nodes and (path := visitor.paths.get(id(error.nodes[0]))):
            error.extensions = {**(error.extensions or {}), FIELD: path}


class _PathVisitor(Visitor):
    """Notes the path of each value, and of each field of an input object, by the identity of its node."""

    def __init__(self) -> None:
        super().__init__()
        self.paths: dict[int, str] = {}

    def enter_argument(self, node: ArgumentNode, *_: Any) -> None:
        self._note(node.value, node.name.value)

    def enter_variable_definition(self, node: VariableDefinitionNode, *_: Any) -> None:
        if node.default_value:
            self._note(node.default_value, node.variable.name.value)

    def _note(self, value: Node, name: str) -> None:
        waiting: list[tuple[Node, str]] = [(value, name)]
        while waiting:
            node, path = waiting.pop()
            self.paths[id(node)] = path
            match node:
                case ObjectValueNode(fields=fields):
                    waiting += [(each, f"{path}.{each.name.value}") for each in fields]
                case ObjectFieldNode(value=inner):
                    waiting.append((inner, path))
                case ListValueNode(values=values):
                    waiting += [(each, f"{path}[{index}]") for index, each in enumerate(values)]
                case _:
                    pass
