"""Describe filters in words."""

from app.domain.segments.fields import Operator
from app.domain.segments.filters import Condition, Group, Match, Messages, Node, show_value

WORDS = {
    Operator.eq: "is",
    Operator.ne: "is not",
    Operator.in_: "is one of",
    Operator.not_in: "is none of",
    Operator.contains: "contains",
    Operator.starts_with: "starts with",
    Operator.gt: "is greater than",
    Operator.gte: "is at least",
    Operator.lt: "is less than",
    Operator.lte: "is at most",
    Operator.between: "is between",
    Operator.before: "is before",
    Operator.after: "is after",
    Operator.within_last: "is within the last",
    Operator.not_within_last: "is not within the last",
    Operator.has_any: "has any of",
    Operator.has_all: "has all of",
    Operator.has_none: "has none of",
    Operator.is_set: "is set",
    Operator.is_empty: "is empty",
}


def describe(node: Node) -> str:
    """Return a filter as a sentence without its dot."""
    if isinstance(node, Condition):
        joined = (" and " if node.operator is Operator.between else ", ").join(map(show_value, node.values))
        return f"{node.field}{_counted(node.messages)} {WORDS[node.operator]} {joined}".rstrip()
    joined = (" and " if node.match is Match.all else " or ").join(map(_inner, node.nodes))
    return f"not ({joined})" if node.match is Match.none else joined


def _counted(messages: Messages) -> str:
    """Return which messages a condition counts, in brackets; empty for all."""
    within = f"within the last {messages.within}" if messages.within else None
    parts = [each for each in (messages.direction, messages.status, within) if each]
    return f" ({', '.join(parts)})" if parts else ""


def _inner(node: Node) -> str:
    """Return a node within a group; a group of several nodes is in brackets."""
    is_several = isinstance(node, Group) and node.match is not Match.none and len(node.nodes) > 1
    return f"({describe(node)})" if is_several else describe(node)
