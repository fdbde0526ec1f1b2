"""Logs: one form for all of them, with nothing private in it."""

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from app.telemetry.logs import Throttle, configure, mask
from app.telemetry.requests import REQUEST_ID


def masked(**event: Any) -> dict[str, Any]:
    """Return what is left of an event."""
    return dict(mask(None, "info", event))


@pytest.mark.parametrize(
    ("written", "left"),
    [
        ("sent to +12025550143", "sent to +1202•••0143"),
        ("sent to +12025550143, not to +447700900123.", "sent to +1202•••0143, not to +4477•••0123."),
        ("POST /twilio?From=%2B12025550143", "POST /twilio?From=%2B1202•••0143"),
        ("+4412345", "+44•••45"),
        ("+1202555014", "+12•••14"),
        ("2026-11-21T10:00:00+00:00", "2026-11-21T10:00:00+00:00"),
        ("message 12025550143", "message 12025550143"),
        ("3 + 4", "3 + 4"),
        ("Failing row contains (7, +12025550143, (dear) you).\nnext", "Failing row contains (•••).\nnext"),
    ],
)
def test_phone_numbers_and_rows_lose_their_middle_wherever_they_stand(written: str, left: str) -> None:
    assert masked(event=written) == {"event": left}


@pytest.mark.parametrize(
    ("key", "written", "left"),
    [
        ("to", "12025550143", "1202•••0143"),
        ("phone", "+1 (202) 555-0143", "+1202•••0143"),
        ("from_number", 12025550143, "1202•••0143"),
        ("to", ["+12025550143", "5550143"], ["+1202•••0143", "55•••43"]),
        ("body", "see you", "<7 characters>"),
        ("message", b"see you", "<7 characters>"),
        ("text", "", "<0 characters>"),
        ("input", {"message": "see you", "to": "+12025550143"}, {"message": "<7 characters>", "to": "+1202•••0143"}),
        ("error", ValueError("no +12025550143"), "no +1202•••0143"),
        ("account_id", 12025550143, 12025550143),
        ("success", True, True),
        ("cost", 0.5, 0.5),
        ("contact", None, None),
    ],
)
def test_a_value_is_masked_by_its_key(key: str, written: Any, left: Any) -> None:
    assert masked(**{key: written}) == {key: left}


WORDS = st.text(st.characters(exclude_categories=["Nd", "Cs"]))


@given(WORDS, st.from_regex(r"\+[1-9][0-9]{6,14}", fullmatch=True), WORDS)
def test_three_digits_of_any_number_are_hidden_and_the_words_around_it_kept(
    before: str, number: str, after: str
) -> None:
    left = masked(event=f"{before}{number}{after}")["event"]

    assert left.startswith(before + "+")
    assert left.endswith(after)
    assert sum(character.isdecimal() for character in left) <= len(number) - len("+") - 3


@pytest.fixture
def request_id() -> Iterator[str]:
    """Provide the id of the request that is being served."""
    before = REQUEST_ID.set("request-1")
    yield "request-1"
    REQUEST_ID.reset(before)


def test_structlog_and_the_standard_library_write_the_same_form(
    request_id: str, capsys: pytest.CaptureFixture[str]
) -> None:
    configure("json", "info")

    structlog.get_logger("ours").info("sent", to="+12025550143", body="hello")
    logging.getLogger("theirs").warning("no answer from %s", "+12025550143")

    ours, theirs = map(json.loads, capsys.readouterr().err.splitlines())
    assert ours.pop("timestamp") <= theirs.pop("timestamp")
    shared = {"request_id": request_id}
    assert ours == shared | {
        "event": "sent",
        "to": "+1202•••0143",
        "body": "<5 characters>",
        "logger": "ours",
        "level": "info",
    }
    assert theirs == shared | {"event": "no answer from +1202•••0143", "logger": "theirs", "level": "warning"}


@pytest.mark.parametrize("form", ["json", "pretty"])
def test_a_traceback_is_written_and_masked(form: Any, capsys: pytest.CaptureFixture[str]) -> None:
    configure(form, "info")

    try:
        raise ValueError("no such number: +12025550143")
    except ValueError:
        structlog.get_logger().exception("lookup failed")

    written = capsys.readouterr().err
    assert "ValueError: no such number: +1202•••0143" in written
    assert "2025550143" not in written


def test_lines_below_the_level_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    configure("json", "warning")

    structlog.get_logger().info("quiet")
    logging.getLogger("theirs").info("quiet")
    structlog.get_logger().warning("loud")

    assert [json.loads(line)["event"] for line in capsys.readouterr().err.splitlines()] == ["loud"]


def test_a_throttle_lets_one_pass_in_its_time() -> None:
    slow, quick = Throttle(seconds=3600), Throttle(seconds=0)

    assert [slow.passes() for _ in range(3)] == [True, False, False]
    assert [quick.passes() for _ in range(3)] == [True, True, True]
