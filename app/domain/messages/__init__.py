"""Messages: sending, receiving and receipts."""
