"""The division of a window's room between the accounts and carriers of due texts, for any texts, tokens and calls."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from app.domain.messages.division import UNPACED, Tokens, WaitingText, divide
from app.domain.messages.window import Room

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
SIZE = 16
ACCOUNTS, CARRIERS, NUMBERS = (1, 2, 3, 4), ("a", "b", "c"), ("n1", "n2", "n3", "n4", "n5")
WEIGHTS = {1: 1, 2: 1, 3: 2, 4: 6}


class Claimable(NamedTuple):
    """Due texts, and the room and tokens for them."""

    texts: list[WaitingText]
    room: Room
    most: int
    tokens: Tokens


def text(id: int, account_id: int = 1, number: str = "n1", carrier: str = "a", lane: int = 2) -> WaitingText:
    due_at = BEGAN + timedelta(seconds=id)
    return WaitingText(id, account_id, WEIGHTS[account_id], lane, number, carrier, 1, due_at, None)


@st.composite
def claimables(draw: st.DrawFn) -> Claimable:
    """Draw texts, each number of which has one account and one carrier."""
    owners = {name: (draw(st.sampled_from(ACCOUNTS)), draw(st.sampled_from(CARRIERS))) for name in NUMBERS}
    drawn = draw(st.lists(st.tuples(st.sampled_from(NUMBERS), st.integers(0, 3), st.integers(1, 4)), max_size=40))
    texts = [
        text(id, owners[number][0], number, owners[number][1], lane)._replace(segments=segments)
        for id, (number, lane, segments) in enumerate(drawn)
    ]
    held = st.integers(0, SIZE // 2)
    accounts = Counter(draw(st.dictionaries(st.sampled_from(ACCOUNTS), held)))
    carriers = Counter(draw(st.dictionaries(st.sampled_from(CARRIERS), held)))
    room = Room(SIZE, draw(st.integers(0, SIZE)), accounts, carriers)
    tokens = st.sampled_from([float("inf"), 0.0, 2.0, 5.5])
    paces = Tokens({name: draw(tokens) for name in NUMBERS}, {name: draw(tokens) for name in CARRIERS})
    return Claimable(draw(st.permutations(texts)), room, draw(st.integers(0, SIZE)), paces)


@given(claimables())
def test_a_claim_takes_each_text_once_and_no_more_than_it_may_in_the_order_of_lanes_and_times(of: Claimable) -> None:
    chosen = divide(*of)

    assert len(chosen) <= of.most
    assert len({each.message_id for each in chosen}) == len(chosen)
    assert {*chosen} <= {*of.texts}
    assert chosen == sorted(chosen, key=attrgetter("lane", "due_at", "message_id"))


@given(claimables())
def test_a_claim_leaves_slots_free_for_others_whoever_is_alone(of: Claimable) -> None:
    chosen, room = divide(*of), of.room

    for account_id, count in Counter(each.account_id for each in chosen).items():
        assert count <= (room.free - room.accounts[account_id] + 1) // 2
    for carrier, count in Counter(each.carrier for each in chosen).items():
        assert count <= (3 * room.free - room.carriers[carrier] + 3) // 4


@given(claimables())
def test_the_last_text_of_a_number_or_carrier_begins_while_it_has_tokens(of: Claimable) -> None:
    chosen = divide(*of)

    for name, own in groupby(sorted(chosen, key=attrgetter("number")), attrgetter("number")):
        parts = [each.segments for each in own]
        assert sum(parts[:-1]) <= of.tokens.numbers[name]
    for name, own in groupby(sorted(chosen, key=attrgetter("carrier")), attrgetter("carrier")):
        parts = sorted(each.segments for each in own)
        assert sum(parts) - parts[-1] <= of.tokens.carriers[name]


def test_accounts_with_more_texts_than_their_parts_get_these_by_their_weights() -> None:
    texts = [text(place * 10 + id, id, f"n{id}") for place in range(20) for id in (1, 3)]

    chosen = divide(texts, Room(SIZE, SIZE, Counter(), Counter()), SIZE, UNPACED)

    assert Counter(each.account_id for each in chosen) == {1: SIZE // 4, 3: 2 * SIZE // 5}


def test_carriers_with_more_texts_than_a_quarter_of_the_window_get_a_quarter() -> None:
    carriers = {1: "a", 2: "a", 3: "b", 4: "b"}
    texts = [text(place * 10 + id, id, f"n{id}", carriers[id]) for place in range(20) for id in ACCOUNTS]

    chosen = divide(texts, Room(SIZE, SIZE, Counter(), Counter()), SIZE, UNPACED)

    assert Counter(each.carrier for each in chosen) == {"a": SIZE // 4, "b": SIZE // 4}


def test_an_account_that_is_alone_gets_half_of_the_room_and_one_beside_others_its_fair_part() -> None:
    alone = [text(id) for id in range(20)]
    calls = Room(SIZE, SIZE, Counter(), Counter())

    assert [each.message_id for each in divide(alone, calls, SIZE, UNPACED)] == [*range(SIZE // 2)]

    both = [*alone, *(text(100 + id, 2, "n2") for id in range(20))]
    assert Counter(each.account_id for each in divide(both, calls, SIZE, UNPACED)) == {1: SIZE // 4, 2: SIZE // 4}


def test_texts_of_an_urgent_lane_come_first_and_accounts_take_turns_within_a_lane() -> None:
    texts = [*(text(id) for id in range(4)), text(10, 2, "n2"), text(11, 3, "n3", lane=0)]

    chosen = divide(texts, Room(SIZE, SIZE, Counter(), Counter()), 3, UNPACED)

    assert [each.message_id for each in chosen] == [11, 0, 10]
