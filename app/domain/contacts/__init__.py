"""People whom messages are sent to, and what they have consented to."""
