"""A small schema, and a way to compile documents against it."""

from pathlib import Path

from graphql import build_schema

from app.operations.document import Operation, load

SDL = """
directive @scope(requires: String!) on FIELD_DEFINITION
directive @refuses(codes: [String!]!) on FIELD_DEFINITION

scalar BigInt
scalar DateTime
scalar Decimal
scalar JSON
scalar Colour

enum Stage {
  new_lead
  won
}

interface Named {
  name: String!
}

type Contact implements Named {
  id: BigInt!
  "The first name."
  name: String!
  nickname: String
  tags: [String!]!
  stage: Stage!
  score: Decimal!
  created_at: DateTime!
  custom: JSON
  friend: Contact
  notes: String @scope(requires: "notes:read")
  colour: Colour
}

type PageInfo {
  has_next_page: Boolean!
}

type ContactPage {
  total_count: Int!
  total_is_exact: Boolean!
  page_info: PageInfo!
  nodes: [Contact!]!
}

input Changes {
  "The new name."
  name: String
  tags: [String!]
  stage: Stage
}

input Point {
  x: Float!
  y: Float! = 0
  labels: [String]
}

type Query {
  "Contacts, newest first."
  contacts(
    "Matches the name."
    search: String
    stages: [Stage!]
    limit: Int! = 50
    offset: Int! = 0
  ): ContactPage! @scope(requires: "contacts:read")
  contact(id: BigInt!): Contact! @scope(requires: "contacts:read") @refuses(codes: ["not_found"])
  named: Named!
  colour(colour: Colour, grid: [[Int!]!]): Int
  at(point: Point, value: JSON): String
}

type Mutation {
  update_contact(id: BigInt!, changes: Changes!, key: String): Contact!
    @scope(requires: "contacts:write")
    @refuses(codes: ["not_found", "conflict"])
}

type Subscription {
  contact: Contact!
}
"""


def compiled(folder: Path, documents: str, file: str = "contacts", sdl: str = SDL) -> list[Operation]:
    """Compile one file of documents."""
    (folder / f"{file}.graphql").write_text(documents)
    return load(folder, build_schema(sdl))
