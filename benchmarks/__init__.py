"""Benchmarks of the service, each compared with a baseline measured in the same run on the same databases."""
