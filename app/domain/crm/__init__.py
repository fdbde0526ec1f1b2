"""Two-way synchronization with the CRMs of accounts: contacts, texts and their statuses."""
