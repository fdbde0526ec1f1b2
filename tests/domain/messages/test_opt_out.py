"""What a person's answer asks for: the vectors, and rules that hold for any text."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.messages.opt_out import HELP, OPT_IN, OPT_OUT, Intent, IntentKind, classify, normalize

VECTORS = Path(__file__).parents[2] / "vectors"
CASES = [case for name in ("opt_out", "opt_out_more") for case in json.loads((VECTORS / f"{name}.json").read_text())]

phrases = st.lists(st.sampled_from(" ".join(case["body"] for case in CASES).split()), max_size=60).map(" ".join)


@pytest.mark.parametrize("case", CASES, ids=lambda case: ascii(case["body"])[1:60])
def test_every_vector_is_read_as_expected(case):
    state = {key: value for key, value in case.items() if key in ("opted_out", "opt_in_pending")}

    assert classify(case["body"], **state).kind == case["expect"]


@pytest.mark.parametrize(
    ("body", "intent"),
    [
        ("Stop. Thank you", Intent(IntentKind.opt_out, "STOP", "keyword")),
        ("OPT-OUT", Intent(IntentKind.opt_out, "OPTOUT", "keyword")),
        ("arrêt", Intent(IntentKind.opt_out, "ARRET", "keyword")),
        ("stop stop cancel", Intent(IntentKind.opt_out, "STOP", "keyword")),
        ("Not interested. STOP", Intent(IntentKind.opt_out, "STOP", "keyword")),
        ("sotp", Intent(IntentKind.opt_out, "sotp", "typo")),
        ("I said DON’T text me again!", Intent(IntentKind.opt_out, "dont text me", "intent")),
        (
            "STOP what time is the showing",
            Intent(IntentKind.review, "stop what time is the showing", "possible_opt_out"),
        ),
        ("🛑", Intent(IntentKind.review, "", "sign")),
        ("You have the wrong number", Intent(IntentKind.wrong_number, "wrong number", "wrong_number")),
        ("Start", Intent(IntentKind.opt_in, "START", "keyword")),
        ("help please", Intent(IntentKind.help, "HELP", "keyword")),
        ("See you at 5", Intent(IntentKind.none)),
    ],
)
def test_the_keyword_and_the_reason_are_named(body, intent):
    assert classify(body) == intent


def test_yes_is_consent_only_after_an_opt_out_or_when_it_was_asked_for():
    assert classify("YES").kind is IntentKind.none
    assert classify("YES", opted_out=True) == Intent(IntentKind.opt_in, "YES", "keyword")
    assert classify("YES", opt_in_pending=True) == Intent(IntentKind.opt_in, "YES", "keyword")


def test_a_keyword_that_goes_on_is_held_up_to_40_characters_and_in_capitals_at_any_length():
    assert classify("stop " + "x" * 35).kind is IntentKind.review
    assert classify("stop " + "x" * 36).kind is IntentKind.none
    assert classify("STOP " + "x" * 400).kind is IntentKind.review


@pytest.mark.parametrize(
    ("words", "kind"), [(OPT_OUT, IntentKind.opt_out), (OPT_IN, IntentKind.opt_in), (HELP, IntentKind.help)]
)
def test_every_keyword_means_what_its_list_says(words, kind):
    assert [word for word in words if classify(word).kind is not kind] == []


@pytest.mark.parametrize("keyword", ["STOP", "STOPALL", "UNSUBSCRIBE", "CANCEL", "END", "QUIT", "REVOKE", "OPTOUT"])
@given(noise=st.text(st.sampled_from(" .!?*_\"'“”’\n\t🛑👍\ufe0f\u200b\u200d\ufeff"), max_size=6), data=st.data())
def test_no_case_sign_or_space_around_a_keyword_hides_it(keyword, noise, data):
    cases = data.draw(st.lists(st.booleans(), min_size=len(keyword), max_size=len(keyword)))
    spelling = "".join(letter if upper else letter.lower() for letter, upper in zip(keyword, cases, strict=True))

    assert classify(noise + spelling + noise) == Intent(IntentKind.opt_out, keyword, "keyword")


@given(st.text())
def test_normalizing_twice_changes_nothing_more(body):
    assert normalize(normalize(body)) == normalize(body)


@given(st.one_of(st.text(), phrases), st.booleans(), st.booleans())
def test_any_text_is_read_without_fail_and_named_in_32_characters(body, opted_out, pending):
    intent = classify(body, opted_out=opted_out, opt_in_pending=pending)

    assert len(intent.keyword) <= 32
    assert bool(intent.reason) is (intent.kind is not IntentKind.none)


@given(st.one_of(st.text(), phrases))
def test_without_an_opt_out_or_a_question_only_start_and_unstop_are_consent(body):
    intent = classify(body)

    assert intent.kind is not IntentKind.opt_in or intent.keyword in ("START", "UNSTOP")


@given(phrases)
def test_an_opt_out_is_one_whatever_is_known_of_the_contact(body):
    plain = classify(body)

    if plain.kind is IntentKind.opt_out:
        assert classify(body, opted_out=True, opt_in_pending=True) == plain
