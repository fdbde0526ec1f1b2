"""The page `docs/carrier-errors.md`: the error codes of carriers, by their meaning."""

from collections import defaultdict
from collections.abc import Mapping

from app.domain.carriers.carrier import FailureCode
from app.domain.messages.failures import describe
from app.providers.carriers.telnyx import errors as telnyx
from app.providers.carriers.twilio import errors as twilio

PAGE = """\
# Error codes of carriers

A refused or failed message has an `error_code` of this service, with the same meaning for every carrier, and the
carrier's own code as `carrier_error`. A code that is not in these tables is `carrier_error`; without a code, a refusal
with the HTTP status 401, 402 or 403 is `account_problem`, and one with 429 `rate_limited`.

`rate_limited`, and `account_problem` with the status 401 (wrong credentials), are tried again for 24 hours when a
carrier answers them to a hand-off; every other refusal fails the message and refunds it.

%TABLES%"""


def as_markdown() -> str:
    """Return the page."""
    tables = (("Twilio", twilio.CODES), ("Telnyx", telnyx.CODES))
    return PAGE.replace("%TABLES%", "\n\n".join(_table(title, codes) for title, codes in tables) + "\n")


def _table(title: str, codes: Mapping[int, FailureCode]) -> str:
    by_failure: defaultdict[FailureCode, list[int]] = defaultdict(list)
    for code, failure in codes.items():
        by_failure[failure].append(code)
    rows = [
        f"| `{failure}` | {', '.join(map(str, sorted(by_failure[failure])))} | {describe(failure)} |"
        for failure in FailureCode
        if failure in by_failure
    ]
    head = f"## {title}\n\n| `error_code` | Codes of {title} | Meaning, and what to do |\n|---|---|---|"
    return "\n".join([head, *rows])
