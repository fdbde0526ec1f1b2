"""Long jobs of accounts: their progress, the files that they read and write, and the worker that advances them."""
