"""The variables of an operation, for the surfaces."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from graphql import (
    SKIP,
    ArgumentNode,
    DocumentNode,
    FragmentDefinitionNode,
    GraphQLArgument,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLNonNull,
    GraphQLSchema,
    ObjectFieldNode,
    OperationDefinitionNode,
    TypeInfo,
    TypeInfoVisitor,
    VariableDefinitionNode,
    VariableNode,
    Visitor,
    get_named_type,
    type_from_ast,
    value_from_ast_untyped,
    visit,
)

from app.operations.directives import directive_values
from app.operations.errors import InvalidDocument
from app.operations.json_schema import NULL, Json, Schemas, limited, limits_of


@dataclass(frozen=True, slots=True)
class Variable:
    """One variable. `schema` has its values, description and default; `header` is its REST header, if any.

    A `positional` one is an argument of a command. If `attested` is set and the value is not true, that error is
    raised before any other check.
    """

    name: str
    schema: Json
    required: bool
    header: str | None = None
    attested: str | None = None
    positional: bool = False
    types: Mapping[str, Json] = field(default_factory=dict, repr=False, compare=False)
    """The named types of the operation, to which `schema` may refer."""

    @property
    def many(self) -> Json | None:
        """Return the array that the variable accepts, if it is a list."""
        return next((option for option in self.options if option.get("type") == "array"), None)

    @property
    def single(self) -> Json:
        """Return the schema of one value: of an item of a list, or of the value itself."""
        return next(option for option in self.options if option != NULL and option.get("type") != "array")

    @property
    def present(self) -> Json:
        """Return the schema without null."""
        options = [option for option in self.options if option != NULL]
        notes = {note: value for note, value in self.schema.items() if note != "anyOf" and value is not None}
        return (options[0] if len(options) == 1 else {"anyOf": options}) | notes

    @property
    def options(self) -> list[Json]:
        """Return the alternative schemas of a value."""
        return self.schema.get("anyOf", [self.schema])


def read_variables(
    node: OperationDefinitionNode, fragments: Iterable[FragmentDefinitionNode], schema: GraphQLSchema, schemas: Schemas
) -> dict[str, Variable]:
    """Return the variables of an operation; one without a description has that of its argument or input field."""
    feeds = _Feeds(TypeInfo(schema), schema)
    visit(DocumentNode(definitions=(node, *fragments)), TypeInfoVisitor(feeds.types, feeds))
    variables = [_variable(definition, feeds, schema, schemas) for definition in node.variable_definitions or ()]
    return {variable.name: variable for variable in variables}


def _variable(node: VariableDefinitionNode, feeds: "_Feeds", schema: GraphQLSchema, schemas: Schemas) -> Variable:
    name = node.variable.name.value
    kind = type_from_ast(schema, node.type)
    if kind is None:  # pragma: no cover - a document is validated before its variables are read
        raise InvalidDocument(f"${name} is of an unknown type")
    described: dict[str, Any] = limited(schemas.accepts(kind), feeds.limits.get(name, {}))
    if description := node.description.value if node.description else feeds.descriptions.get(name):
        described["description"] = description
    if node.default_value:
        described["default"] = value_from_ast_untyped(node.default_value)
    required = isinstance(kind, GraphQLNonNull) and not node.default_value
    header = next((values["name"] for values in directive_values("header", node, schema)), None)
    attested = next((values["or"] for values in directive_values("attested", node, schema)), None)
    positional = any(True for _ in directive_values("positional", node, schema))
    return Variable(name, described, required, header, attested, positional, schemas.types)


class _Feeds(Visitor):
    """Collects the description and limits of the first argument or input field of each variable."""

    def __init__(self, types: TypeInfo, schema: GraphQLSchema) -> None:
        super().__init__()
        self.types = types
        self.descriptions: dict[str, str] = {}
        self.limits: dict[str, Json] = {}
        self._schema = schema
        self._latest: GraphQLArgument | GraphQLInputField | None = None

    def enter_variable_definition(self, _node: VariableDefinitionNode, *_: Any) -> Any:
        return SKIP

    def enter_argument(self, _node: ArgumentNode, *_: Any) -> None:
        self._latest = self.types.get_argument()

    def enter_object_field(self, node: ObjectFieldNode, *_: Any) -> None:
        parent = get_named_type(self.types.get_parent_input_type())
        if isinstance(parent, GraphQLInputObjectType):  # pragma: no branch - only input objects have input fields
            self._latest = parent.fields[node.name.value]

    def enter_variable(self, node: VariableNode, *_: Any) -> None:
        name = node.name.value
        if self._latest and self._latest.description:
            self.descriptions.setdefault(name, self._latest.description)
        if self._latest and (limits := limits_of(self._latest.ast_node, self._schema)):
            self.limits.setdefault(name, limits)
