"""Accept texts for sending, and reschedule or cancel those that wait."""
