"""Errors of settings; each text is one or two sentences for the operator."""


class UnknownSetting(Exception):
    """An unknown `MESSAGING_*` name, which would otherwise be ignored silently."""


class InvalidSetting(Exception):
    """A setting has an invalid value."""


class UnsafeStart(Exception):
    """The settings do not fit the environment, development or production."""


class MissingSecretKey(UnsafeStart):
    """A service in production has no secret key."""


class InvalidKeyFile(Exception):
    """The file with the secret key of development is invalid or cannot be read."""
