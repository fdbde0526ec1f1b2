"""Errors of the embedded servers, each one sentence for the operator."""


class EmbeddedError(Exception):
    """The embedded servers cannot run; the text gives the reason and what to do."""


class DataInUse(EmbeddedError):
    """Another process uses this data folder."""


class NotBundled(EmbeddedError):
    """The installed wheels do not contain the server for this platform."""


class OtherMajorVersion(EmbeddedError):
    """The data was created by another major version of PostgreSQL."""


class ServerFailed(EmbeddedError):
    """A server ended, or did not answer in time."""
