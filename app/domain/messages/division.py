"""Divides the room of a window between accounts and carriers: which of the due texts a claim takes."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import accumulate
from operator import attrgetter
from typing import NamedTuple, TypeVar

from app.domain.messages.window import Room

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


class WaitingText(NamedTuple):
    """A due text that a claim has locked, with the weight of its account; see `Claim` for `to_number`."""

    message_id: int
    account_id: int
    weight: int
    lane: int
    number: str
    carrier: str
    segments: int
    due_at: datetime
    to_number: str | None


class Tokens(NamedTuple):
    """The tokens of sending numbers and of carriers, in SMS parts; those that it does not name have no pace."""

    numbers: Mapping[str, float]
    carriers: Mapping[str, float]


UNLIMITED = float("inf")
UNPACED = Tokens({}, {})


class _Turn(NamedTuple):
    """A text in the order of a claim; it `is_over` where its account has its fair part without it."""

    is_over: bool
    lane: int
    turn: int
    due_at: datetime
    text: WaitingText


_urgency = attrgetter("lane", "due_at", "message_id")
_carrier: Callable[[_Turn], str] = attrgetter("text.carrier")
_segments: Callable[[_Turn], int] = attrgetter("text.segments")


def divide(waiting: Iterable[WaitingText], room: Room, most: int, tokens: Tokens) -> list[WaitingText]:
    """Return at most `most` texts to claim, in the order of their lanes and times.

    Texts go lane by lane; the accounts of a lane take turns, in which each gets as many texts as its weight. The fair
    part of an account is its share beside three others of weight 1. Only an account, or a carrier, that is the only
    one with more texts than its fair part gets more than that part.
    """
    turns = sorted(_divide_between_accounts(_find_paid(waiting, tokens.numbers), room))
    chosen = sorted(_divide_between_carriers(turns, room, tokens.carriers))
    return sorted((turn.text for _, turn in chosen[:most]), key=_urgency)


def _find_paid(waiting: Iterable[WaitingText], tokens: Mapping[str, float]) -> list[WaitingText]:
    """Return the texts that may leave before the tokens of their numbers are used up, the most urgent first."""
    of_number = _group(sorted(waiting, key=_urgency), attrgetter("number"))
    paid = {
        number: _count_paid([each.segments for each in own], tokens.get(number, UNLIMITED))
        for number, own in of_number.items()
    }
    return sorted((text for number, own in of_number.items() for text in own[: paid[number]]), key=_urgency)


def _divide_between_accounts(texts: Iterable[WaitingText], room: Room) -> Iterator[_Turn]:
    of_account: Mapping[int, list[WaitingText]] = _group(texts, attrgetter("account_id"))
    fair = {id: _fair_part(own[0].weight, room) - room.accounts[id] for id, own in of_account.items()}
    most = {id: (room.free - room.accounts[id] + 1) // 2 for id in of_account}
    for is_over, place, text in _divide(of_account, fair, most):
        yield _Turn(is_over, text.lane, (place + text.weight - 1) // text.weight, text.due_at, text)


def _divide_between_carriers(
    turns: Iterable[_Turn], room: Room, tokens: Mapping[str, float]
) -> Iterator[tuple[bool, _Turn]]:
    """Return turns, each with whether its carrier has its fair part without it."""
    of_carrier = _group(turns, _carrier)
    fair = {key: max(1, room.size // 4) - room.carriers[key] for key in of_carrier}
    paid = {key: _count_paid([*map(_segments, own)], tokens.get(key, UNLIMITED)) for key, own in of_carrier.items()}
    most = {key: min((3 * room.free - room.carriers[key] + 3) // 4, paid[key]) for key in of_carrier}
    for is_over, _, turn in _divide(of_carrier, fair, most):
        yield is_over, turn


def _divide(
    groups: Mapping[K, Sequence[T]], fair: Mapping[K, int], most: Mapping[K, int]
) -> Iterator[tuple[bool, int, T]]:
    """Return the items that get a slot, each with its place, and whether its group has its fair part without it."""
    others_wait = sum(len(own) > fair[key] for key, own in groups.items()) > 1
    for key, own in groups.items():
        part = min(most[key], fair[key]) if others_wait else most[key]
        for place, item in enumerate(own[: max(0, part)], 1):
            yield place > fair[key], place, item


def _fair_part(weight: int, room: Room) -> int:
    return max(1, room.size * weight // (weight + 3))


def _count_paid(segments: Sequence[int], tokens: float) -> int:
    """Return the number of texts of some SMS parts that begin while there are tokens."""
    if tokens == UNLIMITED:
        return len(segments)
    *parts_before, _ = accumulate(segments, initial=0)
    return sum(parts <= tokens for parts in parts_before)


def _group(items: Iterable[T], key: Callable[[T], K]) -> Mapping[K, list[T]]:
    groups = defaultdict[K, list[T]](list)
    for item in items:
        groups[key(item)].append(item)
    return groups
