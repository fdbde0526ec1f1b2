"""Telling what a person wrote from what their phone wrote for them."""

import re

from app.domain.consent import recognition

AUTOMATIC = re.compile(
    r"\b(?:auto(?:mat(?:ic|ed))?[ -]?(?:reply|response|responder)|this is an automated|automatically (?:generated|sent)"
    r"|out[ -]of[ -](?:the[ -])?office|on (?:annual|parental|maternity|sick) leave"
    r"|do not disturb while driving|driving (?:focus|mode)|focus turned on|notifications (?:silenced|turned off)"
    r"|(?:number|inbox|mailbox) is (?:not|un)[ -]?monitored|does not (?:accept|receive) (?:replies|texts))\b",
    re.IGNORECASE,
)
"""What phones and mailboxes answer by themselves; iOS and Android say so in these words."""


def is_reply(body: str) -> bool:
    """Tell whether a person wrote a text: it is no tapback such as `Liked "..."`, and no automatic answer.

    Who asks whether we are automatic is a person.
    """
    text = body.strip()
    return not recognition.is_reaction(text) and ("?" in text or not AUTOMATIC.search(text))
