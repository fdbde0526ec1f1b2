"""Documents become operations, or do not start."""

from pathlib import Path

import pytest
from graphql import build_schema, parse, validate

from app.operations.document import load
from app.operations.errors import InvalidDocument
from app.operations.surface import Rest, Tool
from tests.operations.samples import SDL, compiled

UPDATE = """
fragment Shown on Contact { id name ...Private }

fragment Private on Contact { notes }

"Update a contact."
mutation update_contact(
  $id: BigInt!
  "What to call them."
  $name: String
  $tags: [String!]
  $key: String @header(name: "Idempotency-Key")
)
@rest(method: PUT, path: "/contacts/{id}")
@rest(method: PATCH, path: "/people/{id}", envelope: bare)
@tool(
  title: "Update a contact"
  category: contacts
  idempotent: true
  open_world: true
  confirmation: "Call contact {id} {name}?"
  aliases: ["contacts_update"]
) {
  changed: update_contact(id: $id, changes: {name: $name, tags: $tags}, key: $key) { ...Shown }
}
"""


def test_an_operation_is_named_described_and_placed_by_its_document(tmp_path: Path) -> None:
    [operation] = compiled(tmp_path, UPDATE, file="people")

    assert operation.name == "update_contact"
    assert operation.description == "Update a contact."
    assert operation.area == "people"
    assert operation.reads_only is False
    assert operation.root == "changed"
    assert operation.root_field == "update_contact"


def test_an_operation_without_a_description_takes_that_of_its_root_field(tmp_path: Path) -> None:
    [operation] = compiled(tmp_path, "query list_contacts { contacts { total_count } }")

    assert operation.description == "Contacts, newest first."
    assert operation.reads_only is True


def test_an_operation_is_offered_where_its_directives_say(tmp_path: Path) -> None:
    [operation] = compiled(tmp_path, UPDATE)

    assert operation.rest == (Rest("PUT", "/contacts/{id}", "data"), Rest("PATCH", "/people/{id}", "bare"))
    assert operation.tool == Tool(
        title="Update a contact",
        category="contacts",
        destructive=False,
        idempotent=True,
        open_world=True,
        confirmation="Call contact {id} {name}?",
        aliases=("contacts_update",),
    )


def test_the_executed_text_holds_its_fragments_and_nothing_of_the_surfaces(tmp_path: Path) -> None:
    [operation] = compiled(tmp_path, UPDATE)

    assert validate(build_schema(SDL), parse(operation.text)) == []
    assert "@" not in operation.text
    assert "What to call them" not in operation.text
    assert operation.text.count("fragment ") == 2


def test_scopes_are_those_of_every_field_that_is_selected(tmp_path: Path) -> None:
    [operation] = compiled(tmp_path, UPDATE)

    assert operation.scopes == {"contacts:write", "notes:read"}


def test_scopes_of_fields_that_are_not_selected_are_not_asked_for(tmp_path: Path) -> None:
    [operation] = compiled(tmp_path, "query get_contact { contact(id: 1) { friend { id } } }")

    assert operation.scopes == {"contacts:read"}


def test_refusals_are_those_of_the_root_field(tmp_path: Path) -> None:
    [operation] = compiled(tmp_path, UPDATE)

    assert operation.refusals == ("not_found", "conflict")


def test_a_variable_is_described_by_its_document_or_by_the_field_it_fills(tmp_path: Path) -> None:
    [operation] = compiled(
        tmp_path,
        """
        mutation m($id: BigInt!, $name: String) { update_contact(id: $id, changes: {name: $name}) { id } }
        """,
    )
    [documented] = compiled(tmp_path, UPDATE)

    assert operation.variables["name"].schema["description"] == "The new name."
    assert documented.variables["name"].schema["description"] == "What to call them."
    assert "description" not in operation.variables["id"].schema


def test_a_variable_takes_the_description_of_an_argument(tmp_path: Path) -> None:
    [operation] = compiled(tmp_path, "query q($text: String) { contacts(search: $text) { total_count } }")

    assert operation.variables["text"].schema["description"] == "Matches the name."


