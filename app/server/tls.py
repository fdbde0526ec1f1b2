"""Checks of the TLS certificate and key of the web process."""

from pathlib import Path

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import load_pem_private_key


class InvalidCertificate(Exception):
    """The given certificate and key cannot be used for HTTPS."""


def check(certificate: Path | None, key: Path | None) -> None:
    """Raise `InvalidCertificate` unless both files are given, readable and belong together, or neither is given."""
    if certificate is None and key is None:
        return
    if certificate is None or key is None:
        missing, given = ("--tls-cert", "--tls-key") if certificate is None else ("--tls-key", "--tls-cert")
        raise InvalidCertificate(f"{given} was given without {missing}. HTTPS needs both: a certificate and its key.")
    if _read_certificate(certificate) != _read_key(key):
        raise InvalidCertificate(f"The key {key} does not belong to the certificate {certificate}.")


def _read_certificate(path: Path) -> object:
    """Return the public key of the first certificate of a file."""
    try:
        return x509.load_pem_x509_certificates(_read(path))[0].public_key()
    except (ValueError, UnsupportedAlgorithm):
        raise InvalidCertificate(f"{path} holds no certificate in PEM format.") from None


def _read_key(path: Path) -> object:
    """Return the public key of the private key in a file."""
    try:
        return load_pem_private_key(_read(path), None).public_key()
    except TypeError:
        raise InvalidCertificate(f"The key {path} is protected by a password. Give one without.") from None
    except (ValueError, UnsupportedAlgorithm):
        raise InvalidCertificate(f"{path} holds no private key in PEM format.") from None


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as problem:
        raise InvalidCertificate(f"{path} cannot be read: {problem.strerror}.") from None
