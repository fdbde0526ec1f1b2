"""Checks of texts: what is found, where, and what is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.templates import lint
from app.domain.templates.lint import MOST_FOUND, RULES, Sender, Severity, check
from app.domain.templates.lint_lists import SHORTENERS
from app.domain.templates.vocabulary import OF_CONTACTS

SENDER = Sender("Blue Door", "US", frozenset({"bluedoor.com"}), frozenset({"+12025550143"}))
PLAIN = "Blue Door: your table is ready at 7 pm."


def found(text: str, *, template: bool = False, first: bool = False) -> list[tuple[str, str]]:
    """Return the rules of the findings, each with the part of the text that it is about."""
    findings = check(text, SENDER, OF_CONTACTS if template else None, is_first_promotional=first)
    return [(each.rule, text[each.start : each.end]) for each in findings]


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        "Blue Door: book at https://www.bluedoor.com/a or reply YES. Reply STOP to opt out, HELP for help.",
        "BLUE DOOR, ok",
        "Blue Door: free of charge! Call 202-555-0143.",
        "Blue Door: Zoë, it’s ready",
    ],
)
def test_a_plain_text_has_no_finding(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        ("See bit.ly/abc", ("shortener", "bit.ly/abc")),
        ("See http://203.0.113.7/a", ("link_host", "http://203.0.113.7/a")),
        ("See xn--pypal-4ve.com", ("link_host", "xn--pypal-4ve.com")),
        ("See https://pаypal.com", ("link_host", "https://pаypal.com")),
        ("See example.com", ("foreign_link", "example.com")),
        ("bluedoor.com/a www.bluedoor.com/b", ("many_links", "www.bluedoor.com/b")),
        ("EVERYTHING MUST GO TODAY, folks", ("capitals", "EVERYTHING MUST GO TODAY, folks")),
        ("Act now!! Free shoes, winner", ("pressure", "Act now")),
        ("The best Vodka", ("restricted", "Vodka")),
        ("A payday loan for you", ("restricted", "payday loan")),
        ("Hello there", ("no_company_name", "Hello there")),
        ("Call 202-555-0199", ("foreign_phone", "202-555-0199")),
        ("Please verify your account", ("phishing", "verify your account")),
        ("Your code is 123456", ("phishing", "code is 123456")),
        ("Hi [First Name]", ("blank", "[First Name]")),
        ("Hi {{first_name}}", ("blank", "{{first_name}}")),
        ("Hi %FNAME% *|LNAME|* <name>", ("blank", "%FNAME%")),
        ("Hi {first_name}", ("unused_placeholder", "{first_name}")),
        ("It’s " + "a" * 80, ("encoding", "’")),
        ("✨" + "a" * 80, ("encoding", "✨")),
        ("a" * 159 + "\r\n", ("line_ends", "\r\n")),
    ],
)
def test_a_finding_has_its_rule_and_its_place(text: str, finding: tuple[str, str]) -> None:
    assert finding in found(text)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("Reply CANCEL to cancel your visit", "CANCEL"),
        ("Reply with 'END' to end the session", "END"),
        ("Text QUIT to leave the course", "QUIT"),
        ("reply stop to stop the delivery", "stop"),
        ("Reply START to begin the quiz", "START"),
        ("Reply HELP to talk to a stylist", "HELP"),
        ("Send UNSUBSCRIBE to change your plan", "UNSUBSCRIBE"),
        ("Reply REMOVE to drop an item", "REMOVE"),
    ],
)
def test_a_reserved_word_asked_for_as_an_answer_is_found(text: str, word: str) -> None:
    assert ("reserved_reply", word) in found(text)


@pytest.mark.parametrize(
    "text",
    [
        "Reply STOP to opt out.",
        "Reply STOP to unsubscribe",
        "Text STOP to cancel",
        "Reply STOP to stop all messages, HELP for help.",
        "Reply STOP to end texts from us",
        "Txt STOP 2 quit",
        "Reply HELP for help",
        "Reply START to resubscribe",
        "Reply YES to confirm or NO to decline",
        "Stop by at 5. Reply MENU for the menu",
        "Cancel any time on our site",
    ],
)
def test_an_instruction_about_the_texts_themselves_is_no_finding(text: str) -> None:
    assert [rule for rule, _ in found(text) if rule == "reserved_reply"] == []


def test_the_act_of_the_service_is_told() -> None:
    [finding] = [each for each in check("Reply CANCEL to cancel your visit", SENDER) if each.rule == "reserved_reply"]

    assert finding == (
        "reserved_reply",
        Severity.high,
        "The text asks for the reply CANCEL, which opts the person out of all texts.",
        "Ask for another word, such as CHANGE or NO.",
        6,
        12,
    )


def test_placeholders_are_no_findings_and_their_faults_are_errors_that_come_first() -> None:
    text = "{company_name}: hi {first_name|YOU ALL}, see {custom.link}"

    assert found("{company_name}: hi {first_name|YOU ALL}", template=True) == []
    assert found(text, template=True) == [("placeholder", "{custom.link}")]
    assert found(f"bit.ly/a {text}", template=True)[:2] == [("placeholder", "{custom.link}"), ("shortener", "bit.ly/a")]


def test_the_first_promotional_text_tells_how_to_opt_out() -> None:
    assert found(PLAIN, first=True) == [("no_opt_out", PLAIN)]
    assert found(f"{PLAIN} Reply STOP to opt out", first=True) == []
    assert found(f"{PLAIN} STOP=end", first=True) == []


def test_unknown_facts_of_an_account_are_not_checked() -> None:
    assert check("See example.com, call 202-555-0199", Sender("")) == []


def test_the_number_of_findings_is_bounded() -> None:
    assert len(check("vodka " * 200, SENDER)) == MOST_FOUND


def test_each_rule_has_an_id_of_its_own_and_the_shorteners_are_hosts() -> None:
    assert len({rule.id for rule in RULES}) == len(RULES)
    assert {"bit.ly", "tinyurl.com", "t.co", "goo.gl", "ow.ly", "is.gd", "rb.gy", "cutt.ly"} <= set(SHORTENERS.split())
    assert set(lint.RULES_OF_TEMPLATES) < set(RULES)


pieces = st.sampled_from(["{", "}", "bit.ly/", "http://", "STOP", "reply ", "’", "\r\n", "202-555-0199 "])


@given(st.text(max_size=200) | st.lists(pieces).map("".join))
def test_no_text_makes_a_check_fail(text: str) -> None:
    for known in (None, OF_CONTACTS):
        for finding in check(text, SENDER, known, is_first_promotional=True):
            assert 0 <= finding.start <= finding.end <= len(text)


@pytest.mark.parametrize(
    "text", ["reply" + " " * 10_000 + "x", "reply STOP" + " " * 10_000 + "x", "send:" + "\n" * 10_000]
)
def test_a_text_of_blanks_is_checked_at_once(text: str) -> None:
    assert "reserved_reply" not in [each.rule for each in check(text, Sender("Acme"))]
