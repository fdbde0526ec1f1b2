"""The numbers of the sandbox network, and the outcome of a text to each."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from app.domain.messages.carrier import FailureCode, ReceiptStatus

ALWAYS = 2**31 - 1

RETRYABLE = frozenset({FailureCode.rate_limited})
"""The refusals at hand-off after which the same text may be handed over again."""


@dataclass(frozen=True, slots=True)
class Report:
    """One receipt of a script."""

    status: ReceiptStatus
    code: FailureCode | None = None


SENT = Report(ReceiptStatus.sent)
DELIVERED = Report(ReceiptStatus.delivered)


@dataclass(frozen=True, slots=True)
class Script:
    """The behaviour of a number; `says` describes it in the docs.

    `refusal` answers the first `refused_calls` calls of a message. A text that is not `heard` never
    reaches the network, one that is not `answered` leaves the caller waiting, and of one that is not
    `told` the network does not say whether it has it. The first receipt
    comes `wait` seconds later than usual, and `reply` is texted back after the last.
    """

    says: str
    reports: tuple[Report, ...] = (SENT, DELIVERED)
    refusal: FailureCode | None = None
    refused_calls: int = 0
    heard: bool = True
    answered: bool = True
    told: bool = True
    wait: float = 0.0
    reply: str | None = None


ORDINARY = Script("Accepted; receipts `sent`, then `delivered`.")


def _refused(code: FailureCode) -> Script:
    return Script(f"Refused at once: `{code}`.", refusal=code, refused_calls=ALWAYS)


def _failed(code: FailureCode) -> Script:
    reports = (SENT, Report(ReceiptStatus.failed, code))
    return Script(f"Accepted; receipts `sent`, then `failed`: `{code}`.", reports)


def _replies(text: str) -> Script:
    return Script(f'Delivered; then its owner texts back "{text}".', reply=text)


MAGIC: Mapping[str, Script] = {
    "+15005550001": _refused(FailureCode.invalid_number),
    "+15005550002": _refused(FailureCode.message_rejected),
    "+15005550003": _refused(FailureCode.destination_not_allowed),
    "+15005550004": _refused(FailureCode.opted_out),
    "+15005550005": _refused(FailureCode.account_problem),
    "+15005550006": _refused(FailureCode.sender_invalid),
    "+15005550007": Script(
        "Each message is refused twice: `rate_limited`, try again; the third call is accepted.",
        refusal=FailureCode.rate_limited,
        refused_calls=2,
    ),
    "+15005550101": _failed(FailureCode.landline),
    "+15005550102": _failed(FailureCode.unreachable),
    "+15005550103": _failed(FailureCode.blocked),
    "+15005550104": _failed(FailureCode.filtered),
    "+15005550105": _failed(FailureCode.unregistered_sender),
    "+15005550106": _failed(FailureCode.daily_cap),
    "+15005550107": _failed(FailureCode.expired),
    "+15005550108": _failed(FailureCode.quiet_hours_carrier),
    "+15005550109": _failed(FailureCode.carrier_error),
    "+15005550201": Script("Delivered, but every receipt comes 5 seconds later than usual.", wait=5.0),
    "+15005550202": Script("Delivered, but the receipt `delivered` comes before `sent`.", (DELIVERED, SENT)),
    "+15005550203": Script("Delivered, and each receipt comes three times.", (SENT,) * 3 + (DELIVERED,) * 3),
    "+15005550204": Script(
        "Receipts `sent`, `delivered`, then `failed`: the first final one counts.",
        (SENT, DELIVERED, Report(ReceiptStatus.failed, FailureCode.carrier_error)),
    ),
    "+15005550205": Script("Accepted; no receipt ever comes.", ()),
    "+15005550206": Script(
        "Receipts `sent`, then `unconfirmed`: the network does not know.", (SENT, Report(ReceiptStatus.unconfirmed))
    ),
    "+15005550301": Script("Accepted and delivered, but the answer to the hand-off never comes.", answered=False),
    "+15005550302": Script("The hand-off never reaches the network, and is never answered.", heard=False),
    "+15005550303": Script(
        "Accepted, but neither the hand-off nor a question about it is ever answered, and nothing is reported.",
        (),
        answered=False,
        told=False,
    ),
    "+15005550401": _replies("STOP"),
    "+15005550402": _replies("START"),
    "+15005550403": _replies("HELP"),
    "+15005550404": _replies("YES"),
    "+15005550405": _replies("What time do you open tomorrow?"),
}

PAGE = """\
# The sandbox carrier

