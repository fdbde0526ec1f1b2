"""Telnyx's error codes and their meaning: https://developers.telnyx.com/docs/messaging/messages/error-codes."""

from collections.abc import Mapping

from app.domain.carriers.carrier import FailureCode

_BY_FAILURE: Mapping[FailureCode, tuple[int, ...]] = {
    FailureCode.invalid_number: (10002, 10016, 40012, 40301, 40310, 40319),
    FailureCode.landline: (40001,),
    FailureCode.unreachable: (40006,),
    FailureCode.blocked: (40004,),
    FailureCode.filtered: (40002, 40003, 40007, 40015, 40315, 40322),
    FailureCode.opted_out: (40300,),
    FailureCode.unregistered_sender: (40010, 40150, 40306, 40329, 40330),
    FailureCode.rate_limited: (10011, 40011, 40318),
    FailureCode.expired: (40005, 40014),
    FailureCode.destination_not_allowed: (40309,),
    FailureCode.sender_invalid: (10001, 40013, 40100, 40151, 40305, 40308, 40320, 40321),
    FailureCode.message_rejected: (40009, 40302, 40304, 40316, 40317, 40328),
    FailureCode.account_problem: (
        10009, 10010, 20002, 20006, 20012, 20013, 20014, 20015, 20016, 20017, 20100, 40311, 40312, 40313, 40314, 40333,
    ),
    FailureCode.carrier_error: (10003, 10004, 10005, 10006, 10007, 10015, 40008),
}  # fmt: skip

CODES: Mapping[int, FailureCode] = {code: failure for failure, codes in _BY_FAILURE.items() for code in codes}
"""The meaning of each code to a sender. Without an entry, the HTTP status decides, or it is `carrier_error`."""

OF_NUMBER = frozenset({40011, 40318})
"""The codes that limit the rate of one number, and not of the account."""
