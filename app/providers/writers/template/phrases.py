"""Phrases of the template writer: patterns by intent and by the form of their words."""

import enum
from dataclasses import dataclass


class Intent(enum.Enum):
    """The intent of a text."""

    announcement = enum.auto()
    apology = enum.auto()
    confirm = enum.auto()
    congratulation = enum.auto()
    event = enum.auto()
    follow_up = enum.auto()
    generic = enum.auto()
    notice = enum.auto()
    offer = enum.auto()
    payment = enum.auto()
    question = enum.auto()
    reminder = enum.auto()
    request = enum.auto()
    review = enum.auto()
    suggestion = enum.auto()
    thanks = enum.auto()
    welcome = enum.auto()
    wish = enum.auto()


class Form(enum.Enum):
    """The form of the words that a pattern takes."""

    none = enum.auto()
    text = enum.auto()
    """Words that stand by themselves: a sentence, or what can follow a colon."""
    topic = enum.auto()
    """A noun with its article: "our new menu"."""
    action = enum.auto()
    """An action: "book online"."""
    statement = enum.auto()
    """A clause after "that": "we are closed"."""
    phrase = enum.auto()
    """A phrase with a preposition: "after your visit"."""


@dataclass(frozen=True, slots=True)
class Clause:
    """One thing to say. The words are the brief's own, but for the person who is addressed."""

    intent: Intent
    form: Form
    words: str = ""


I, F = Intent, Form  # noqa: E741

