"""Distinguishes replies that a person wrote from automatic ones."""

import re

from app.domain.consent import recognition

AUTOMATIC = re.compile(
    r"\b(?:auto(?:mat(?:ic|ed))?[ -]?(?:reply|response|responder)|this is an automated|automatically (?:generated|sent)"
    r"|out[ -]of[ -](?:the[ -])?office|on (?:annual|parental|maternity|sick) leave"
    r"|do not disturb while driving|driving (?:focus|mode)|focus turned on|notifications (?:silenced|turned off)"
    r"|(?:number|inbox|mailbox) is (?:not|un)[ -]?monitored|does not (?:accept|receive) (?:replies|texts))\b",
    re.IGNORECASE,
)
"""Phrases of automatic replies of phones and mailboxes, iOS and Android included."""


def is_reply(body: str) -> bool:
    """Return whether a person wrote a message: it is no tapback such as `Liked "..."`, and no automatic reply.

    A message with a question mark counts as written by a person, such as "is this an automated number?".
    """
    text = body.strip()
    return not recognition.is_reaction(text) and ("?" in text or not AUTOMATIC.search(text))
