"""Credits: prices, balances, the ledger."""
