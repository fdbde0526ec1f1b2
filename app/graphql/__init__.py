"""The GraphQL contract, and the one way to run an operation of it."""
