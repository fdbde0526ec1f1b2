"""Twilio's error codes and their meaning: https://www.twilio.com/docs/api/errors."""

from collections.abc import Mapping

from app.domain.carriers.carrier import FailureCode

_BY_FAILURE: Mapping[FailureCode, tuple[int, ...]] = {
    FailureCode.invalid_number: (21211, 21214, 21217, 21265, 21266, 21268, 21604, 21614, 21706, 30005),
    FailureCode.landline: (21635, 30006),
    FailureCode.unreachable: (30003,),
    FailureCode.blocked: (21612, 30004),
    FailureCode.filtered: (30007, 30038, 30039, 30450, 30453),
    FailureCode.opted_out: (21610,),
    FailureCode.unregistered_sender: (30018, 30024, 30032, 30033, 30034, 30035, 30040),
    FailureCode.rate_limited: (14107, 20429, 21611, 30001, 30022),
    FailureCode.daily_cap: (30023, 30027, 63038),
    FailureCode.expired: (30036,),
    FailureCode.destination_not_allowed: (21408, 21608),
    FailureCode.sender_invalid: (
        21212, 21267, 21601, 21603, 21606, 21659, 21660, 21661, 21701, 21703, 21704, 21705, 21712,
    ),
    FailureCode.message_rejected: (21602, 21605, 21617, 21618, 21619, 30010, 30019, 30044),
    FailureCode.quiet_hours_carrier: (30047, 30610),
    FailureCode.account_problem: (20003, 20005, 20006, 20008, 21609, 30002, 30037),
    FailureCode.carrier_error: (20001, 20404, 20500, 20503, 21730, 30008, 30017, 30410, 30500),
}  # fmt: skip

CODES: Mapping[int, FailureCode] = {code: failure for failure, codes in _BY_FAILURE.items() for code in codes}
"""The meaning of each code to a sender. Without an entry, the HTTP status decides, or it is `carrier_error`."""

OF_NUMBER = frozenset({14107, 21611})
"""The codes that limit the rate of one number, and not of the account."""

STILL_SENDING = 20009
"""The code of a message that cannot be deleted before its delivery has ended."""
