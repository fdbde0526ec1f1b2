"""Limits that the descriptions of arguments and input fields state are those of `@constraint`."""

import re
from collections.abc import Iterator

from graphql import GraphQLArgument, GraphQLInputField, GraphQLInputObjectType, GraphQLObjectType

from app.graphql.schema import contract
from app.operations.directives import directive_values

CONTRACT = contract()
LIMIT = re.compile(
    r"([\d.,]*\d) to ([\d.,]*\d)|(?:at most|up to|at least|no more than) ([\d.,]*\d)|([\d.,]*\d)(?: \w+)? at most", re.I
)
OTHER_LIMITS = {
    "AiAgentChanges.closes_at": "a time of the day",
    "NewQuietHoursRule.end": "a time of the day",
    "SequenceWindowInput.end": "a time of the day",
    "Mutation.send_message(send_at)": "days from now",
    "Mutation.reply(send_at)": "days from now",
    "Mutation.add_upload_part(content)": "bytes, which the text has in base64",
    "Mutation.set_phone_number_pace(parts_per_second)": "a number with decimals: the limits of @constraint are whole",
    "Mutation.create_custom_field(key)": "a part of the pattern",
    "Query.messages(search)": "days between two other arguments",
    "Subscription.updates(after)": "a limit of what is answered",
}
"""Limits that are not a number of characters or items or a whole number, with their unit."""


def places() -> Iterator[tuple[str, GraphQLArgument | GraphQLInputField]]:
    for kind in CONTRACT.type_map.values():
        match kind:
            case GraphQLInputObjectType():
                yield from ((f"{kind.name}.{name}", field) for name, field in kind.fields.items())
            case GraphQLObjectType() if not kind.name.startswith("__"):
                for name, field in kind.fields.items():
                    yield from ((f"{kind.name}.{name}({each})", argument) for each, argument in field.args.items())
            case _:
                pass


def stated(place: GraphQLArgument | GraphQLInputField) -> list[str]:
    """Return the numbers of the first limit in a description."""
    found = LIMIT.search(" ".join((place.description or "").split()))
    return [number.replace(",", "") for number in found.groups() if number] if found else []


def declared(place: GraphQLArgument | GraphQLInputField) -> set[str]:
    """Return the numbers that `@constraint` has."""
    values = next(iter(directive_values("constraint", place.ast_node, CONTRACT)), {})
    return {str(value) for value in values.values() if value is not None}


def test_a_limit_that_a_description_states_is_a_limit_of_the_contract() -> None:
    limited = {name: place for name, place in places() if stated(place) and name not in OTHER_LIMITS}

    assert len(limited) > 45
    assert [name for name, place in limited.items() if not set(stated(place)) <= declared(place)] == []


def test_every_limit_of_another_kind_is_one_of_the_contract() -> None:
    assert [name for name in OTHER_LIMITS if name not in dict(places()) or not stated(dict(places())[name])] == []
