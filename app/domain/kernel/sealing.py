"""Encryption of webhook secrets, handles and cursors."""

import base64
import binascii
import secrets
from dataclasses import dataclass, field

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, AESSIV

NONCE_BYTES = 12


@dataclass(frozen=True, slots=True)
class Seal:
    """Encrypts with AES-256-GCM under one key of 32 bytes."""

    key: bytes = field(repr=False)

    def close(self, text: str) -> bytes:
        """Return a text encrypted."""
        nonce = secrets.token_bytes(NONCE_BYTES)
        return nonce + AESGCM(self.key).encrypt(nonce, text.encode(), None)

    def open(self, sealed: bytes) -> str:
        """Return the decrypted text; raise `cryptography.exceptions.InvalidTag` for a wrong key or altered data."""
        return AESGCM(self.key).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], None).decode()


@dataclass(frozen=True, slots=True)
class CursorSeal:
    """Encrypts places in lists to cursors, with AES-SIV under a key of 32 bytes.

    A place may contain a name or an address, and cursors appear in URLs and logs. Equal places of one list have equal
    cursors.
    """

    key: bytes = field(repr=False)

    def close(self, place: str, account_id: int, name: str) -> str:
        """Return the cursor of a place in an account's list."""
        return base64.urlsafe_b64encode(AESSIV(self.key).encrypt(place.encode(), _context(account_id, name))).decode()

    def open(self, cursor: str, account_id: int, name: str) -> str | None:
        """Return the place; None for a text that is not a cursor of that list."""
        try:
            sealed = base64.b64decode(cursor, b"-_", validate=True)
            return AESSIV(self.key).decrypt(sealed, _context(account_id, name)).decode()
        except (binascii.Error, ValueError, InvalidTag):
            return None


def _context(account_id: int, name: str) -> list[bytes]:
    return [f"{account_id} {name}".encode()]
