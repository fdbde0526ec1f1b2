"""AI agents: their knowledge, the gates outside the model, and runs that explain each decision."""
