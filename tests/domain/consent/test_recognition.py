"""The intent of a reply: the vectors, and rules that hold for any text."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.consent.recognition import HELP, OPT_IN, OPT_OUT, Intent, IntentKind, classify, is_reaction, normalize

VECTORS = Path(__file__).parents[2] / "vectors"
FILES = ("opt_out", "opt_out_more", "opt_out_revocations")
CASES = [case for name in FILES for case in json.loads((VECTORS / f"{name}.json").read_text())]

phrases = st.lists(st.sampled_from(" ".join(case["body"] for case in CASES).split()), max_size=60).map(" ".join)

WRONG_NUMBERS = sorted({case["body"] for case in CASES if case["expect"] == "wrong_number"})
DEMANDS = sorted(OPT_OUT | {case["body"] for case in CASES if case["expect"] == "opt_out" and len(case) == 2})
BETWEEN = (" ", ". ", ", ", "\n", " - ", "! ", "; ", "... ", " and ", " so ", "? ", " because ")
CLEAR_BETWEEN = (". ", ", ", "\n", "! ", "; ", "... ")
WORDS_ALONE = sorted(word for word in OPT_OUT if not any(map(str.isdigit, word)))
"""Keywords that cannot be read as anything else, as "stop2end" can: beside other words that is held at least."""


def test_every_vector_is_read_as_expected():
    wrong = [(case, kind) for case in CASES if (kind := kind_of(case)) != case["expect"]]

    assert wrong == []


def kind_of(case):
    """Return the kind of what a vector says, by what it says of the contact."""
    return classify(case["body"], **{name: case[name] for name in ("opted_out", "opt_in_pending") if name in case}).kind


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
def test_every_keyword_is_classified_as_the_kind_of_its_list(words, kind):
    assert [word for word in words if classify(word).kind is not kind] == []


def test_a_keyword_among_quotation_marks_is_no_report_of_a_tap():
    assert classify(".“   ”unsubscribe.“   ”") == Intent(IntentKind.opt_out, "UNSUBSCRIBE", "keyword")


@pytest.mark.parametrize("keyword", ["STOP", "STOPALL", "UNSUBSCRIBE", "CANCEL", "END", "QUIT", "REVOKE", "OPTOUT"])
@given(noise=st.text(st.sampled_from(" .!?*_\"'“”’\n\t🛑👍\ufe0f\u200b\u200d\ufeff"), max_size=6), data=st.data())
def test_no_case_sign_or_space_around_a_keyword_hides_it(keyword, noise, data):
    cases = data.draw(st.lists(st.booleans(), min_size=len(keyword), max_size=len(keyword)))
    spelling = "".join(mail if upper else mail.lower() for mail, upper in zip(keyword, cases, strict=True))

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
def test_an_opt_out_is_recognized_in_every_state_of_the_contact(body):
    plain = classify(body)

    if plain.kind is IntentKind.opt_out:
        assert classify(body, opted_out=True, opt_in_pending=True) == plain


@pytest.mark.parametrize(
    "body",
    [
        "STOP you have the wrong number",
        "STOP. You got the wrong number",
        "please stop, this is the wrong number",
        "STOP this isn't John's number",
        "This is not John's number, please stop",
        "QUIT you have the wrong number",
        "Numero equivocado, STOP",
        "Falsche Nummer, bitte STOP",
        "stop. nobody by that name here",
        "Mike no longer has this number. STOP",
        "you have the wrong number stop",
        "Wrong number, lose my number",
    ],
)
def test_a_demand_with_only_a_wrong_number_beside_it_is_an_opt_out(body):
    assert classify(body).kind is IntentKind.opt_out


@pytest.mark.parametrize(
    "body",
    [
        "STOP you have the wrong number, what is this about",
        "stop calling, you have the wrong number",
        "Wrong number. No more",
        "Cancel that. Wrong number",
        "cancel it wrong number",
        "Wrong number, sotp, Mike moved away",
        "wrong number 🛑",
        "Text STOP to cancel, sorry you have the wrong person",
    ],
)
def test_a_possible_demand_beside_a_wrong_number_is_held(body):
    assert classify(body).kind is IntentKind.review


@given(st.sampled_from(WRONG_NUMBERS), st.sampled_from(DEMANDS), st.sampled_from(BETWEEN), st.booleans())
def test_no_wrong_number_hides_a_demand_before_or_after_it(wrong, demand, between, demand_first):
    body = f"{demand}{between}{wrong}" if demand_first else f"{wrong}{between}{demand}"

    assert classify(body).kind in (IntentKind.opt_out, IntentKind.review)


@given(st.sampled_from(WRONG_NUMBERS), st.sampled_from(WORDS_ALONE), st.sampled_from(CLEAR_BETWEEN), st.booleans())
def test_a_keyword_that_is_a_clause_beside_a_wrong_number_is_an_opt_out(wrong, keyword, between, keyword_first):
    body = f"{keyword}{between}{wrong}" if keyword_first else f"{wrong}{between}{keyword}"

    assert classify(body).kind is IntentKind.opt_out


@pytest.mark.parametrize(
    ("body", "keyword"),
    [
        ("ST\N{CYRILLIC CAPITAL LETTER O}P", "STOP"),
        ("\N{CYRILLIC SMALL LETTER DZE}top", "STOP"),
        ("s\N{CYRILLIC SMALL LETTER TE}op", "STOP"),
        ("\u0405\u0422\u041e\u0420", "STOP"),
        ("ST\N{GREEK CAPITAL LETTER OMICRON}P!", "STOP"),
        ("CA\N{GREEK CAPITAL LETTER NU}CEL", "CANCEL"),
        ("re\N{GREEK SMALL LETTER NU}oke", "REVOKE"),
        ("\u03bf\u03c1\u03c4\u03bf\u03c5\u03c4", "OPTOUT"),
    ],
)
def test_letters_of_other_scripts_that_look_alike_do_not_hide_a_keyword(body, keyword):
    assert classify(body) == Intent(IntentKind.opt_out, keyword, "keyword")


def test_look_alike_letters_do_not_hide_a_demand():
    body = "ST\N{CYRILLIC CAPITAL LETTER O}P what time is the showing of the house with the garden"

    assert classify(body).kind is IntentKind.review
    assert classify("st\N{CYRILLIC SMALL LETTER O}p texting me").kind is IntentKind.opt_out


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("стоп", IntentKind.opt_out),
        ("στοπ", IntentKind.opt_out),
        ("Не туда попали", IntentKind.wrong_number),
        ("стол", IntentKind.none),
        ("Рост, порт и спор", IntentKind.none),
        ("τόπος", IntentKind.none),
        ("Привет, iPhone у меня", IntentKind.none),
    ],
)
def test_real_words_of_other_scripts_are_read_as_they_are(body, kind):
    assert classify(body).kind is kind


@pytest.mark.parametrize("body", ["wrong number", "Sorry, you have the wrong number", "Wrong number, my name is Dan"])
def test_a_wrong_number_alone_is_no_demand(body):
    assert classify(body).kind is IntentKind.wrong_number


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("STOP", IntentKind.opt_out),
        ("Unsubscribe:", IntentKind.opt_out),
        ("Stop texting me", IntentKind.opt_out),
        ("Take me off", IntentKind.opt_out),
        ("Cancel", IntentKind.review),
        ("No more", IntentKind.review),
        ("Wrong number", IntentKind.wrong_number),
        ("Stop by", IntentKind.none),
        ("Help", IntentKind.none),
        ("Le encantó", IntentKind.none),
        ("Quitó un corazón de", IntentKind.none),
        ("Removed a heart from", IntentKind.none),
    ],
)
def test_a_demand_before_a_quoted_text_is_no_reaction_to_it(said: str, kind: IntentKind) -> None:
    body = f"{said} “Huge sale today only at Blue Door. Reply STOP to opt out”"

    assert classify(body).kind is kind
    assert is_reaction(body) is (kind is IntentKind.none)
