"""OAuth clients and the grants of users to them: the records that credentials of an account depend on."""
