"""The numbers of the sandbox network, and the outcome of a message to each."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from app.domain.carriers.carrier import FailureCode, ReceiptStatus

ALWAYS = 2**31 - 1

RETRYABLE = frozenset({FailureCode.rate_limited})
"""The refusals at hand-off that are retryable."""


@dataclass(frozen=True, slots=True)
class Report:
    """One receipt of a script."""

    status: ReceiptStatus
    code: FailureCode | None = None


SENT = Report(ReceiptStatus.sent)
DELIVERED = Report(ReceiptStatus.delivered)


@dataclass(frozen=True, slots=True)
class Script:
    """The behaviour of a number; `description` is its text in the docs.

    `refusal` answers the first `refused_calls` calls of a message. Without `received` a message does not reach the
    network, without `answered` the hand-off gets no answer, and without `found` the network does not answer look-ups.
    A message that `is_tried_again` has another id, and the same receipts, after each call.
    The first receipt is `wait` seconds later than usual, and `reply` is sent back after the last.
    """

    description: str
    reports: tuple[Report, ...] = (SENT, DELIVERED)
    refusal: FailureCode | None = None
    refused_calls: int = 0
    received: bool = True
    answered: bool = True
    found: bool = True
    wait: float = 0.0
    reply: str | None = None
    is_tried_again: bool = False

    def find_last(self, ahead: int) -> Report:
        """Return the last report of a message, without the `ahead` ones that are still to come; a final one stays."""
        reported = self.reports[: len(self.reports) - ahead]
        final = [each for each in reported if each.status in (ReceiptStatus.delivered, ReceiptStatus.failed)]
        return (*final[:1], *reversed(reported), Report(ReceiptStatus.pending))[0]


ORDINARY = Script("Accepted; receipts `sent`, then `delivered`.")


def _refused(code: FailureCode) -> Script:
    return Script(f"Refused at once: `{code}`.", refusal=code, refused_calls=ALWAYS)


def _failed(code: FailureCode) -> Script:
    reports = (SENT, Report(ReceiptStatus.failed, code))
    return Script(f"Accepted; receipts `sent`, then `failed`: `{code}`.", reports)


def _put_off(code: FailureCode, until: str) -> Script:
    description = (
        f"Accepted; receipts `sent`, then `failed`: `{code}`. Tried again {until}, and `failed` after 72 hours."
    )
    return replace(_failed(code), description=description, is_tried_again=True)


def _replies(text: str) -> Script:
    return Script(f'Delivered; then the recipient replies "{text}".', reply=text)


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
    "+15005550106": _put_off(FailureCode.daily_cap, "the next day"),
    "+15005550107": _failed(FailureCode.expired),
    "+15005550108": _put_off(FailureCode.quiet_hours_carrier, "when the window of the recipient opens"),
    "+15005550109": _failed(FailureCode.carrier_error),
    "+15005550201": Script("Delivered, but every receipt comes 5 seconds later than usual.", wait=5.0),
    "+15005550202": Script("Delivered, but the receipt `delivered` comes before `sent`.", (DELIVERED, SENT)),
    "+15005550203": Script("Delivered, and each receipt comes three times.", (SENT,) * 3 + (DELIVERED,) * 3),
    "+15005550204": Script(
        "Receipts `sent`, `delivered`, then `failed`: the first final one counts.",
        (SENT, DELIVERED, Report(ReceiptStatus.failed, FailureCode.carrier_error)),
    ),
    "+15005550205": Script("Accepted; no receipts.", ()),
    "+15005550206": Script("Receipts `sent`, then `unconfirmed`.", (SENT, Report(ReceiptStatus.unconfirmed))),
    "+15005550301": Script("Accepted and delivered, but the hand-off gets no answer.", answered=False),
    "+15005550302": Script("The hand-off does not reach the network, and gets no answer.", received=False),
    "+15005550303": Script(
        "Accepted, but neither the hand-off nor a look-up gets an answer, and there are no receipts.",
        (),
        answered=False,
        found=False,
    ),
    "+15005550401": _replies("STOP"),
    "+15005550402": _replies("START"),
    "+15005550403": _replies("HELP"),
    "+15005550404": _replies("YES"),
    "+15005550405": _replies("What time do you open tomorrow?"),
}

PAGE = """\
# The sandbox carrier

