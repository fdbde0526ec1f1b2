"""Every way to fail says what happened and what to do."""

import re

import pytest

from app.domain.carriers.carrier import FailureCode
from app.domain.messages.failures import DESCRIPTIONS, OwnCode, describe

CODES = [*FailureCode, *OwnCode]


def test_every_code_is_explained_and_none_is_left_over():
    assert sorted(DESCRIPTIONS) == sorted(CODES)
    assert len(set(CODES)) == len(CODES) == 23


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
    assert len(set(DESCRIPTIONS.values())) == len(CODES)


@pytest.mark.parametrize("code", DESCRIPTIONS)
def test_no_sentence_promises_that_a_failed_text_is_still_sent(code: str) -> None:
    assert re.search(r"by itself|is sent again|will be sent|the text leaves", describe(code), re.IGNORECASE) is None
