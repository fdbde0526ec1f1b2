"""HTTP to addresses that users have chosen: fast, and closed to everything that is not public."""