def test_a_variable_is_required_unless_it_may_be_null_or_has_a_default(tmp_path: Path) -> None:
    [operation] = compiled(
        tmp_path,
        """
        query q($search: String, $limit: Int! = 20, $offset: Int!) {
          contacts(search: $search, limit: $limit, offset: $offset) { total_count }
        }
        """,
    )

    required = {name: variable.required for name, variable in operation.variables.items()}
    assert required == {"search": False, "limit": False, "offset": True}
    assert operation.accepts["required"] == ["offset"]
    assert operation.accepts["additionalProperties"] is False
    assert operation.accepts["properties"]["limit"] == {"type": "integer", "format": "int32", "default": 20}


def test_a_variable_knows_the_header_it_is_read_from(tmp_path: Path) -> None:
    [operation] = compiled(tmp_path, UPDATE)

    assert operation.variables["key"].header == "Idempotency-Key"
    assert operation.variables["name"].header is None


TOOL = 'mutation m @tool(title: "T", {}) {{ update_contact(id: 1, changes: {{}}) {{ id }} }}'
GET = "query get_contact($id: BigInt!) @rest(method: GET, path: {path}) {{ contact(id: $id) {{ id }} }}"


@pytest.mark.parametrize(
    ("document", "fault"),
    [
        ("query q { contacts {", "Syntax Error: Expected Name, found <EOF>"),
        ("query q { people { id } }", "Cannot query field 'people' on type 'Query'"),
        ("{ contacts { total_count } }", "has a name"),
        ("subscription s { contact { id } }", "an operation is a query or a mutation"),
        ("query q { a: contacts { total_count } b: contacts { total_count } }", "exactly one root field"),
        ("query q { contacts { __typename total_count } }", "__typename cannot be selected"),
        ("query q { __typename }", "__typename cannot be selected"),
        ("query q($a: Boolean!) { contacts { total_count @skip(if: $a) } }", "takes no directives"),
        ("query q { named { name } }", "the type Named has no JSON Schema"),
        ("query q { contact(id: 1) { colour } }", "the type Colour has no JSON Schema"),
        ("query q($c: Colour) { colour(colour: $c) }", "the type Colour has no JSON Schema"),
        ("query q($g: [[Int!]!]) { colour(grid: $g) }", "a list of lists"),
        (GET.format(path='"/contacts"') + GET.format(path='"/people"'), "only one operation named 'get_contact'"),
        (GET.format(path='"/contacts/{number}"'), "has {number}, but the operation has no variable $number"),
        (GET.format(path='"contacts/{id}"'), "must be segments such as"),
        (GET.format(path='"/contacts/"'), "must be segments such as"),
        (
            'query q($p: Point) @rest(method: GET, path: "/at") { at(point: $p) }',
            "$p is an object, which GET /at cannot read",
        ),
        (
            'query q($v: JSON) @rest(method: GET, path: "/at") { at(value: $v) }',
            "$v is an object, which GET /at cannot read",
        ),
        (
            'query q($s: [Stage!]) @rest(method: POST, path: "/{s}") { contacts(stages: $s) { total_count } }',
            "$s stands in the path /{s}, so it is one value",
        ),
        (
            'mutation m @rest(method: GET, path: "/x") { update_contact(id: 1, changes: {}) { id } }',
            "GET /x would change something",
        ),
        (
            'query q @rest(method: GET, path: "/x", envelope: page) { contact(id: 1) { id } }',
            "GET /x is a page: it is a GET of a connection",
        ),
        (
            'query q @rest(method: GET, path: "/x", envelope: page) { contacts { total_count nodes { id } } }',
            "GET /x is a page: it is a GET of a connection, with nodes, page_info, total_count, total_is_exact",
        ),
        (
            'query q @rest(method: GET, path: "/x", envelope: page)'
            " { contacts { total_count total_is_exact page_info { has_next_page } nodes { id } } }",
            "GET /x is a page: it takes $offset, $after, and $limit with a default",
        ),
        (
            'query q @rest(method: GET, path: "/x", pick: "name") { contact(id: 1) { id } }',
            "GET /x picks name, which the operation does not select",
        ),
        (
            "query q { contacts { nodes { ...Lost } total_count } }",
            "Unknown fragment 'Lost'",
        ),
        (
            "fragment Spare on Contact { id } query q { contacts { total_count } }",
            "the fragment Spare is spread nowhere",
        ),
        (
            "fragment A on Contact { ...B } fragment B on Contact { ...A } query q { contact(id: 1) { ...A } }",
            "within itself via",
        ),
        (TOOL.format("category: weather"), "Value 'weather' does not exist in 'ToolCategory' enum"),
        (TOOL.format('category: contacts, confirmation: "Call {nick}?"'), "has {nick}, but the operation has no"),
        (TOOL.format('category: contacts, aliases: ["Get"]'), "the alias Get must be lower-case letters"),
        (TOOL.format('category: contacts, aliases: ["m"]'), "m is taken by another operation"),
        (
            'query q($id: BigInt! @attested(or: "unsure")) { contact(id: $id) { id } }',
            "unsure is no error that contact refuses with",
        ),
        (
            'query q @tool(title: "T", category: contacts, destructive: true) { contacts { total_count } }',
            "a tool that only reads changes nothing",
        ),
    ],
)
def test_a_document_that_does_not_fit_is_refused(tmp_path: Path, document: str, fault: str) -> None:
    with pytest.raises(InvalidDocument) as refusal:
        compiled(tmp_path, document)

    assert str(refusal.value).startswith(f"{tmp_path}/contacts.graphql: ")
    assert fault in str(refusal.value)


