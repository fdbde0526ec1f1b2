"""Sealing secrets that the service must be able to read again, such as those that sign webhooks."""

import secrets
from dataclasses import dataclass

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

NONCE_BYTES = 12


@dataclass(frozen=True, slots=True)
class Seal:
    """Encrypts with AES-256-GCM under one key of 32 bytes."""

    key: bytes

    def close(self, text: str) -> bytes:
        """Return a text sealed."""
        nonce = secrets.token_bytes(NONCE_BYTES)
        return nonce + AESGCM(self.key).encrypt(nonce, text.encode(), None)

    def open(self, sealed: bytes) -> str:
        """Return what was sealed; raise `cryptography.exceptions.InvalidTag` where the key is another."""
        return AESGCM(self.key).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], None).decode()
