"""Creation of accounts that can send at once."""