The sandbox simulates a network and sends nothing to phones. Every installation has one connection to it from the
beginning, `sandbox`; [more](carriers.md) may be added. It stores every message in the database and posts delivery
reports and replies as signed HTTP callbacks, as a real carrier does.

## Numbers with special outcomes

A message to any number is delivered, except to the numbers in this table:

| Number | Outcome |
|---|---|
%TABLE%

The first receipt is sent `MESSAGING_SANDBOX_DELAY_SECONDS` after the hand-off, each further one after the same time.

## Messages without an answer

Some hand-offs get no answer, as can happen with a real carrier: after `/sms/send` the message is `pending`, and
`send-sms` answers 504 `carrier_timeout` after 10 seconds, unless a receipt arrives earlier. `GET /sms/logs` shows the
outcome:

- `+15005550301`: the network has the message; a receipt or a look-up shows it: `sent`, then `delivered`.
- `+15005550302`: a look-up shows that the network does not have the message, and it is handed off again, without
  success. After an hour it is `failed` (`expired`) and refunded.
- `+15005550303`: look-ups get no answer. After an hour the message is `sent` and `unconfirmed`, and not refunded. A
  later `messaging sandbox status` still applies.

`MESSAGING_UNCONFIRMED_AFTER_SECONDS=20` changes the hour to 20 seconds.

## Reports by command

| Command | Effect |
|---|---|
| `messaging sandbox inbound FROM TO TEXT` | Sends a message from the number FROM to your number TO. |
| `messaging sandbox status MESSAGE_ID delivered` | Reports the message as delivered. |
| `messaging sandbox status MESSAGE_ID failed` | Reports the message as failed: `carrier_error`. |

Both post to the running service at `MESSAGING_BASE_URL`, for the connection to the sandbox that has the number TO, or
that sent the message.

## Callbacks

The sandbox posts JSON to `/carriers/sandbox/status` and to `/carriers/sandbox/inbound`, with the key of the connection
in place of the second word:

```json
{"id": "sbx_12", "reference": 12, "status": "failed", "code": "filtered", "at": "2026-11-21T09:30:00+00:00"}
{"id": "sbx_in_12", "from": "+15005550401", "to": "+15002000001", "text": "STOP", "at": "2026-11-21T09:30:01+00:00"}
```

`reference` is the id of the message in the service; `code` is null unless the status is `failed`. The header
`X-Sandbox-Signature: t=<unix seconds>,v1=<hex>` is the HMAC-SHA256 of `<t>.<body>`, valid for 300 seconds.

A callback without a 2xx response is retried after 2, 4, 8 seconds and so on, at most an hour apart, for 24 hours. It is
also retried after a crash of the sending process: a callback may arrive twice, and callbacks may arrive in any order.

## Tables of the network

`sandbox_messages` has a row for each message that was handed off; `calls` counts its hand-offs. `sandbox_callbacks`
has a row for each callback that is not delivered yet. The deletion of a contact deletes its rows in both.
"""


def script_for(number: str) -> Script:
    """Return the script of a number in E.164."""
    return MAGIC.get(number, ORDINARY)


def as_markdown() -> str:
    """Return the page `docs/sandbox.md`."""
    special = [(f"`{number}`", script.description) for number, script in MAGIC.items()]
    rows: Iterable[tuple[str, str]] = [("any other", ORDINARY.description), *special]
    return PAGE.replace("%TABLE%", "\n".join(f"| {number} | {text} |" for number, text in rows))
