"""The writer that needs no model: what it makes of the briefs that people write."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.agents.check import faults
from app.domain.agents.writer import Brief
from app.domain.kernel.sms_parts import count
from app.providers.writers.template.candidates import candidates
from app.providers.writers.template.writer import TemplateWriter

samples = [
    (
        "Remind patients about their dental appointment tomorrow at 3pm at Bright Smile Clinic",
        "Bright Smile Clinic",
        "Hi {first_name}, just a reminder about your dental appointment tomorrow at 3pm at Bright Smile Clinic. "
        "Reply STOP to opt out.",
    ),
    (
        "Announce our Black Friday sale: 30% off gym memberships, ends Monday",
        "Iron House",
        "Hi {first_name}, it's Iron House. We're excited to announce our Black Friday sale: 30% off gym memberships, "
        "ends Monday. Reply STOP to opt out.",
    ),
    (
        "Invite past clients to an open house at 12 Oak Street on Sunday 2pm",
        "Oak Realty",
        "Hi {first_name}, it's Oak Realty. You're invited to an open house at 12 Oak Street on Sunday 2pm. "
        "Reply STOP to opt out.",
    ),
    (
        "Ask for a Google review after plumbing repair",
        "Joe's Plumbing",
        "Hi {first_name}, it's Joe's Plumbing. Could you leave us a Google review after your plumbing repair? "
        "It would mean a lot to us. Reply STOP to opt out.",
    ),
    (
        "Tell people mortgage rates dropped and offer a free 10 minute call",
        "Summit Lending",
        "Hi {first_name}, it's Summit Lending. Just letting you know that mortgage rates dropped. "
        "We're offering a free 10 minute call. Reply STOP to opt out.",
    ),
    (
        "Free dessert with any dinner on Tuesday",
        "Luigi’s",
        "Hi {first_name}, it's Luigi's. Good news: free dessert with any dinner on Tuesday. Reply STOP to opt out.",
    ),
    (
        "Can you write a friendly message to thank customers for their purchase and ask them to leave a review at "
        "g.page/acme?",
        "Acme",
        "Hi {first_name}, thank you for your purchase! Could you leave a review at g.page/acme? "
        "It would mean a lot to us. Reply STOP to opt out.",
    ),
    (
        "Follow up with leads who asked about pricing",
        "Summit",
        "Hi {first_name}, it's Summit. We're following up because you asked about pricing. How can we help? "
        "Reply STOP to opt out.",
    ),
    (
        "Payment reminder: invoice 1042 for $250 is due on May 5",
        "Acme",
        "Hi {first_name}, it's Acme. A friendly reminder that invoice 1042 for $250 is due on May 5. Thank you! "
        "Reply STOP to opt out.",
    ),
    (
        "Let customers know that we are closed on Monday for the holiday",
        "Cafe Uno",
        "Hi {first_name}, it's Cafe Uno. Please note that we are closed on Monday for the holiday. "
        "Reply STOP to opt out.",
    ),
    (
        "Write a short, friendly SMS to homeowners offering a free roof inspection. Mention that spots are limited. "
        "Keep it under 160 characters.",
        "Peak Roofing",
        "Hi {first_name}, it's Peak Roofing. We're offering a free roof inspection. "
        "Just letting you know that spots are limited. Reply STOP to opt out.",
    ),
    (
        "Ask leads if they are still interested in a quote",
        "Solar One",
        "Hi {first_name}, it's Solar One. Are you still interested in a quote? Reply STOP to opt out.",
    ),
    (
        "Write a dental appointment reminder for tomorrow at 3pm",
        "Bright Smile",
        "Hi {first_name}, it's Bright Smile. Just a reminder about your dental appointment tomorrow at 3pm. "
        "Reply STOP to opt out.",
    ),
    (
        "Appointment reminder for tomorrow at 3pm with Dr. Lee",
        "Bright Smile",
        "Hi {first_name}, it's Bright Smile. Just a reminder about your appointment tomorrow at 3pm with Dr. Lee. "
        "Reply STOP to opt out.",
    ),
    (
        "Write a message to members about how to share photos with us",
        "Iron House",
        "Hi {first_name}, it's Iron House. Here's how to share photos with us. Reply STOP to opt out.",
    ),
    (
        "Confirm booking for Friday at 10am",
        "Spa Bliss",
        "Hi {first_name}, it's Spa Bliss. Just confirming your booking for Friday at 10am. Reply STOP to opt out.",
    ),
    (
        "Welcome new members to Iron House gym",
        "Iron House",
        "Hi {first_name}, welcome to Iron House gym! We're glad you're here. Reply STOP to opt out.",
    ),
    (
        "Encourage members to refer a friend and get $50",
        "Iron House",
        "Hi {first_name}, it's Iron House. Why not refer a friend and get $50? Reply STOP to opt out.",
    ),
    (
        "Apologize for the delay in shipping order 5512",
        "Acme",
        "Hi {first_name}, it's Acme. We're sorry for the delay in shipping order 5512. Reply STOP to opt out.",
    ),
    (
        "Wish our clients a happy Thanksgiving",
        "Acme",
        "Hi {first_name}, it's Acme. We wish you a happy Thanksgiving! Reply STOP to opt out.",
    ),
    (
        "Last chance! Our spring sale ends tonight — use code “SPRING20” at shoply.com",
        "Shoply",
        'Hi {first_name}! Last chance! Our spring sale ends tonight - use code "SPRING20" at shoply.com '
        "Reply STOP to opt out.",
    ),
    (
        "Hi {first_name}, your order is ready for pickup! Reply STOP to opt out",
        "Shoply",
        "Hi {first_name}, it's Shoply. Your order is ready for pickup! Reply STOP to opt out.",
    ),
    (
        "Recordar a los clientes su cita mañana a las 10",
        "Clínica Sol",
        "Hi {first_name}! Recordar a los clientes su cita mañana a las 10. Reply STOP to opt out.",
    ),
    ("", "Acme", "Hi {first_name}, it's Acme. We're thinking of you. Reply STOP to opt out."),
]

WORDS = """write a text that reminds customers about their appointment to and offer 20% off ask for who said: , . ! ?
thank them https://a.example/b 3pm remind invite announce welcome confirm our sale {first_name} {x} YES STOP 🎉 —
“we’re” follow up with leads birthday message review $5 if are you"""
words = st.sampled_from([*WORDS.split(), "\n"])
descriptions = st.text(max_size=300) | st.lists(words, max_size=40).map(" ".join)


@pytest.mark.parametrize(("description", "company", "expected"), samples)
def test_a_brief_becomes_the_text_that_a_person_would_write(description: str, company: str, expected: str) -> None:
    assert candidates(Brief(description, company))[0] == expected


@pytest.mark.parametrize(("description", "company", "expected"), samples)
def test_every_candidate_of_a_sample_is_one_faultless_segment(description: str, company: str, expected: str) -> None:
    brief = Brief(description, company)

    written = candidates(brief)

    assert [faults(text, brief) for text in written] == [[], [], []]
    assert [count(text).segments for text in written] == [1, 1, 1]


@given(descriptions, st.text(max_size=80), st.integers(1, 9))
def test_any_brief_becomes_different_faultless_texts(description: str, company: str, number: int) -> None:
    brief = Brief(description, company, number)

    written = candidates(brief)

    assert len(set(written)) == number
    assert [faults(text, brief) for text in written] == [[]] * number
    assert all(text.endswith(" Reply STOP to opt out.") for text in written)


@given(st.integers(200, 500), st.integers(1, 12))
def test_a_long_brief_is_cut_between_words(number: int, length: int) -> None:
    brief = Brief(" ".join(f"{'w' * length}{position}" for position in range(number)), "")

    for text in candidates(brief):
        assert len(text) <= 1600
        assert faults(text, brief) == []


def test_one_endless_word_is_left_out() -> None:
    assert candidates(Brief("x" * 2000, "Acme", 1)) == [
        "Hi {first_name}, it's Acme. We have news for you. Reply STOP to opt out."
    ]


def test_a_brief_of_two_segments_keeps_every_word() -> None:
    description = (
        "Our annual clearance starts on Saturday at 8am at 14 Harbor Road, with garden furniture, tools, paint, lamps "
        "and kitchen tiles at half of the marked price until everything is gone"
    )

    (text,) = candidates(Brief(description, "Harbor Home", 1))

    assert description in text
    assert count(text).segments == 2


def test_the_company_is_named_once() -> None:
    (text,) = candidates(Brief("Come and see what is new at ACME", "Acme", 1))

    assert text == "Hi {first_name}! Come and see what is new at ACME. Reply STOP to opt out."


@pytest.mark.anyio
async def test_the_writer_writes_the_same_texts_every_time() -> None:
    brief = Brief("Remind customers of their oil change on Friday at 9am", "QuickLube")
    writer = TemplateWriter()

    assert writer.name == "template"
    assert await writer.write(brief) == await writer.write(brief) == candidates(brief)
