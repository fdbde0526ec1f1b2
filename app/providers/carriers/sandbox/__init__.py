"""The sandbox carrier: a simulated network in two tables, with documented numbers for each outcome."""