PATTERNS: dict[tuple[Intent, Form], tuple[str, ...]] = {
    (I.announcement, F.topic): (
        "we're excited to announce {text}.",
        "we're happy to announce {text}.",
        "we'd love to tell you about {text}.",
    ),
    (I.announcement, F.text): (
        "{Text}.",
        "a quick update: {text}.",
        "we have news: {text}.",
        "have you heard? {Text}.",
        "a quick update from us. {Text}.",
    ),
    (I.announcement, F.statement): (
        "just letting you know that {text}.",
        "we wanted you to know that {text}.",
        "a quick update: {text}.",
    ),
    (I.apology, F.none): ("we're sorry.", "we apologize.", "please accept our apologies."),
    (I.apology, F.phrase): ("we're sorry {text}.", "we apologize {text}.", "please accept our apologies {text}."),
    (I.apology, F.statement): (
        "we're sorry that {text}.",
        "we're very sorry that {text}.",
        "we regret that {text}.",
    ),
    (I.confirm, F.topic): ("just confirming {text}.", "this is to confirm {text}.", "we're happy to confirm {text}."),
    (I.confirm, F.statement): (
        "just confirming that {text}.",
        "this is to confirm that {text}.",
        "we're happy to confirm that {text}.",
    ),
    (I.confirm, F.text): ("this is to confirm: {text}.", "confirmed: {text}.", "you're all set: {text}."),
    (I.congratulation, F.none): ("congratulations!", "big congratulations!", "warm congratulations from all of us!"),
    (I.congratulation, F.phrase): (
        "congratulations {text}!",
        "big congratulations {text}!",
        "warm congratulations {text}!",
    ),
    (I.event, F.topic): ("you're invited to {text}.", "please join us for {text}.", "we'd love to see you at {text}."),
    (I.event, F.action): ("you're invited to {text}.", "we'd love for you to {text}.", "would you like to {text}?"),
    (I.event, F.text): ("you're invited: {text}.", "we'd love to see you: {text}.", "save the date: {text}."),
    (I.follow_up, F.none): (
        "just checking in. Do you have any questions for us?",
        "just following up. Is there anything you'd like to know?",
        "we wanted to check in with you. How can we help?",
    ),
    (I.follow_up, F.phrase): (
        "just following up {text}.",
        "we're checking in {text}.",
        "we wanted to follow up {text}.",
    ),
    (I.follow_up, F.statement): (
        "we're following up because {text}. How can we help?",
        "just checking in because {text}. Any questions for us?",
        "we wanted to get back to you, as {text}. How can we help?",
    ),
    (I.follow_up, F.text): ("just following up: {text}.", "we're checking in: {text}.", "a quick follow-up: {text}."),
    (I.generic, F.none): ("we're thinking of you.", "a quick hello from us!", "we have news for you."),
    (I.generic, F.text): (
        "{Text}.",
        "a quick note: {text}.",
        "just so you know: {text}.",
        "a quick note from us. {Text}.",
        "we thought you'd like to know. {Text}.",
    ),
    (I.generic, F.topic): (
        "a quick note about {text}.",
        "we'd like to tell you about {text}.",
        "just a few words about {text}.",
    ),
    (I.generic, F.action): ("please {text}.", "could you {text}?", "we'd like to ask you to {text}."),
    (I.generic, F.statement): (
        "just letting you know that {text}.",
        "we wanted you to know that {text}.",
        "just so you know: {text}.",
    ),
    (I.generic, F.phrase): ("{Text}.", "a quick note {text}.", "just a few words {text}."),
    (I.notice, F.topic): (
        "a quick heads-up about {text}.",
        "please take note of {text}.",
        "we wanted you to know about {text}.",
    ),
    (I.notice, F.text): ("please note: {text}.", "a quick heads-up: {text}.", "just so you know: {text}."),
    (I.notice, F.statement): (
        "please note that {text}.",
        "just letting you know that {text}.",
        "we wanted you to know that {text}.",
    ),
    (I.offer, F.topic): ("we're offering {text}.", "we have an offer for you: {text}.", "how about {text}?"),
    (I.offer, F.text): (
        "good news: {text}.",
        "{Text}. Don't miss it!",
        "we have something for you: {text}.",
        "{Text}. We'd love to see you!",
        "{Text}. We think you'll like it!",
    ),
    (I.offer, F.statement): ("good news: {text}.", "we wanted you to know that {text}.", "{Text}. Don't miss it!"),
    (I.payment, F.topic): (
        "a friendly reminder about {text}. Thank you!",
        "just a quick note about {text}. Thank you!",
        "we're writing about {text}. Thank you!",
    ),
    (I.payment, F.action): (
        "a friendly reminder to {text}. Thank you!",
        "please remember to {text}. Thank you!",
        "could you {text}? Thank you!",
    ),
    (I.payment, F.statement): (
        "a friendly reminder that {text}. Thank you!",
        "just a quick note that {text}. Thank you!",
        "please note that {text}. Thank you!",
    ),
    (I.payment, F.text): (
        "a friendly reminder: {text}. Thank you!",
        "just a quick note: {text}. Thank you!",
        "please note: {text}. Thank you!",
    ),
    (I.question, F.text): ("{Text}?", "a quick question: {text}?", "we'd like to ask: {text}?"),
    (I.reminder, F.topic): (
        "just a reminder about {text}.",
        "a friendly reminder about {text}.",
        "don't forget {text}.",
    ),
    (I.reminder, F.action): (
        "just a reminder to {text}.",
        "please remember to {text}.",
        "don't forget to {text}.",
    ),
    (I.reminder, F.statement): (
        "just a reminder that {text}.",
        "a friendly reminder that {text}.",
        "please remember that {text}.",
    ),
    (I.reminder, F.text): ("just a reminder: {text}.", "a friendly reminder: {text}.", "don't forget: {text}."),
    (I.request, F.action): ("could you {text}?", "would you please {text}?", "we'd like to ask you to {text}."),
    (I.request, F.phrase): ("may we ask {text}?", "could we ask {text}?", "we'd like to ask {text}."),
    (I.request, F.statement): (
        "please let us know {text}.",
        "could you let us know {text}?",
        "we'd love to know {text}.",
    ),
    (I.review, F.topic): (
        "could you leave us {text}? It would mean a lot to us.",
        "would you leave us {text}? We'd really appreciate it.",
        "we'd be so grateful for {text}. Thank you!",
    ),
    (I.review, F.action): (
        "could you {text}? It would mean a lot to us.",
        "would you please {text}? We'd really appreciate it.",
        "we'd be so grateful if you could {text}.",
    ),
    (I.review, F.text): (
        "we'd love to hear from you. {Text}.",
        "your opinion matters to us. {Text}.",
        "{Text}. It would mean a lot to us.",
    ),
    (I.suggestion, F.action): ("why not {text}?", "we'd love for you to {text}.", "{Text}."),
    (I.thanks, F.none): (
        "thank you! We really appreciate you.",
        "thank you so much from all of us!",
        "many thanks! It means a lot to us.",
    ),
    (I.thanks, F.phrase): ("thank you {text}!", "thank you so much {text}!", "many thanks {text}!"),
    (I.thanks, F.statement): (
        "thank you! We're so grateful that {text}.",
        "thank you so much! It means a lot to us that {text}.",
        "many thanks! We really appreciate that {text}.",
    ),
    (I.thanks, F.text): ("thank you! {Text}.", "thank you so much! {Text}.", "many thanks! {Text}."),
    (I.welcome, F.none): (
        "welcome! We're glad you're here.",
        "a warm welcome from all of us!",
        "welcome! It's great to have you with us.",
    ),
    (I.welcome, F.phrase): (
        "welcome {text}! We're glad you're here.",
        "a warm welcome {text}!",
        "welcome {text}! It's great to have you with us.",
    ),
    (I.welcome, F.text): (
        "welcome! {Text}.",
        "a warm welcome from all of us! {Text}.",
        "it's great to have you with us. {Text}.",
    ),
    (I.wish, F.topic): ("we wish you {text}!", "wishing you {text}!", "all of us wish you {text}!"),
    (I.wish, F.text): ("{Text} from all of us!", "we just wanted to say {text}!", "{Text}! Our very best to you."),
}


def patterns_for(intent: Intent, form: Form) -> tuple[str, ...]:
    """Return the patterns of an intent, the best first."""
    return PATTERNS.get((intent, form)) or PATTERNS[Intent.generic, form]
