"""Telling what a person wrote from what their phone wrote for them."""

import pytest

from app.domain.consent.quoted_replies import is_reply

WRITTEN = [
    "Yes",
    "ok, see you at 5",
    "",
    "👍",
    "Are you an automatic reply?",
    "I am driving, call you later",
    "My office is closed, come on Monday",
    'She said "stop by at 5"',
    "I replied automatically without thinking",
]
UNWRITTEN = [
    "Liked “See you at 5”",
    'Loved "See you at 5"',
    "Emphasized “Half price on shoes this week”",
    "I’m driving with Do Not Disturb While Driving turned on. I’ll see your message when I get where I’m going.",
    "I'm driving with Driving Focus turned on.",
    "Automatic reply: I am away until Monday.",
    "Auto-Reply: thanks for your message",
    "AUTOREPLY we will get back to you",
    "I am out of the office until 3 May.",
    "Out-of-office: back on Monday",
    "Ann has notifications silenced",
    "This is an automated response.",
    "This mailbox is not monitored.",
]


@pytest.mark.parametrize("body", WRITTEN)
def test_a_person_wrote_it(body: str) -> None:
    assert is_reply(body) is True


@pytest.mark.parametrize("body", UNWRITTEN)
def test_a_phone_or_a_mailbox_wrote_it(body: str) -> None:
    assert is_reply(body) is False
