"""Recipients whose texts a simulated carrier refuses, loses, delays or reports oddly."""

import enum
import re
from collections.abc import Mapping
from dataclasses import dataclass

OWN = re.compile(r"\+150055([1-4][0-9]{4})")
"""Numbers that end in an error code of the carrier."""

FIRST_CALLS = 2
"""How many calls of a message are limited before one is accepted."""


class Answer(enum.Enum):
    """The answer to a hand-off."""

    given = enum.auto()
    limited = enum.auto()
    internal_error = enum.auto()
    unavailable = enum.auto()
    cut = enum.auto()
    none = enum.auto()
    nonsense = enum.auto()


@dataclass(frozen=True, slots=True)
class Reply:
    """A text that the recipient writes after the last report; `times` counts the callbacks that bring it."""

    text: str
    keyword: str = ""
    media: tuple[str, ...] = ()
    times: int = 1


@dataclass(frozen=True, slots=True)
class Script:
    """The behaviour towards a number; `description` is its text for people.

    Without `accepted`, the first call of a message is not accepted; further ones are, unless there is a `code`.
    The first report is `wait` seconds later than usual, each is posted `times` times, and all are `early` when they
    precede the answer. `forged` reports come first: their signature is wrong.
    """

    description: str
    answer: Answer = Answer.given
    accepted: bool = True
    reports: tuple[str, ...] = ("sent", "delivered")
    code: int | None = None
    early: bool = False
    wait: float = 0.0
    times: int = 1
    forged: bool = False
    reply: Reply | None = None


ORDINARY = Script("Accepted; reported sent, then delivered.")

SCRIPTS: Mapping[str, Script] = {
    "+15005560001": Script("Answered 429 with Retry-After twice, then accepted.", Answer.limited),
    "+15005560002": Script("Answered 500; the first call is not accepted.", Answer.internal_error, accepted=False),
    "+15005560003": Script("Answered 500, but accepted and delivered.", Answer.internal_error),
    "+15005560004": Script("Not answered; the first call is not accepted.", Answer.none, accepted=False),
    "+15005560005": Script("Not answered, but accepted and delivered.", Answer.none),
    "+15005560006": Script("The answer is cut; the first call is not accepted.", Answer.cut, accepted=False),
    "+15005560007": Script("The answer is cut, but accepted and delivered.", Answer.cut),
    "+15005560008": Script("Each report is posted three times, equal to the byte.", times=3),
    "+15005560009": Script("Reported delivered, then sent.", reports=("delivered", "sent")),
    "+15005560010": Script("Reported before the hand-off is answered.", early=True),
    "+15005560011": Script("Reported two seconds late.", wait=2.0),
    "+15005560012": Script("A forged report says failed; then reported as usual.", forged=True),
    "+15005560013": Script("Accepted; never reported.", reports=()),
    "+15005560014": Script('The recipient replies "STOP", which the carrier acts on.', reply=Reply("STOP", "STOP")),
    "+15005560015": Script(
        "The recipient replies with a picture.", reply=Reply("Look", media=("https://media.example.com/1.jpg",))
    ),
    "+15005560016": Script('The recipient replies "Hello", in two equal callbacks.', reply=Reply("Hello", times=2)),
    "+15005560017": Script("Answered with nonsense, but accepted and delivered.", Answer.nonsense),
    "+15005560018": Script("Answered 503; the first call is not accepted.", Answer.unavailable, accepted=False),
    "+15005560019": Script("Not answered, accepted, and never reported.", Answer.none, reports=()),
}


def script_of(number: str, is_reported: bool) -> Script:
    """Return the script of a number; `is_reported` tells whether its error code is one of reports."""
    found = OWN.fullmatch(number)
    if found is None:
        return SCRIPTS.get(number, ORDINARY)
    code = int(found[1])
    if is_reported:
        return Script(f"Accepted; then failed: {code}.", reports=("sent", "failed"), code=code)
    return Script(f"Refused: {code}.", accepted=False, code=code)


def code_of(number: str) -> int:
    """Return the error code that a number ends in; 0 for other numbers."""
    found = OWN.fullmatch(number)
    return int(found[1]) if found else 0


def describe(example: str) -> str:
    """Return the numbers and what happens to texts to them."""
    lines = [f"  {number}  {script.description}" for number, script in SCRIPTS.items()]
    return "\n".join([f"  +150055 and an error code of five digits, such as {example}: that error.", *lines])
