"""Writers of message copy."""
