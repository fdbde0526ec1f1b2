"""API keys as text: `svc_` or `auto_`, 32 random base-62 characters and a checksum of six."""

import enum
import hmac
import re
import secrets
import zlib
from dataclasses import dataclass
from functools import lru_cache

DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
RANDOM_LENGTH = 32
CHECKSUM_LENGTH = 6
PATTERN = re.compile(r"(?:svc|auto)_[0-9A-Za-z]{38}")


class KeyKind(enum.StrEnum):
    """The kind of a key; its text begins with it."""

    svc = enum.auto()
    auto = enum.auto()


@dataclass(frozen=True, slots=True)
class KeyText:
    """A complete key. It is shown to its creator once and never stored."""

    text: str

    @property
    def prefix(self) -> str:
        """Return the first eight characters, which identify the key for people."""
        return self.text[:8]

    @property
    def last_four(self) -> str:
        """Return the last four characters."""
        return self.text[-4:]


def make(kind: KeyKind) -> KeyText:
    """Return a new key of 190 random bits."""
    body = "".join(secrets.choice(DIGITS) for _ in range(RANDOM_LENGTH))
    return KeyText(f"{kind}_{body}{_checksum(f'{kind}_{body}')}")


def kind_of(text: str) -> KeyKind:
    """Return the kind of a key from its text or prefix."""
    return KeyKind(text.partition("_")[0])


def has_form(text: str) -> bool:
    """Return whether a text has the form and checksum of a key, so that typing errors need no look-up."""
    return PATTERN.fullmatch(text) is not None and hmac.compare_digest(
        _checksum(text[:-CHECKSUM_LENGTH]), text[-CHECKSUM_LENGTH:]
    )


def fingerprint(secret: bytes, text: str) -> bytes:
    """Return the stored form of a key: its HMAC-SHA256 under the server's secret."""
    mac = _begin(secret).copy()
    mac.update(text.encode())
    return mac.digest()


@lru_cache(maxsize=8)
def _begin(secret: bytes) -> hmac.HMAC:
    """Return a MAC that has read its key only: for texts as short as keys, that is most of the work."""
    return hmac.new(secret, digestmod="sha256")


def _checksum(text: str) -> str:
    number, digits = zlib.crc32(text.encode()), ""
    for _ in range(CHECKSUM_LENGTH):
        number, digit = divmod(number, len(DIGITS))
        digits = DIGITS[digit] + digits
    return digits