The service starts with a carrier that reaches nobody: `MESSAGING_CARRIER=sandbox`. It takes every text, keeps it in
the database and reports on it over HTTP, signed, as a real carrier does: sent, delivered or failed, in any order, and
what people text back.

## Numbers that do something

A text to any number is delivered. The numbers of this table do something else, every time:

| Number | What happens |
|---|---|
%TABLE%

The first receipt comes `MESSAGING_SANDBOX_DELAY_SECONDS` after the hand-off, each further one as much later.

## Texts without an answer

The network leaves some hand-offs unanswered, as real carriers do on a bad day: `/sms/send` leaves the text `pending`,
and `send-sms` answers 504 `carrier_timeout` after 10 seconds, unless a report is quicker. `GET /sms/logs` tells what
becomes of the text:

- `+15005550301`: the network has the text, which its reports or a question tell: `sent`, then `delivered`.
- `+15005550302`: the network is asked, and does not have it, so that it is handed over again, in vain. After an hour it
  is `failed` (`expired`), and refunded.
- `+15005550303`: the network does not say. After an hour the text is `sent` and `unconfirmed`, and not refunded. What
  `messaging sandbox status` reports still counts.

`MESSAGING_UNCONFIRMED_AFTER_SECONDS=20` makes the hour 20 seconds.

## Reporting by hand

| Command | What it does |
|---|---|
| `messaging sandbox inbound FROM TO TEXT` | A person with the number FROM texts your number TO. |
| `messaging sandbox status MESSAGE_ID delivered` | The network reports the message delivered. |
| `messaging sandbox status MESSAGE_ID failed` | The network reports the message failed: `carrier_error`. |

Both post to the running service at `MESSAGING_BASE_URL`.

## Callbacks

The sandbox posts JSON to `/carriers/sandbox/status` and to `/carriers/sandbox/inbound`:

```json
{"id": "sbx_12", "reference": 12, "status": "failed", "code": "filtered", "at": "2026-11-21T09:30:00+00:00"}
{"id": "sbx_in_12", "from": "+15005550401", "to": "+15002000001", "text": "STOP", "at": "2026-11-21T09:30:01+00:00"}
```

`reference` is the id of the message in the service; `code` is null unless the status is `failed`. The header
`X-Sandbox-Signature: t=<unix seconds>,v1=<hex>` carries the HMAC-SHA256 of `<t>.<body>`, and is good for 300 seconds.

A callback that is not answered with 2xx is sent again after 2, 4, 8 seconds and so on, at most an hour apart, for 24
hours. One that was in the hands of a process that died is sent again too: the same callback may come twice, and
callbacks may come in another order.

## Looking at the network

Two tables hold it: `sandbox_messages`, a row a text, whose `calls` says how often it was handed over, and
`sandbox_callbacks`, a row a report that is yet to be delivered. Both forget what was texted to a contact when that is
deleted.
"""


def script_for(number: str) -> Script:
    """Return what happens to texts to a number in E.164."""
    return MAGIC.get(number, ORDINARY)


def as_markdown() -> str:
    """Return the page `docs/sandbox.md`."""
    rows: Iterable[tuple[str, str]] = [("any other", ORDINARY.says), *((f"`{n}`", s.says) for n, s in MAGIC.items())]
    return PAGE.replace("%TABLE%", "\n".join(f"| {number} | {says} |" for number, says in rows))