def test_two_files_may_not_give_two_operations_one_name(tmp_path: Path) -> None:
    compiled(tmp_path, "query q { contacts { total_count } }", file="a")

    with pytest.raises(InvalidDocument, match=r"b\.graphql: q is taken by another operation"):
        compiled(tmp_path, "query q { contacts { total_count } }", file="b")


def test_two_operations_may_not_stand_at_one_place(tmp_path: Path) -> None:
    place = 'query {} @rest(method: GET, path: "/contacts/{{{}}}") {{ contact(id: ${}) {{ id }} }}'
    documents = "\n".join(
        place.format(f"{name}(${variable}: BigInt!)", variable, variable)
        for name, variable in [("a", "id"), ("b", "n")]
    )

    with pytest.raises(InvalidDocument, match=r"GET /contacts/\{\} is taken by another operation"):
        compiled(tmp_path, documents)


def test_the_files_of_a_surface_share_their_fragments(tmp_path: Path) -> None:
    shared = "fragment Shown on Contact { id ...Named } query a { contact(id: 1) { ...Shown } }"
    (tmp_path / "b.graphql").write_text("fragment Named on Contact { name } query b { contact(id: 1) { ...Shown } }")
    operations = compiled(tmp_path, shared, file="a")

    assert [operation.name for operation in operations] == ["a", "b"]
    assert all(operation.text.count("fragment ") == 2 for operation in operations)
    assert [list(operation.returns["properties"]) for operation in operations] == [["id", "name"], ["id", "name"]]


def test_two_files_may_not_give_two_fragments_one_name(tmp_path: Path) -> None:
    document = "fragment Shown on Contact {{ id }} query {} {{ contact(id: 1) {{ ...Shown }} }}"
    compiled(tmp_path, document.format("a"), file="a")

    with pytest.raises(InvalidDocument, match=r"b\.graphql: the fragment Shown is defined twice"):
        compiled(tmp_path, document.format("b"), file="b")


def test_documents_of_several_folders_share_fragments(tmp_path: Path) -> None:
    spread = "query {} {{ contact(id: 1) {{ ...Shown }} }}"
    for name, text in {
        "common/a": "fragment Shown on Contact { id } fragment Spare on Contact { name }",
        "web/a": spread.format("a"),
        "cli/a": spread.format("b"),
        "twice/a": "fragment Shown on Contact { id } " + spread.format("c"),
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.graphql").write_text(text)
    schema, shared = build_schema(SDL), tmp_path / "common"

    loaded = [load(tmp_path / surface, schema, shared) for surface in ("web", "cli")]

    assert [list(operation.returns["properties"]) for [operation] in loaded] == [["id"], ["id"]]
    with pytest.raises(InvalidDocument, match="the fragment Shown is defined twice"):
        load(tmp_path / "twice", schema, shared)
