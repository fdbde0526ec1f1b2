"""Changes of many contacts by jobs."""
