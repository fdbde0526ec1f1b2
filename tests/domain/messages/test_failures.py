"""Every way to fail says what happened and what to do."""

import re

import pytest

from app.domain.messages.carrier import FailureCode
from app.domain.messages.failures import FAILURES, Effect, Failure, Kind, OwnCode, describe

CODES = [*FailureCode, *OwnCode]


def test_every_code_is_explained_and_none_is_left_over():
    assert sorted(FAILURES) == sorted(CODES)
    assert len(set(CODES)) == len(CODES) == 21


@pytest.mark.parametrize("code", CODES)
def test_a_description_is_one_sentence_on_the_cause_and_one_on_the_remedy(code):
    sentences = describe(code).split(". ")

    assert len(sentences) == 2
    assert all(sentence[0].isupper() for sentence in sentences)
    assert describe(code).endswith(".")
    assert len(describe(code)) <= 200


def test_a_stored_code_is_described_as_its_name():
    assert describe("landline") == (
        "The number is a landline, which takes no texts. Ask the contact for a mobile number."
    )


def test_an_unknown_code_is_not_described():
    with pytest.raises(KeyError):
        describe("weather")


def test_no_two_codes_share_a_description():
    assert len({failure.description for failure in FAILURES.values()}) == len(CODES)


@pytest.mark.parametrize(
    ("code", "kind", "effect"),
    [
        ("invalid_number", "permanent", "mark_invalid"),
        ("landline", "permanent", "mark_landline"),
        ("unreachable", "temporary", "count_unreachable"),
        ("blocked", "route", "none"),
        ("filtered", "content", "lower_health"),
        ("opted_out", "permanent", "opt_out"),
        ("unregistered_sender", "sender", "stop_sender"),
        ("rate_limited", "temporary", "requeue"),
        ("daily_cap", "temporary", "defer_to_next_day"),
        ("expired", "temporary", "none"),
        ("destination_not_allowed", "config", "none"),
        ("sender_invalid", "config", "none"),
        ("message_rejected", "permanent", "none"),
        ("quiet_hours_carrier", "policy", "defer_to_window"),
        ("account_problem", "config", "pause_sending"),
        ("carrier_error", "temporary", "none"),
        ("canceled", "canceled", "none"),
        ("contact_opted_out", "policy", "none"),
        ("contact_dnd", "policy", "none"),
        ("contact_held", "policy", "none"),
    ],
)
def test_each_code_is_of_its_kind_and_has_its_effect(code, kind, effect):
    assert FAILURES[code] == Failure(Kind(kind), Effect(effect), describe(code))


@pytest.mark.parametrize("code", FAILURES)
def test_no_sentence_promises_that_a_failed_text_is_still_sent(code: str) -> None:
    assert re.search(r"by itself|is sent again|will be sent|the text leaves", describe(code), re.IGNORECASE) is None
